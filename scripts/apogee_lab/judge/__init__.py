# SPDX-License-Identifier: GPL-2.0
"""A report card of congestion controls by RFC 9743 (BCP 133): criteria as data, what runs show of
them, the card as a page, as Markdown and as JSON.

In: ``criteria``, a file for each section of the RFC; board.toml and grounds.toml. Out: the runs
that these ask for (runs.py, played.py), answers (verdict.py) and a card (card.py), drawn by page.py
and text.py. A card from a file is no card before shape.py says so: no word of it reaches a page or
a terminal otherwise. A threshold belongs to its criterion, never to code.
"""
