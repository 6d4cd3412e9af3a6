# SPDX-License-Identifier: GPL-2.0
"""Tests that run in guests: of engines, of modules, and of the lab's scenarios on a real kernel.

In go modules and scripts, which `runs.py` and `machines.py` put into guests; out come their logs
and records, which a test compares with calculated values, a paper's or a measured margin.

Not to be touched: guests of several tests are shared, so that no test may depend on another one's.
"""
