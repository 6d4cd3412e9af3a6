# SPDX-License-Identifier: GPL-2.0
"""Contents of a guest's overlays."""

from __future__ import annotations

import pytest

from apogee_lab.guest.image import EXTRAS, extra_image


@pytest.mark.parametrize("name", EXTRAS)
def test_threads_can_be_cancelled_in_an_overlay(name: str) -> None:
    """libc aborts a program that cancels a thread where it finds no libgcc_s (iperf3 3.16 does)."""
    assert b"lib/libgcc_s.so.1\0" in extra_image(name).read_bytes()
