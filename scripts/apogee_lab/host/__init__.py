# SPDX-License-Identifier: GPL-2.0
"""This machine: missing packages, network settings."""
