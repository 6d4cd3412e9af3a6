# SPDX-License-Identifier: GPL-2.0
"""Scripted exchanges of segments with the guest's stack; scripts.md has the language."""
