# SPDX-License-Identifier: GPL-2.0
"""The papers' figures: which runs each needs, what the paper claims of it, how it is drawn.

``star.py`` and its like are data; ``judges.py`` decides claims from records; ``series.py`` reads
what runs did over time; ``draw.py`` draws; ``report.py`` writes the table; ``plan.py`` turns
figures into runs of the lab. Only ``plan.py``, ``series.py`` and ``draw.py`` need more than Python
itself.
"""

from __future__ import annotations
