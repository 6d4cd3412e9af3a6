# SPDX-License-Identifier: GPL-2.0
"""This machine: what it lacks, its settings."""
