# SPDX-License-Identifier: GPL-2.0
"""Calls of include/apogee that unit tests make, kept and asked again elsewhere: in a kernel by the
module answers (tests/modules), in BPF programs, whose answers have to be the same.

calls.py lists functions and arguments, and writes the C on either side; recorder.py keeps what unit
tests ask. A function that is added to a header is added to calls.py.
"""
