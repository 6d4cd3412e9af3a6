# SPDX-License-Identifier: GPL-2.0
"""Kernels that guests boot and modules are built against: found, fetched, unpacked, built."""
