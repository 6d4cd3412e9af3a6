# SPDX-License-Identifier: GPL-2.0
"""The protocol machines of sscop in user space, and two peers with a bad channel between them.

core.py makes Python objects of the module's files and of the world of tests/fuzz. Expected octets
are worked out by hand from the paper and Q.2110.
"""
