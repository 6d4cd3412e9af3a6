# SPDX-License-Identifier: GPL-2.0
"""Results: records as text, tables and figures."""
