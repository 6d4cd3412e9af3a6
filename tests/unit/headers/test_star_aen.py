# SPDX-License-Identifier: GPL-2.0
"""AEN (fig. 3): the verdict's whole truth table."""

from __future__ import annotations

import itertools

from tests.unit.headers.cheaders import Library

FIELDS = (
    "una_after_mark",
    "covers_probe",
    "sack_hole",
    "has_sack",
    "dsack",
    "has_tstamp",
    "echo_original",
)
WAIT, SPURIOUS, LOSS = "STAR_AEN_WAIT", "STAR_AEN_SPURIOUS", "STAR_AEN_LOSS"


def expected(e: dict[str, bool]) -> str:
    """The decisions of the description, first one that applies.

    1. A hole in the SACK blocks: data was lost.
    2. Nothing new is acknowledged: no answer yet.
    3. The echo tells that an original is answered, not the retransmission: what it
       covers had arrived; P_seq covered, it was all of it. Else the answer to the
       retransmission is still to come.
    4. The answer stops short of P_seq: data was lost.
    5. P_seq is covered. With SACK a D-SACK must say that the copy was not needed.
    6. Without SACK, but with timestamps, the echo would have been the original's
       if that had been answered: data was lost.
    7. Neither: P_seq <= ACK_seq alone decides, as in the paper.
    """
    old_echo = e["has_tstamp"] and e["echo_original"]
    decisions = (
        (e["sack_hole"], LOSS),
        (not e["una_after_mark"], WAIT),
        (old_echo and e["covers_probe"], SPURIOUS),
        (old_echo, WAIT),
        (not e["covers_probe"], LOSS),
        (e["has_sack"] and e["dsack"], SPURIOUS),
        (e["has_sack"], LOSS),
        (e["has_tstamp"], LOSS),
        (True, SPURIOUS),
    )
    return next(answer for applies, answer in decisions if applies)


def test_truth_table(apogee: Library) -> None:
    """All 128 combinations."""
    for bits in itertools.product((False, True), repeat=len(FIELDS)):
        evidence = dict(zip(FIELDS, bits, strict=True))
        number = apogee.star_aen_verdict(apogee.new("star_aen_evidence", **evidence))
        assert number == getattr(apogee, expected(evidence)), evidence
