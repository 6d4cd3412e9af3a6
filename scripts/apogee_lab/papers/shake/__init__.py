# SPDX-License-Identifier: GPL-2.0
"""The paper on TCP over SHAKE's paths."""
