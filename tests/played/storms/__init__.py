# SPDX-License-Identifier: GPL-2.0
"""Storms on an emulated path in a guest, for every algorithm."""
