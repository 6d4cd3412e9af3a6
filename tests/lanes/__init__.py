# SPDX-License-Identifier: GPL-2.0
"""What runs when, in which order, what it took, and what of it is kept.

Plugins of pytest, loaded by tests/conftest.py, and ``make check-deep`` (deep.py). In: marks and
longest.json, which order.py writes from the last run's times. Out: the order of tests, build/tests,
and the records of whole deep runs. They never decide whether a test passes.
"""
