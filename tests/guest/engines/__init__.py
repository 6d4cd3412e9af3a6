# SPDX-License-Identifier: GPL-2.0
"""Engines on real kernels: equal bytes, bounds, clean-up, faults that the log must tell.

user_machine.py is a guest set up as a user's machine, in which test_host.py runs engine host: no
test touches the network or the kernel of the machine that it runs on.
"""
