# SPDX-License-Identifier: GPL-2.0
"""Days of virtual time: what drifts or leaks from hour to hour is found.

``python3 -m tests.long radio|shake|tcp``; run.py says what is sampled every hour, and what must not
change. tests/guest/modules/test_long_runs.py has short ones. Out: a table, and raw results in
build/runs.
"""
