# SPDX-License-Identifier: GPL-2.0
"""Records -> words, tables and pictures."""
