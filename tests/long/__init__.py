# SPDX-License-Identifier: GPL-2.0
"""Days of virtual time: what drifts or leaks from hour to hour is found."""
