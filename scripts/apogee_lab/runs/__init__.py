# SPDX-License-Identifier: GPL-2.0
"""What is asked for -> runs, side by side, each kept."""
