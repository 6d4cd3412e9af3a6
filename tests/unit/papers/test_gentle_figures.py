# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on Gentle HighSpeed TCP: runs, checks of groups, drawings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.commands import main
from apogee_lab.papers import schedule, series
from apogee_lab.papers.claims import NotMeasured, Results
from apogee_lab.papers.figure import Cell, Claim
from apogee_lab.papers.gentle import draw
from apogee_lab.papers.gentle.claims import predicted, share
from apogee_lab.papers.gentle.figures import (
    BUFFERS,
    FIGURE_2,
    FIGURE_3,
    FIGURE_6,
    FIGURE_7,
    VARIANTS,
    _lines,
    _points,
)
from apogee_lab.papers.gentle.model import predict
from apogee_lab.results.plots import plt
from tests.unit.lab import raw_folders
from tests.unit.papers.planning import as_runs, claim, holds, lines_of, planned

LIMIT_BPS = 956.4e6
SEEDS = (1, 2, 3)

MODES = ("hstcp_gentle", "hstcp_gentle_mode")


def record(
    cc: str,
    fast: float,
    reno: float,
    seed: int = 1,
    timeouts: Sequence[int] = (),
    window: int = 10_000_000,
    early: int = 5000,
    **settings: Any,
) -> dict[str, Any]:
    """A record of two groups, Mbit/s; ``timeouts`` are those of the first flows."""
    settings = {"n": 2, "rate": "1gbit"} | settings
    counts = [*timeouts, *[0] * (settings["n"] + 1 - len(timeouts))]
    groups = {"reno": {"goodput_bps": reno * 1e6}}
    if settings["n"]:
        groups["fast"] = {"goodput_bps": fast * 1e6}
    return {
        "cc": cc,
        "seed": seed,
        "set": settings,
        "duration_s": 100.0,
        "limit_bps": LIMIT_BPS,
        "total_goodput_bps": (fast + reno) * 1e6,
        "groups": groups,
        "flows": [
            {"steady": {"timeouts": n}, "window_bytes": {"min": window}, "queue_drops": 7}
            for n in counts
        ],
        "queue": {"early_drops": early, "drops": early},
        "interval": {"from_s": 60.0},
        "event_rate": 0.1,
    }


def seeds(cc: str, fast: float, reno: float, **more: Any) -> list[dict[str, Any]]:
    """Three runs whose Reno groups are within one percent."""
    return [record(cc, fast, reno * (1 + (s - 2) / 100), s, **more) for s in SEEDS]


def about_6(text: str, buffer: str) -> Claim:
    """A claim of figure 6; those about the buffer that the paper does not have are ours."""
    ours = "" if buffer == "4167 packets" or text.startswith("(ours)") else "(ours) "
    return claim(FIGURE_6, f"{ours}{text} (B = {buffer})")


# --- the catalogue ----------------------------------------------------------------------------


def invented(cell: Cell) -> dict[str, Any]:
    """Any record of a cell."""
    names = {"n": int, "queue": int, "reno_rate": str, "delay": str}
    settings = {key: names[key](value) for key, value in cell.settings.items() if key in names}
    return record(cell.cc, 600.0, 80.0, **settings)


def test_how_many_runs_and_which_are_shared() -> None:
    found = planned("gentle")
    keys = {name: {run.job.key for run in runs} for name, runs in found.items()}
    assert len(set().union(*keys.values())) == 148 + 18 + 10 + 4 * 8 + 15
    assert len(found["gentle-3"]) == 5 + 3 * 8 and keys["gentle-3"] < keys["gentle-2"]
    assert len(found["gentle-2"]) == 5 * 5 + 3 + 3 * 2 * 8
    # With the buffer of 25 ms both readings are one; without SACK Reno's link has 100 Mbit/s.
    assert len(found["gentle-6"]) == 2 * 3 * 5 + (2 * 6 - 3) * 3 + 2 * 5 * 3
    assert len({run.job.key for run in planned("gentle", seeds=[1])["gentle-7"]}) == 4 * 4 + 1
    # Equal cells of two variants are one set of runs.
    letter, today = (
        {run.job.key for run in found["gentle-7"] if run.cell.variant == variant}
        for variant in ("letter", "today")
    )
    own = {run.job.key for run in found["gentle-7"] if run.cell.cc == "hstcp_gentle"}
    assert letter & today and letter ^ today <= own


def test_the_variant_as_published_is_described_as_it_runs(root: Path) -> None:
    letter = [c for c in FIGURE_7.cells if c.cc == "hstcp_gentle" and c.variant == "letter"]
    given = {k.partition(".")[2]: v for k, v in letter[0].settings.items() if "." in k}
    words = " ".join(f"{name}={value}" for name, value in given.items())
    assert f"`{words}`" in (root / "docs" / "algorithms.md").read_text()
    assert words.replace(" ", ", ") in VARIANTS["letter"]
    others = [cell for cell in FIGURE_7.cells if cell not in letter]
    assert not [key for cell in others for key in cell.settings if "." in key]


def test_lengths_and_costs(tmp_path: Path) -> None:
    """A cell may ask for fewer seeds and another length; a warm-up is a part of it."""
    found, short = planned("gentle"), planned("gentle", duration_s=16.0)
    made = schedule.as_json(found, None, None, tmp_path, tmp_path / "table.md")
    assert made["lengths"]["gentle-7"] == {"durations_s": [100.0], "seeds": [5]}
    assert made["lengths"]["gentle-6"] == {"durations_s": [80.0], "seeds": [3, 5]}
    costs = {made["runs"][member["key"]]["cost_s"] for member in made["figures"]["gentle-7"]}
    assert costs == {10 + 0.5 * 180}
    assert {run.job.plan.duration_s for run in short["gentle-6"]} == {16.0}
    for runs, name, warmup in (
        (found, "gentle-6", "30s"), (found, "gentle-7", "80s"),
        (short, "gentle-6", "6s"), (short, "gentle-7", "12.8s"),
    ):  # fmt: skip
        assert {run.job.meta["set"]["warmup"] for run in runs[name]} == {warmup}


# --- claims about groups ----------------------------------------------------------------------


def test_what_is_left_of_the_link_without_fast_senders() -> None:
    found, why = (claim(FIGURE_2, f"N = 0: {text}") for text in ("about", "because"))
    alone = seeds("reno", 0, 760, n=0)
    assert holds(found, alone) and holds(why, alone)
    assert not holds(why, seeds("reno", 0, 760, n=0, early=0))
    assert found.check(Results([record("reno", 0, 0.8 * 956.4, n=0)])).ours == "N = 0: 200 Mbit/s"
    assert not holds(found, seeds("reno", 0, 940, n=0))
    assert not holds(found, seeds("reno", 0, 600, n=0))
    with pytest.raises(NotMeasured, match="reno at n=0"):
        found.check(Results(seeds("reno", 700, 240, n=2)))


def over_n(cc: str, found: dict[int, tuple[float, float]], **more: Any) -> list[dict[str, Any]]:
    """Runs with these goodputs of the fast and of the Reno group, by N."""
    return [
        each
        for n, (fast, reno) in found.items()
        for each in seeds(cc if n else "reno", fast, reno, n=n, **more)
    ]


FALLING = {0: (0, 800), 1: (500, 400), 2: (600, 300), 5: (700, 200), 10: (800, 100)}


def test_a_full_link_and_what_reno_loses() -> None:
    whole = {n: (956 - 10 * n, 10 * n) for n in FALLING}
    for found, cc, good, *changes in (
        (claim(FIGURE_2, "with HSTCP the link"), "highspeed", FALLING, {5: (750, 206)}),
        (claim(FIGURE_7, "Gentle uses"), "hstcp_gentle", whole, {1: (840, 100)}),
        # It falls with every step; in the second case nothing is lost.
        (claim(FIGURE_2, "the more"), "highspeed", FALLING, {5: (700, 310)}, {2: (600, 400)}),
    ):
        assert holds(found, over_n(cc, good))
        assert not any(holds(found, over_n(cc, good | change)) for change in changes)


def test_timeouts() -> None:
    some = claim(FIGURE_2, "HSTCP times out")
    none = claim(FIGURE_7, "and has no timeouts")
    # Behind the fast senders stands a flow of Reno's, whose timeouts do not count.
    never = over_n("highspeed", {n: FALLING[n] for n in (1, 2, 5, 10)})
    for each in never:
        each["flows"][-1]["steady"]["timeouts"] = 9
    assert not holds(some, never)
    once = over_n("highspeed", {n: FALLING[n] for n in (1, 2, 5, 10)}, timeouts=[1])
    assert holds(some, once)
    # Two runs of all points are enough, one shows nothing.
    runs = [each for each in never if each["seed"] == 1]
    assert some.check(Results(runs)).holds == "not shown"  # fewer than five without one
    for count, verdict in ((0, "no"), (1, "not shown"), (2, "yes")):
        found = [*once[:count], *never[count:]]
        assert some.check(Results(found)).holds == verdict
    gentles = [each | {"cc": "hstcp_gentle"} for each in never]
    assert holds(none, gentles)
    gentles[-1]["flows"][0]["steady"]["timeouts"] = 1
    assert not holds(none, gentles)


def test_the_first_window() -> None:
    loss, one, out = (claim(FIGURE_3, text) for text in ("a mass", "at overflow", "by timeouts"))
    assert holds(loss, seeds("highspeed", 800, 100, n=5))
    assert not holds(loss, seeds("highspeed", 800, 100, n=5, early=20))
    assert holds(one, seeds("highspeed", 800, 100, n=5, window=1448))
    assert not holds(one, seeds("highspeed", 800, 100, n=5, window=4 * 1448))
    assert holds(out, seeds("highspeed", 800, 100, n=5, timeouts=[2]))
    assert holds(out, seeds("highspeed", 800, 100, n=5, timeouts=[0, 0, 0, 0, 7]))
    assert not holds(out, seeds("highspeed", 800, 100, n=5, timeouts=[0, 0, 0, 0, 0, 7]))
    unknown = record("highspeed", 800, 100, n=5)
    unknown["flows"][0]["window_bytes"] = None
    with pytest.raises(NotMeasured):
        one.check(Results([unknown]))


def shares(ours: dict[int, float], theirs: float = 0.5) -> list[dict[str, Any]]:
    """Runs in which Reno keeps these shares beside hstcp_gentle, and one beside highspeed."""
    found = []
    for n, kept in ours.items():
        found += seeds("reno", 400, 500, n=n)
        found += seeds("hstcp_gentle", 900 - 500 * kept, 500 * kept, n=n)
        found += seeds("highspeed", 900 - 500 * theirs, 500 * theirs, n=n)
    return found


def test_shares_of_reno() -> None:
    paper = claim(FIGURE_7, "it does not lower")
    own = claim(FIGURE_7, "(ours) Reno keeps")
    good = shares({1: 0.7, 2: 0.95, 5: 0.87, 10: 0.8})
    middling = shares({1: 0.7, 2: 0.7, 5: 0.68, 10: 0.7})
    assert holds(paper, good) and holds(own, good)
    assert holds(paper, middling) and not holds(own, middling)
    for n in (1, 2, 5, 10):
        assert not holds(paper, shares({1: 0.7, 2: 0.7, 5: 0.7, 10: 0.7} | {n: 0.6}))
    assert not holds(own, shares({2: 0.89, 5: 0.95})) and not holds(own, shares({2: 1.0, 5: 0.84}))
    verdict = paper.check(Results(middling))
    assert "; N = 2 (70 % over 50 %): +20 ±" in verdict.ours
    # As all groups vary by the same factor from seed to seed, their ratio does not.
    found = share(Results(middling), "hstcp_gentle", 2)
    assert found.bounds == pytest.approx((0.7, 0.7), abs=1e-6)
    single = [each for each in middling if each["seed"] == 1]
    assert paper.check(Results(single)).holds == "not shown"


def test_gentle_beside_hstcp() -> None:
    """More throughput, and no bursts of drops, at each number of fast senders."""
    more, calm = claim(FIGURE_7, "the throughput is higher"), claim(FIGURE_7, "no packets are")
    better = {n: (fast + 2, reno) for n, (fast, reno) in FALLING.items() if n}
    theirs = over_n("highspeed", {n: FALLING[n] for n in better})
    assert holds(more, [*theirs, *over_n("hstcp_gentle", better)])
    for n in better:
        worse = over_n("hstcp_gentle", better | {n: FALLING[n]})
        assert not holds(more, [*theirs, *worse])
    assert holds(calm, over_n("hstcp_gentle", better, early=199))
    assert not holds(calm, over_n("hstcp_gentle", better, early=200))


def test_changes_of_mode() -> None:
    found = claim(FIGURE_7, "(ours) a flow changes")
    calm = over_n("hstcp_gentle", {n: FALLING[n] for n in (2, 5)})
    assert holds(found, calm)  # 0.1 a second
    assert not holds(found, [each | {"event_rate": 0.3} for each in calm])
    with pytest.raises(NotMeasured):
        found.check(Results([each | {"event_rate": None} for each in calm]))


# --- model and lab ----------------------------------------------------------------------------


def test_predictions_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "--access 100mbit --delay 25ms --buffer 4167".split()
    assert main.main(["hstcp-model", *asked]) == 0
    words = capsys.readouterr().out.splitlines()[-1].split()
    hs, reno, written = predict("100mbit", "25ms", 4167)
    assert words[:6] == ["4167", "100mbit", "25ms", f"{hs:.2f}", f"{reno:.2f}", f"{written:.2f}"]
    point = record("highspeed", 1, 1, reno_rate="100mbit", delay="25ms", queue=4167, n=1)
    assert predicted(point, "fast") == pytest.approx((hs * 1e6, hs * 0.9564e6))
    assert predicted(point, "reno") == pytest.approx((reno * 1e6, reno * 0.9564e6))


def modelled(
    buffer: str, factor: float = 1.0, sack: bool = False, **changes: float
) -> list[dict[str, Any]]:
    """Runs that get what the model says, times a factor; at single points (delay) others."""
    found = []
    for point in _points(buffer).values():
        blank = record("highspeed", 1, 1, n=1, **point)
        fast, reno = (predicted(blank, name, sack)[1] / 1e6 for name in ("fast", "reno"))
        at = changes.get(point["delay"], factor)
        found += seeds("highspeed", fast * at, reno * at, n=1, **point)
    return found


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("group", ["HSTCP", "Reno"])
def test_the_model_predicts_the_lab(buffer: str, group: str) -> None:
    found = about_6(f"the model predicts {group} almost exactly", buffer)
    assert holds(found, modelled(buffer)) and holds(found, modelled(buffer, 1.08))
    assert not holds(found, modelled(buffer, 1.12)) and not holds(found, modelled(buffer, 0.88))
    assert not holds(found, modelled(buffer, **{"25ms": 0.8}))


@pytest.mark.parametrize("buffer", BUFFERS)
def test_the_model_with_sack_predicts_another_lab(buffer: str) -> None:
    text = "(ours) with one reduction for all losses of a window the model predicts HSTCP"
    found = about_6(text, buffer)
    assert holds(found, modelled(buffer, sack=True))
    assert not holds(found, modelled(buffer, 1.12, sack=True))
    assert not holds(found, modelled(buffer))


def lines(buffer: str, fast: Sequence[float], reno: Sequence[float]) -> list[dict[str, Any]]:
    """Runs with these goodputs at the three delays, behind every access link."""
    return [
        each
        for line in _lines(buffer).values()
        for (_, point), a, b in zip(line, fast, reno, strict=True)
        for each in seeds("highspeed", a, b, n=1, **point)
    ]


#: HSTCP's goodputs at the three delays, then Reno's.
LIKE_PAPER = (600, 700, 800, 40, 30, 20)
BOTH_FAR = "both are far below the link at the shortest delay"


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("HSTCP gains with delay", LIKE_PAPER, (600, 800, 700, 40, 30, 20)),
        ("HSTCP gains with delay", LIKE_PAPER, (800, 800, 800, 40, 30, 20)),
        ("Reno loses with delay", LIKE_PAPER, (600, 700, 800, 40, 30, 30.2)),
        ("Reno is far below its own link's 100 Mbit/s", LIKE_PAPER, (600, 700, 800, 40, 30, 60)),
        (BOTH_FAR, (700, 900, 900, 80, 50, 50), (900, 500, 500, 50, 50, 50)),
    ],
)
def test_both_over_delay(
    buffer: str, text: str, good: Sequence[float], bad: Sequence[float]
) -> None:
    found = about_6(text, buffer)
    assert holds(found, lines(buffer, good[:3], good[3:]))
    assert not holds(found, lines(buffer, bad[:3], bad[3:]))


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    ("text", "flow"),
    [("HSTCP times out at the shortest delay", 0), ("Reno times out there, too", 1)],
)
def test_timeouts_at_the_shortest_delay(buffer: str, text: str, flow: int) -> None:
    found = about_6(text, buffer)
    runs = lines(buffer, (700, 900, 900), (80, 50, 50))
    assert not holds(found, runs)
    for each in runs:
        far = each["set"]["delay"] != "5ms"
        each["flows"][flow if far else 1 - flow]["steady"]["timeouts"] = 3
    assert not holds(found, runs)
    for each in runs:
        each["flows"][flow]["steady"]["timeouts"] = 1
    assert holds(found, runs)


# --- series and drawings ----------------------------------------------------------------------

MODE = "  <idle>-0  [000] ..s..  {:f}: hstcp_gentle_mode: sport=9 dport={} cwnd=9 from=1 to=2\n"


def traced(raw: Path, stats: str = "overrun: 0\n") -> dict[str, Any]:
    """A run of 10 s, measured from 20 s on: changes before, during and after it."""
    raw.mkdir(exist_ok=True)
    (raw / "events.log").write_text("fast1 start 10.0\nwarmup off 20.0\n")
    lines = [MODE.format(at, 5201) for at in (15, 20.5, 22, 29.9, 30.1)]
    lines += [MODE.format(21, 5202), MODE.format(25, 5203)]
    lines += [MODE.format(23, 5201).replace("_mode", "_window")]
    (raw / "trace.txt").write_text("# tracer: nop\n" + "".join(lines))
    (raw / "trace.stats").write_text(stats)
    ccs = ("hstcp_gentle", "hstcp_gentle", "reno")
    flows = [{"cc": cc, "port": 5201 + number} for number, cc in enumerate(ccs)]
    return {"flows": flows, "duration_s": 10.0}


def test_changes_of_mode_are_counted_where_it_is_measured(tmp_path: Path) -> None:
    meta = traced(tmp_path)
    assert series.event_rate(tmp_path, meta, *MODES) == pytest.approx(4 / 2 / 10)
    reno = {"flows": meta["flows"][2:], "duration_s": 10.0}
    assert series.event_rate(tmp_path, reno, *MODES) is None
    assert series.event_rate(tmp_path, traced(tmp_path, "overrun: 3\n"), *MODES) is None
    (tmp_path / "trace.txt").unlink()
    assert series.event_rate(tmp_path, meta, *MODES) is None


def test_groups_are_drawn_over_n(tmp_path: Path) -> None:
    runs = {"today": as_runs(tmp_path, over_n("highspeed", FALLING))}
    canvas = draw.groups_over_n(FIGURE_2, runs)
    (axes,) = canvas.axes
    found = lines_of(axes)
    assert found["highspeed"] == pytest.approx([500, 600, 700, 800])
    assert found["10 reno beside highspeed"] == pytest.approx([800, 400, 300, 200, 100])
    assert found["both, highspeed"] == pytest.approx([800, 900, 900, 900, 900], rel=1e-3)
    plt.close(canvas)
    few = {n: FALLING[n] for n in (0, 2, 5)}  # as on the period stack
    canvas = draw.groups_over_n(FIGURE_2, {"period": as_runs(tmp_path, over_n("highspeed", few))})
    assert lines_of(canvas.axes[0])["highspeed"] == pytest.approx([600, 700])
    plt.close(canvas)


def test_the_window_is_drawn_in_packets(tmp_path: Path) -> None:
    send = raw_folders.send_log()
    send["info"]["snd_mss"] = 1448
    raw = raw_folders.write(tmp_path / "raw", send=send)
    found = [record("highspeed", 800, 100, n=5)]
    larger = {**send, "samples": [[t, 9 * size, *rest] for t, size, *rest in send["samples"]]}
    runs = {
        "today": as_runs(raw, found),
        "period": as_runs(raw_folders.write(tmp_path / "larger", send=larger), found),
    }
    canvas = draw.first_window(FIGURE_3, runs)
    today, period = canvas.axes
    assert list(today.lines[0].get_ydata()) == list(range(10, 110))
    assert today.lines[1].get_xdata()[0] == 60.0
    assert period.get_ylim()[1] > max(period.lines[0].get_ydata()) == 9 * 109
    plt.close(canvas)


def test_model_and_lab_are_drawn(tmp_path: Path) -> None:
    found = [each for buffer in BUFFERS for each in modelled(buffer, 1.2)]
    canvas = draw.model_over_delay(FIGURE_6, {"today": as_runs(tmp_path, found)})
    assert len(canvas.axes) == 4
    for axes in canvas.axes:
        lab, model = axes.containers[0].lines[0], axes.containers[1].lines[0]
        assert list(lab.get_xdata()) == [5.0, 25.0, 100.0]
        ratio = lab.get_ydata() / model.get_ydata()
        assert ratio == pytest.approx([1.2] * 3)
    plt.close(canvas)
