# SPDX-License-Identifier: GPL-2.0
"""The paper on Compound TCP+."""
