# SPDX-License-Identifier: GPL-2.0
"""Receivers that lie, on an emulated path in a guest.

The C files are the receiver, attacks.py its lies in words. bounds.py is what none may get from any
algorithm. book.py and table.py keep the records that docs/hostile.md shows; scenario liar of the
lab plays the same lies.
"""
