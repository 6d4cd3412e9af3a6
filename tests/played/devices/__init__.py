# SPDX-License-Identifier: GPL-2.0
"""Storms over the two devices, sscop and shake.

storms.py has the storms, in words and as shell lines; play.py runs them in a guest of engine uml.
bounds.py holds in every storm, on any machine, with any seed. book.py and table.py keep the records
that docs/storms-devices.md shows: another result is recorded anew, not edited.
"""
