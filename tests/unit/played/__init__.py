# SPDX-License-Identifier: GPL-2.0
"""What tests/played compares and records: the pages have their records' tables, and planted results
beyond a bound are found.

In: the committed records, and files of runs made up here. Nothing is played.
"""
