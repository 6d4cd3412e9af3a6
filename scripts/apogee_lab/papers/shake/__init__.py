# SPDX-License-Identifier: GPL-2.0
"""The paper on TCP over SHAKE's paths, and what it leaves out (ours.py).

cells.py says which runs there are, charts.py and figures.py what is drawn of them, claims.py what
the paper says and what decides it. A claim's range is the paper's; it is not moved to fit a result.
"""
