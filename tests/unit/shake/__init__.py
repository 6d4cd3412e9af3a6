# SPDX-License-Identifier: GPL-2.0
"""Tests of shake's parts in user space."""
