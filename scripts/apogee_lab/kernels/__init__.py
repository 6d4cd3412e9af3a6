# SPDX-License-Identifier: GPL-2.0
"""Kernels that guests boot and modules are built against: find, fetch, unpack, build.

In: the name of a suite or a release, packages of the machine's own mirrors by apt.py. Out: a Kernel
(kernel.py) with its files below the cache. Debian's kernels come as they are, those of uml and of
debugging are built by stages.py with the ``.config`` files here. The machine's apt, its packages
and its kernel are never changed. A folder of the cache counts as whole only with its mark.
"""
