# SPDX-License-Identifier: GPL-2.0
"""The papers' figures: which runs each needs, what the paper claims, how it is drawn.

A folder per paper has its ``figures.py`` (data), ``claims.py`` and ``draw.py``. ``claims.py`` here
decides claims from records, ``series.py`` reads what runs did over time, ``report.py`` writes the
table, ``schedule.py`` turns figures into runs of the lab. Only ``schedule.py``, ``series.py``,
``gentle/model.py`` and what draws need more than Python's standard library.
"""

from __future__ import annotations
