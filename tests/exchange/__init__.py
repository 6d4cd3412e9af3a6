# SPDX-License-Identifier: GPL-2.0
"""Scripted exchanges of segments with the guest's stack; README.md has the language."""
