# SPDX-License-Identifier: GPL-2.0
"""The verbs of scripts/lab, and what the Makefile calls."""
