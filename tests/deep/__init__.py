# SPDX-License-Identifier: GPL-2.0
"""Tests that take an hour or two: ``make check-deep``."""
