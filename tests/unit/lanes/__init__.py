# SPDX-License-Identifier: GPL-2.0
"""What tests/lanes do: order, parts of check-deep, going on where it stopped, times.

inner.py runs pytest on small folders of its own.
"""
