# SPDX-License-Identifier: GPL-2.0
"""What runs when, in which order, what it took, and what of it is kept."""
