# SPDX-License-Identifier: GPL-2.0
"""The folder of raw results that one run leaves behind -> one record."""
