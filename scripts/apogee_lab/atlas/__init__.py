# SPDX-License-Identifier: GPL-2.0
"""The atlas: algorithms on random paths of a space, and what the bad paths share."""
