# SPDX-License-Identifier: GPL-2.0
"""Measures: from a run's raw results to its record."""
