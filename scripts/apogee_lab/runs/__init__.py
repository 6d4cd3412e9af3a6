# SPDX-License-Identifier: GPL-2.0
"""Runs: from the request on the command line to parallel runs, each kept."""
