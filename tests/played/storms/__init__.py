# SPDX-License-Identifier: GPL-2.0
"""Storms on an emulated path in a guest, for every algorithm.

storms.py has the storms, storm.sh their shell, backoff.c what a sender does without feedback.
bounds.py holds in every storm, with any seed. book.py and table.py keep the records that
docs/storms.md shows: another result is recorded anew, not edited.
"""
