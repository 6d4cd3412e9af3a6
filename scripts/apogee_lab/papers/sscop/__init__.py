# SPDX-License-Identifier: GPL-2.0
"""The paper on SSCOP below TCP over a radio, and SSCOP beside today's algorithms (today.py).

cells.py says which runs there are, figures.py what is drawn of them, claims.py what the paper says
and what decides it, theory.py what the paper computes. A claim's range is the paper's; it is not
moved to fit a result.
"""
