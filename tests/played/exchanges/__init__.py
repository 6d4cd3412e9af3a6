# SPDX-License-Identifier: GPL-2.0
"""Scripted exchanges of segments with the guest's stack; scripts.md has the language.

In: ``scripts/`` for engine uml, and ``stock/`` for a stock kernel of engine qemu. The C files are
the player. Out: a log per algorithm, compared with reno's: differences.txt has each difference with
its reason, and one without a reason fails. What a script says of reno is the stack's, never ours.
"""
