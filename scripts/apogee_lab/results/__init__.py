# SPDX-License-Identifier: GPL-2.0
"""Results: records as text, tables and figures.

In: records, and for figures over time the raw results of finished runs. Out: text, Markdown, SVG
and PNG. statistics.py has all means and intervals. The same records give the same bytes: committed
tables and pictures are compared with what is made anew.
"""
