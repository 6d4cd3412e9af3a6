# SPDX-License-Identifier: GPL-2.0
"""Programs that run inside a guest, and its root file system."""
