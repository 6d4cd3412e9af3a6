# SPDX-License-Identifier: GPL-2.0
"""Receivers that lie, on an emulated path in a guest."""
