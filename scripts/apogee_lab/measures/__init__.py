# SPDX-License-Identifier: GPL-2.0
"""Measures: from a run's raw results to its record.

In: a folder of raw results (raw.py reads each file once) and the plan's facts. Out: a record, whose
keys are declared in record.py and beside each scenario's own Measure; compute.py takes them in
order. A key has a unit and a meaning, and keeps both: tables, figures and users read records of
earlier days. Nothing here knows an engine, and equal raw results give equal records.
"""
