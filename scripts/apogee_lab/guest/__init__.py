# SPDX-License-Identifier: GPL-2.0
"""What runs inside a guest, and its root file system."""
