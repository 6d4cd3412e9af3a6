# SPDX-License-Identifier: GPL-2.0
"""The paper on SSCOP below TCP over a radio."""
