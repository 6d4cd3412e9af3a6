# SPDX-License-Identifier: GPL-2.0
"""Tests of sscop's protocol machines in user space."""
