# SPDX-License-Identifier: GPL-2.0
"""Kernels that guests boot and modules are built against: find, fetch, unpack, build."""
