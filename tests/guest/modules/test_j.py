# SPDX-License-Identifier: GPL-2.0
"""tcp_j, the baseline, in the guest: CWS's window, no AEN, its state in ss and a tracepoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.socket_life import live, samples
from tests.guest.modules.test_star_scenarios import (
    LOSE_A_FEW,
    assert_ss_is_plausible,
    assert_trace_agrees,
    entered,
)
from tests.guest.runs import Case, Run, runs_of

pytestmark = pytest.mark.guest

INITIAL_WINDOW = 10  # segments
RECOVERY = 3  # TCP_CA_Recovery, as j_ack prints it

NO_UNDO = {"tcp_frto": 0, "tcp_early_retrans": 0, "tcp_timestamps": 0, "tcp_dsack": 0}
CASES = {
    # The queue never overflows: the losses are those of the script, in slow start and after it.
    "loss": Case(
        {"trace": "module", "queue": 16_000_000},
        cc="j",
        duration_s=8,
        beside="(sleep 5; ip netns exec snd ss -tin 'dport = :5201' >$OUT/ss) &\n"
        + (LOSE_A_FEW + LOSE_A_FEW.split("clsact\n")[1]).format(after_s=3.5)
        + "wait\n",
    ),
    # The receive window keeps the path from filling: no loss by the end of slow start.
    "timeout": Case(
        {"rate": 2_000_000, "window": 100_000, "ack_blackout": (3.0, 1.0), **NO_UNDO},
        cc="j",
        duration_s=6,
    ),
}


runs = runs_of("j", CASES)


def test_loss_sets_the_threshold_to_what_abe_measured(runs: dict[str, Run]) -> None:
    """Figure 2: below ssthresh the window stays, else it becomes ssthresh; never half of it."""
    run = runs["loss"]
    acks = run.traced("j_ack")
    losses = entered(acks, RECOVERY)
    assert len(losses) == 2
    assert run.counter("TcpExtTCPTimeouts") == 0
    for at, before in losses:
        now = acks[at]
        assert now["ssthresh"] == now["cwnd_abe"]
        keeps = before["cwnd"] < before["ssthresh"]
        assert now["cwnd"] == (before["cwnd"] if keeps else now["ssthresh"])
    keeps = [before["cwnd"] < before["ssthresh"] for _, before in losses]
    assert keeps == [True, False], "the first loss ends slow start, the second does not"


def test_estimate_is_the_links_rate(runs: dict[str, Run]) -> None:
    """Within 5 % of the payload's share of 10 Mbit/s, from the fourth second on."""
    acks = runs["loss"].traced("j_ack")
    late = [ack["bw"] for ack in acks if ack["t"] > acks[0]["t"] + 4]
    assert all(bw == pytest.approx(10e6 / 8 * 1448 / 1514, rel=0.05) for bw in late)


def test_timeout_begins_anew_at_the_initial_window(runs: dict[str, Run]) -> None:
    """No AEN: only ACKs were lost, and slow start follows (footnote 1: from the initial window)."""
    run = runs["timeout"]
    assert run.counter("TcpExtTCPTimeouts") >= 1
    assert run.counter("TcpExtTCPLossUndo") == 0
    assert INITIAL_WINDOW in run.column("snd_cwnd")[10:]
    assert 1 not in run.column("snd_cwnd")


def test_what_it_tells_is_so(runs: dict[str, Run]) -> None:
    """By ss and by its tracepoint."""
    assert_ss_is_plausible(runs["loss"].text("ss"), "j")
    assert_trace_agrees(runs["loss"], "j_ack")


def test_no_pacing_rate_is_left_over(modules: Path, build: Path, root: Path) -> None:
    """A socket is not paced at the last rate of an earlier algorithm that paces.

    Neither under j, which does not pace, nor under star with pacing=0. The module unloads after.
    """
    script = """
        modprobe tcp_star pacing=0
        peer send $far 5201 4 1:bbr 2:j >$OUT/bbr-j
        peer send $far 5201 4 1:bbr 2:star >$OUT/bbr-star
        unload end tcp_j
        unload end tcp_star
    """
    out = live(script, "tcp_j tcp_star", build / "tests" / "j-pacing", root)
    for name in ("bbr-j", "bbr-star"):
        seen = samples(out / name)
        assert [s.cc for s in seen if s.t > seen[0].t + 2.2][-1] == name.split("-")[1]
        rates = [s.pacing for s in seen if s.cc == "bbr"]
        lifted = [s.pacing for s in seen if s.t > seen[0].t + 2.5]
        assert min(lifted) > 100 * max(rates), name
    report = (out / "report").read_text()
    assert "end: tcp_j absent" in report
    assert "end: tcp_star absent" in report
