# SPDX-License-Identifier: GPL-2.0
"""The Apogee lab: scenarios, engines, measures, tables and figures behind ``scripts/lab``."""
