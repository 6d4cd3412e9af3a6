# SPDX-License-Identifier: GPL-2.0
"""The model of one HighSpeed and one Reno flow: by hand, by closed form, and written anew."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apogee_lab.commands import main
from apogee_lab.papers.gentle import model
from apogee_lab.papers.gentle.model import Flow, Network
from hstcp_table import PAPER, RFC3649, Response

#: A response function whose W_low no window reaches: HighSpeed is then Reno.
RENO = Response(10**9, lambda w: math.nan)
# 1 Gbit/s in packets of 1500 B, and figure 6's access rates.
GBIT = 1e9 / 12_000
ACCESS = {mbit: mbit * 1e6 / 12_000 for mbit in (100, 12, 1.5)}


def hstcp_model(*argv: str) -> int:
    """The verb's exit status."""
    try:
        return main.main(["hstcp-model", *argv])
    except SystemExit as leaving:
        return int(leaving.code or 0)


def figure6(mbit: float, delay_ms: float) -> model.Steady:
    """A point of figure 6, with a buffer of twice the link's bandwidth-delay product."""
    size = round(2 * delay_ms / 1e3 * GBIT)
    return model.steady(Network(GBIT, ACCESS[mbit], (10 + delay_ms) / 1e3, size), PAPER)


networks = st.builds(
    Network,
    rate=st.floats(500, 5_000),
    access=st.floats(5, 500),
    tau=st.floats(0.02, 0.1),
    buffer=st.integers(0, 400),
    capped=st.booleans(),
)
tables = st.sampled_from([PAPER, RFC3649])
few = settings(max_examples=30)


# --- by hand ----------------------------------------------------------------------------------


def test_a_cycle_by_hand() -> None:
    """Pipe 10, buffer 10, W_lim 5; Reno loses one of four packets, HighSpeed three.

    Reno grows by 4/4, 5/5, 5/6, 5/6.83; overflow is judged by min(W, 5): 16, 18, 19, 20, 21 > 20.
    D = 7.565 + 16 - 20 = 3.565, so 4; 4 x 7.565 / 23.565 = 1.28, 4 x 16 / 23.565 = 2.72.
    """
    network = Network(rate=100, access=50, tau=0.05, buffer=10)
    found = model.cycle(network, PAPER, Flow(4, 2), Flow(12, 2))
    assert found.reno.tolist() == pytest.approx([4, 5, 6, 6.83333, 7.56504], rel=1e-6)
    assert found.hs.tolist() == [12, 13, 14, 15, 16]
    assert found.lost == (1, 3)
    reno, hs = found.left
    assert (reno.window, reno.ssthresh) == pytest.approx((3.78252, 3.78252), rel=1e-6)
    assert hs == Flow(1, 2)  # 16, 8, 4, timeout: ssthresh 4 / 2
    rtts = network.rtt(found.reno, found.hs).tolist()
    assert rtts == pytest.approx([0.16, 0.18, 0.2, 0.218333, 0.235650], rel=1e-5)


def test_each_number_of_losses() -> None:
    """Reno from 100; HighSpeed from 1000: b(1000) = 0.32395, b(676.05) = 0.34379."""
    assert model.repaired(100, 1, None) == Flow(50, 50)
    assert model.repaired(100, 2, None) == Flow(25, 25)
    assert model.repaired(100, 3, None) == model.repaired(100, 30, None) == Flow(1, 12.5)
    once, twice, thrice = (model.repaired(1000, lost, PAPER) for lost in (1, 2, 3))
    assert (once.window, once.ssthresh) == pytest.approx((676.05, 676.05), rel=1e-4)
    assert (twice.window, twice.ssthresh) == pytest.approx((443.63, 443.63), rel=1e-4)
    assert (thrice.window, thrice.ssthresh) == pytest.approx((1, 221.82), rel=1e-4)
    assert model.repaired(1.5, 2, None) == Flow(1, 1)


def test_a_flow_that_loses_nothing_goes_on() -> None:
    """D = 1: 1 x 2/102 is none for Reno, which is still in slow start."""
    found = model.cycle(Network(1000, 1000, 0.05, 1), RENO, Flow(2, 10), Flow(100, 2))
    assert (len(found.hs), found.lost) == (1, (0, 1))
    assert found.left == (Flow(4, 10), Flow(50, 50))


def test_slow_start() -> None:
    """By (2) and (3) past ssthresh, or up to it; Reno by no more than W_lim = 20."""
    for capped, hs, reno in ((False, [1, 2, 4, 8, 16], 52), (True, [1, 2, 4, 8, 10], 40)):
        network = Network(1000, 200, 0.05, 0, capped)
        flow, seen = Flow(1, 10), [1.0]
        for _ in hs[1:]:
            flow = model.grown_hs(flow, network, PAPER)
            seen.append(flow.window)
        assert seen == hs
        assert model.grown_hs(flow, network, PAPER).window == hs[-1] + 1
        assert model.grown_reno(Flow(32, 40), network).window == reno


def test_the_response_function_holds_from_w_low_to_the_tables_end() -> None:
    for response in (PAPER, RFC3649):
        low = response.low_window
        assert (model.hs_increase(response, low), model.hs_decrease(response, low)) == (1, 0.5)
        assert model.hs_increase(response, 5_000) == response.a(5_000)
        assert model.hs_decrease(response, 5_000) == response.b(5_000)
        assert model.hs_increase(response, 1e6) == response.a(100_000)
        assert model.hs_decrease(response, 1e6) == response.b(100_000)


# --- closed forms -----------------------------------------------------------------------------


def test_reno_beside_reno_uses_three_quarters() -> None:
    """No buffer, so a sawtooth from 25 to 50 packets, both alike: 37.5 packets per 0.1 s."""
    found = model.steady(Network(rate=1000, access=1000, tau=0.05, buffer=0), RENO)
    assert found.repeats
    assert (found.reno, found.hs, found.clipped) == pytest.approx((375, 375, 375), rel=1e-6)
    assert all(one.lost == (1, 1) for one in found.cycles)


@given(networks, st.floats(1, 1_000), st.floats(1, 1_000))
def test_losses_go_with_the_windows(network: Network, reno: float, hs: float) -> None:
    """Equal for equal windows, the same if the flows change places, D within one packet."""
    excess = reno + hs - network.pipe - network.buffer
    if excess <= 0:
        return
    lost = network.losses(reno, hs)
    assert lost == network.losses(hs, reno)[::-1]
    assert max(lost) >= 1
    assert -1 <= sum(lost) - math.ceil(excess) <= 1
    assert (lost[0] - lost[1]) * (reno - hs) >= 0


@few
@given(networks, tables)
def test_nobody_gets_more_than_there_is(network: Network, response: Response) -> None:
    found = model.steady(network, response)
    assert found.hs + found.reno <= network.rate * (1 + 1e-12)
    assert found.clipped <= min(found.reno, network.access) * (1 + 1e-12)


# --- written anew, a list of everything -------------------------------------------------------


AB = Callable[[float], tuple[float, float]]


def paper_ab(w: float) -> tuple[float, float]:
    """a(w) and b(w) of equation (1), as printed there."""
    if w <= 31:
        return 1.0, 0.5
    x = (math.log(w) - math.log(31)) / (math.log(83_000) - math.log(31))
    b = x * (0.1 - 0.5) + 0.5
    p = math.exp(x * (math.log(1e-7) - math.log(1.5 / 31**2)) + math.log(1.5 / 31**2))
    return 2 * w**2 * b * p / (2 - b), b


def plainly(mu: float, mu_reno: float, tau: float, buffer: float) -> Iterator[dict[str, Any]]:
    """Section 4.2 from the top down, a dictionary for each cycle."""
    w_lim = 2 * tau * mu_reno

    def reno_ab(w: float) -> tuple[float, float]:
        return min(w_lim, w) / w, 0.5

    def grown(w: float, s: float, most: float, ab: AB) -> float:
        return w + (min(most, w) if w < s else ab(w)[0])

    def repaired(w: float, s: float, lost: int, most: float, ab: AB) -> tuple[float, float]:
        once = max(w * (1 - ab(w)[1]), 1)
        twice = max(once * (1 - ab(once)[1]), 1)
        choices = [(grown(w, s, most, ab), s), (once, once), (twice, twice), (1.0, twice / 2)]
        return choices[min(lost, 3)]

    reno, hs, s_reno, s_hs = 1.0, 1.0, math.inf, math.inf
    while True:
        all_reno, all_hs = [reno], [hs]
        while min(all_reno[-1], w_lim) + all_hs[-1] <= 2 * tau * mu + buffer:
            all_reno.append(grown(all_reno[-1], s_reno, w_lim, reno_ab))
            all_hs.append(grown(all_hs[-1], s_hs, math.inf, paper_ab))
        r, h = all_reno[-1], all_hs[-1]
        d = math.ceil(r + h - (2 * tau * mu + buffer))
        d_reno, d_hs = int(d * r / (r + h) + 0.5), int(d * h / (r + h) + 0.5)
        seconds = sum(
            2 * tau + max(one + two - 2 * mu * tau, 0) / mu
            for one, two in zip(all_reno, all_hs, strict=True)
        )
        yield {
            "L": len(all_reno), "reno": sum(all_reno), "hs": sum(all_hs), "seconds": seconds,
            "D": (d_reno, d_hs), "W'": (reno, hs), "S": (s_reno, s_hs),
        }  # fmt: skip
        reno, s_reno = repaired(r, s_reno, d_reno, w_lim, reno_ab)
        hs, s_hs = repaired(h, s_hs, d_hs, math.inf, paper_ab)


@pytest.mark.parametrize(
    ("mu", "mu_reno", "tau", "buffer"),
    [
        (GBIT, ACCESS[100], 0.035, 4167),
        (GBIT, ACCESS[12], 0.015, 833),
        (5_000.0, 500.0, 0.035, 0),
        (2_000.0, 800.0, 0.1, 300),
        (300.0, 30.0, 0.1, 20),
    ],
)
def test_equals_a_plain_program(mu: float, mu_reno: float, tau: float, buffer: float) -> None:
    """The first twenty cycles one by one, and the mean over many: the paper's own limit."""
    network = Network(mu, mu_reno, tau, buffer)
    plain = plainly(mu, mu_reno, tau, buffer)
    reno, hs = Flow(), Flow()
    seen = []
    for _ in range(20):
        expected = next(plain)
        assert (reno.window, hs.window) == pytest.approx(expected["W'"], rel=1e-9)
        assert (reno.ssthresh, hs.ssthresh) == pytest.approx(expected["S"], rel=1e-9)
        found = model.cycle(network, PAPER, reno, hs)
        assert (len(found.hs), found.lost) == (expected["L"], expected["D"])
        assert found.reno.sum() == pytest.approx(expected["reno"])
        assert found.hs.sum() == pytest.approx(expected["hs"])
        assert network.rtt(found.reno, found.hs).sum() == pytest.approx(expected["seconds"])
        reno, hs = found.left
        seen.append(expected)
    seen += [next(plain) for _ in range(980)]
    seconds = sum(one["seconds"] for one in seen)
    steady = model.steady(network, PAPER)
    assert steady.hs == pytest.approx(sum(one["hs"] for one in seen) / seconds, rel=0.01)
    assert steady.reno == pytest.approx(sum(one["reno"] for one in seen) / seconds, rel=0.02)


@few
@given(networks, tables)
def test_what_repeats_goes_on_repeating(network: Network, response: Response) -> None:
    """Started from where the last cycle leaves it, the model goes through the same ones again."""
    found = model.steady(network, response)
    assert found.repeats
    left = found.cycles[-1].left
    for one in found.cycles:
        again = model.cycle(network, response, *left)
        assert (len(again.hs), again.lost) == (len(one.hs), one.lost)
        assert again.hs.sum() == pytest.approx(one.hs.sum(), rel=1e-6)
        left = again.left


def test_gives_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(model, "MOST_CYCLES", 4)
    found = figure6(100, 25)
    assert (found.repeats, len(found.cycles)) == (False, 2)
    assert hstcp_model("--access", "100mbit", "--delay", "25ms", "--buffer", "4167") == 0
    assert "never" in capsys.readouterr().out


# --- the command ------------------------------------------------------------------------------


def test_the_table_and_the_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "--access 12mbit,1.5mbit --delay 5ms,25ms --format md --plot".split()
    assert hstcp_model(*arguments, str(tmp_path / "six")) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    assert [row[:3] for row in table[1:]] == [
        [buffer, access, delay]
        for buffers in (("4167", "4167"), ("833", "4167"))
        for access in ("12mbit", "1.5mbit")
        for buffer, delay in zip(buffers, ("5ms", "25ms"), strict=True)
    ]
    found = figure6(12, 25)
    middle = next(row for row in table if row[:3] == ["4167", "12mbit", "25ms"])
    assert middle[3:6] == [f"{rate * 0.012:.2f}" for rate in (found.hs, found.clipped, found.reno)]
    assert lines[-2:] == [str(tmp_path / "six.svg"), str(tmp_path / "six.png")]
    assert (tmp_path / "six.svg").read_text().startswith("<?xml")


def test_the_tables_differ(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for more in ((), ("--table", "rfc3649"), ("--capped",), ("--sack",)):
        assert hstcp_model("--access", "12mbit", "--delay", "25ms", "--buffer", "2bdp", *more) == 0
        told.append(capsys.readouterr().out.splitlines()[-1])
    assert len(set(told)) == 4


def test_with_sack_there_is_one_reduction_and_no_timeout() -> None:
    """Five and ten packets lost of 60 and 120: half of Reno's window, 1 - b of HighSpeed's."""
    network = Network(1000, 1000, 0.05, 65, sack=True)
    found = model.cycle(network, PAPER, Flow(60, 60), Flow(120, 120))
    assert found.lost == (5, 10)
    kept = 120 * (1 - PAPER.b(120))
    assert found.left == (Flow(30, 30), Flow(kept, kept))
    whole = model.Prediction(65, 1000, 0.05, 1, network, model.steady(network, PAPER))
    assert not any(whole.timeouts(0) + whole.timeouts(1))
    plain = Network(1000, 1000, 0.05, 65)
    assert model.cycle(plain, PAPER, Flow(60, 60), Flow(120, 120)).left[1].window == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("--access 2gbit", "--access must not be above --rate"),
        ("--access 12mbit,x", "'x' is not a rate"),
        ("--rate 1gbit,2gbit", "one value is needed, no list"),
        ("--rate 0", "1kbit or more is needed"),
        ("--delay 5ms,5ms", "5ms is given twice"),
        ("--delay=-5ms", "'-5ms' is not a time"),
        ("--delay 0 --host-delay 0", "at least 8 without"),
        ("--delay 60s", "at most 1000000 with"),
        ("--buffer 5ms", "'5ms' is not a whole number, or 2bdp"),
        ("--buffer=-1", "0 or more is needed"),
        ("--packet 1B", "40B or more is needed"),
        ("--table linux", "unknown --table 'linux'; choose from: paper, rfc3649"),
        ("--access", "expected one argument"),
        ("--nonsense", "unrecognized arguments"),
    ],
)
def test_bad_input_is_told_in_a_line(
    text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = hstcp_model(*text.split())
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert re.match(r"(scripts/)?lab( hstcp-model)?: ", err)
    assert told in err
