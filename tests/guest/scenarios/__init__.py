# SPDX-License-Identifier: GPL-2.0
"""Scenarios from end to end: what a guest measures of rate, delay, loss and queue, compared with
what was asked for.

A scenario's test runs it once or twice, short, and computes the same independently. Bounds hold for
any seed (APOGEE_SEED_SHIFT) and any machine.
"""
