# SPDX-License-Identifier: GPL-2.0
"""Storms over the two devices, sscop and shake."""
