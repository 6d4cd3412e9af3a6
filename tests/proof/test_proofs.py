# SPDX-License-Identifier: GPL-2.0
"""Pure code has no overflow and stays within its limits for all inputs: tests/proof."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.kernel import ROOT, pure
from tests.proof import (
    FOLDER,
    claims,
    contracts,
    copied,
    unproven_contracts,
    unproven_interval,
)

prover = pytest.mark.skipif(
    not shutil.which("frama-c"), reason="frama-c is not installed: scripts/setup deep, Debian 12"
)
#: Header, what is replaced in it, by what, and the proof that has to see it.
PLANTED = [
    ("int.h", "return dividend / divisor;", "return dividend / (divisor & ~1U);", "prove_abe_rate"),
    ("star.h", "more <= room && ", "", "star_increase"),
    ("abe.h", "min_t(u64, bytes, U64_MAX / APOGEE_USEC_PER_SEC)", "bytes", "prove_abe_rate"),
    ("hstcp.h", "SIZE(hstcp_rfc3649) - 1", "SIZE(hstcp_rfc3649)", "prove_hstcp_rfc3649"),
    ("judge.h", "if (rtt_us <= base_us)", "if (rtt_us < base_us / 2)", "judge_share"),
    ("star.h", "share = min_t(u32, share, cwnd);", "", "star_yield"),
    ("star.h", "w->cwnd_abe, w->cwnd_reno - 1);", "w->cwnd_abe, w->cwnd_reno);", "star_release"),
    ("star.h", "step = min_t(u32, step, ABE_WINDOW_MAX - w->cwnd_reno);", "", "star_lwc"),
    ("star.h", "cwnd <= w->cwnd_abe && !published", "false", "star_respond"),
    ("star.h", "if (a->sack_hole)", "if (a->sack_hole && a->has_sack)", "star_aen_verdict"),
    ("star.h", "cwnd >> shift, 2)", "cwnd >> shift, 0)", "star_yield_growth"),
    ("rtt_trend.h", "(fls64(syy) - 31) & ~1", "(fls64(syy) - 33) & ~1", "wrap_trend_r2"),
    ("rtt_trend.h", "shift), 1));", "shift), 0));", "rtt_trend_change_us"),
    ("shake_path.h", "if (!whole)", "if (false)", "wrap_path_find"),
    ("sscop_segment.h", "limit = max_t(u32, limit, 1);", "", "wrap_segment_choose"),
    ("abe.h", "a->started && !a->samples &&", "a->started &&", "abe_sent_slowly"),
    ("judge_back.h", "JUDGE_AGE_SHIFT, most_us);", "JUDGE_AGE_SHIFT, ~0U);", "judge_way_back"),
    ("judge.h", "j->learns = j->empty && ", "j->learns = ", "judge_use"),
    ("judge.h", "	j->base_us = min(j->base_us, rtt_us);\n", "", "judge_rtt"),
    ("hstcp_gentle.h", "++*agreed < rules", "++*agreed <= rules", "gentle_next_mode"),
    ("compound.h", "u8 left = base->rounds - 1;", "u8 left = base->rounds;", "compound_dip_left"),
    ("compound.h", "sent(&then) < compound_sent(windows)", "sent(windows)", "compound_loss_once"),
    ("compound.h", "rtt_us / 4 : rtt_us;", "rtt_us / 2 : rtt_us;", "compound_dip_due"),
    ("idle.h", "max(halved, min(restart, cwnd))", "max(halved, restart)", "idle_cwnd"),
    ("rtt_trend.h", "t > RTT_TREND_UNITS_MAX", "t > RTT_TREND_UNITS_MAX + 1", "rtt_trend_time"),
    ("shake_path.h", "(u64)clamp_t(s64, wait, 0, SHAKE_TIME_MAX)", "(u64)wait", "wrap_path_sent"),
    ("shake_sched.h", "count = min(count, SHAKE_CHOICES_MAX);", "", "wrap_sched_pick"),
    ("shake_replay.h", "return first % 64 ?", "return counter ?", "wrap_replay_behind"),
    (
        "shake_holes.h",
        "for (at = 0; at < h->count; at++)\n\t\tif (shake_hole_is_open",
        "for (at = 0; at <= h->count; at++)\n\t\tif (shake_hole_is_open",
        "shake_holes_lowest",
    ),
    ("shake_holes.h", "min_t(u32, depth, SHAKE_HOLES_DEPTH)", "depth", "shake_holes_learn_depth"),
    ("shake_repair.h", "> SHAKE_REPAIR_SEEN)", "> SHAKE_REPAIR_SEEN + 1)", "wrap_repair_judge"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The provers' HOME."""
    return tmp_path_factory.mktemp("proof")


def unproven(name: str, folder: Path, tree: Path = ROOT) -> list[str]:
    """What is not proven of a claim or of a function's contract."""
    if name in claims():
        return unproven_interval(name, folder, tree)
    return unproven_contracts([name], folder, tree)


@prover
@pytest.mark.deep
@pytest.mark.parametrize("name", [*claims(), *contracts()])
def test_proof(name: str, folder: Path) -> None:
    assert unproven(name, folder) == []


@prover
@pytest.mark.deep
@pytest.mark.parametrize(("header", "old", "new", "proof"), PLANTED)
def test_a_planted_bug_is_seen(
    header: str, old: str, new: str, proof: str, tmp_path: Path, folder: Path
) -> None:
    copy = copied(ROOT, tmp_path / "copy")
    text = copy[header].read_text(encoding="utf-8")
    assert text.count(old) >= 1
    copy[header].write_text(text.replace(old, new), encoding="utf-8")
    assert unproven(proof, folder, tmp_path / "copy")


def test_counts_of_proofs(root: Path) -> None:
    """What the pages say is what there is."""
    count = len(claims()) + len(contracts())
    pages = [FOLDER / "README.md", root / "docs" / "reliability.md"]
    for page in pages:
        assert re.findall(r"(\d+) proofs", page.read_text(encoding="utf-8")) == [str(count)]


def test_each_contract_is_of_a_function_that_exists(root: Path) -> None:
    headers = "".join(path.read_text(encoding="utf-8") for path in pure(root))
    for name in contracts():
        assert name == "lemmas" or re.search(rf"\b{name}\([^;]*\)\n{{", headers), name
