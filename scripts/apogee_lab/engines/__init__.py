# SPDX-License-Identifier: GPL-2.0
"""Engines run a guest script somewhere and bring back a folder of raw results."""

from __future__ import annotations
