# SPDX-License-Identifier: GPL-2.0
"""Figures and claims of the papers, without runs: what is asked for, how a claim is decided, what
the committed results say.

Results' pages are compared with their records: who records anew runs scripts/result_tables.py.
"""
