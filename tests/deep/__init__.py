# SPDX-License-Identifier: GPL-2.0
"""Tests beyond those of ``make check``: ``make check-deep``."""
