# SPDX-License-Identifier: GPL-2.0
"""Calls of include/apogee that unit tests make, kept and asked again elsewhere: in a kernel by the
module answers (tests/modules), in BPF programs, whose answers have to be the same.
"""
