# SPDX-License-Identifier: GPL-2.0
"""Faults that the tests must see: planted one by one into a copy of the tree."""
