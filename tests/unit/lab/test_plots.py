# SPDX-License-Identifier: GPL-2.0
"""Traces and figures: parsing, drawing, output files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apogee_lab.commands import main
from apogee_lab.measures import traces
from apogee_lab.measures.record import RecordError, dumps, read_records
from apogee_lab.results import over_time, plots
from apogee_lab.results.finished import FinishedRun
from apogee_lab.results.style import labels, save
from apogee_lab.runs import sweep
from tests.unit.lab.raw_folders import SYN_US, compute, meta, write

TRACE = """\
# tracer: nop
            flow-115     [000] ..s2.    10.500100: tcp_probe: family=AF_INET src=10.0.1.1:40000 \
dest=10.0.3.2:5201 mark=0x0 data_len=0 snd_nxt=0x10 snd_una=0x10 snd_cwnd=10 ssthresh=2147483647 \
snd_wnd=65535 srtt=500000 rcv_wnd=65535 sock_cookie=1
            flow-116     [000] ..s2.    10.600000: tcp_probe: family=AF_INET src=10.0.3.2:5201 \
dest=10.0.1.1:40000 mark=0x0 data_len=1448 snd_cwnd=99 ssthresh=7
          <idle>-0       [000] ..s2.    11.000000: star_ack: sport=40000 dport=5201 cwnd=20 \
cwnd_reno=5 cwnd_abe=15 bw=1250000 ssthresh=15 min_rtt_us=500000 state=open
          <idle>-0       [000] ..s2.    11.000000: star_ack: sport=40001 dport=80 cwnd=77 \
cwnd_reno=5 cwnd_abe=15 bw=1250000 ssthresh=15 min_rtt_us=500000 state=open
          <idle>-0       [000] ..s2.    12.000000: tcp_probe: family=AF_INET6 \
src=[fd00:1::1]:40000 dest=[fd00:3::2]:5201 mark=0x0 snd_cwnd=30 ssthresh=15
"""


def finished_run(
    folder: Path, cc: str = "star", seed: int = 1, trace: str = "", events: str = "", **changes: Any
) -> FinishedRun:
    """A finished run in ``folder``."""
    flows = [{"name": "flow1", "cc": cc, "netns": "snd", "port": 5201}]
    told = meta(cc=cc, seed=seed, flows=flows, run=folder.name, **changes)
    raw = write(folder, events="queue_sampling on 10.0\n" + events)
    if trace:
        (raw / "trace.txt").write_text(trace)
    (raw / "run.json").write_text(json.dumps({"meta": told}))
    (raw / "record.json").write_text(dumps(compute(raw, told)))
    return FinishedRun.load(raw)


def test_reading_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(TRACE)
    series = traces.by_port(path, [5201])[5201]
    assert series.keys() == {"tcp_probe", "star_ack"}
    assert series["tcp_probe"]["t"].tolist() == [10.5001, 12.0]
    assert series["tcp_probe"]["snd_cwnd"].tolist() == [10, 30]
    assert series["tcp_probe"]["snd_nxt"][0] == 16
    assert series["star_ack"]["cwnd_abe"].tolist() == [15]
    assert "state" not in series["star_ack"]
    assert traces.by_port(path, [9999]) == {9999: {}}


def test_thinning_keeps_the_extremes() -> None:
    times = np.arange(0, 10, 0.001)
    values = np.sin(times * 50) * times
    few_times, few = traces.thin(times, values, 0.5)
    assert len(few) <= 4 * 21
    assert (few.min(), few.max()) == (values.min(), values.max())
    assert (few_times[0], few_times[-1]) == (times[0], times[-1])
    assert len(traces.thin(np.array([]), np.array([]), 1)[0]) == 0


def test_a_run_knows_its_times(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "0123", trace=TRACE)
    assert run.start_us == SYN_US
    assert run.trace()["tcp_probe"]["snd_cwnd"].tolist() == [10, 30]
    with pytest.raises(RecordError, match="trace=probe"):
        finished_run(tmp_path / "4567").trace()
    with pytest.raises(RecordError, match="not the folder"):
        FinishedRun.load(tmp_path)


def test_labels_tell_lines_apart(tmp_path: Path) -> None:
    raw = write(tmp_path)
    cells = [(cc, ber) for cc in ("star", "bbr") for ber in (0.0, 1e-7)]
    found = [compute(raw, meta(cc=cc, set={"ber": ber})) for cc, ber in cells]
    assert labels(found) == ["star ber=0", "star ber=1e-7", "bbr ber=0", "bbr ber=1e-7"]
    assert labels(found, ["ber"]) == ["star", "star", "bbr", "bbr"]


def test_places_on_the_axis() -> None:
    place, logarithmic = plots._positions([0, 1e-8, 1e-7, 1e-5])
    assert logarithmic
    assert [round(x, 9) for x in place.values()] == [-9, -8, -7, -5]
    for values, places in (([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]), (["625kB", "16MB"], [0.0, 1.0])):
        place, logarithmic = plots._positions(values)
        assert (list(place.values()), logarithmic) == (places, False)


def test_the_names_of_axes_are_the_scenarios(tmp_path: Path) -> None:
    raw = write(tmp_path)

    def label(scenario: str, over: str) -> str:
        found = compute(raw, meta(set={over: "1"})) | {"scenario": scenario}
        return plots.goodput_over([found], over).axes[0].get_xlabel()

    assert label("satellite", "rate") == "rate of the bottleneck"
    assert label("lfn", "rate") == "rate of the shared link"
    assert label("elsewhere", "rate") == "rate"
    for name in ("tcp_sack", "star.aen"):
        assert label("satellite", name) == name


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of records over BER, seeds and windows, with raw folders in the lab's build/runs."""
    runs = tmp_path / "runs"
    monkeypatch.setattr(sweep, "RUNS", runs)
    lines = []
    for n, (cc, ber, window, seed) in enumerate(
        (cc, ber, window, seed)
        for cc in ("star", "bbr")
        for ber in (0.0, 1e-7, 1e-5)
        for window in ("16MB", "625kB")
        for seed in (1, 2)
    ):
        settings = {"ber": ber, "window": window, "mtu": 1500}
        run = finished_run(
            runs / f"{n:04d}aaaa", cc, seed, TRACE,
            "ack_blackout on 15.0\nack_blackout off 16.0\n", set=settings,
        )  # fmt: skip
        lines.append(dumps(run.record))
    path = tmp_path / "family.jsonl"
    path.write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return path


def test_goodput_over_a_parameter(family: Path, tmp_path: Path) -> None:
    figure = plots.goodput_over(read_records(family), "ber", "a title")
    first, second = figure.axes
    assert first.get_title("left") == "window = 16MB"
    assert second.get_title("left") == "window = 625kB"
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["0", "$10^{-7}$", "$10^{-5}$"]
    assert {text.get_text() for text in first.texts} == {"star", "bbr", "limit of the path"}
    assert (first.get_xlabel(), first.get_ylabel()) == ("bit error rate", "goodput, Mbit/s")
    with pytest.raises(RecordError, match="unknown parameter 'nosuch'"):
        plots.goodput_over(read_records(family), "nosuch")
    paths = save(figure, tmp_path / "new" / "figure")
    assert [path.name for path in paths] == ["figure.svg", "figure.png"]
    assert paths[0].read_text().startswith("<?xml")
    again = plots.goodput_over(read_records(family), "ber", "a title")
    assert save(again, tmp_path / "again.svg")[0].read_text() == paths[0].read_text()
    assert paths[1].read_bytes().startswith(b"\x89PNG")


def test_figures_over_time(family: Path, tmp_path: Path) -> None:
    run = FinishedRun.load(tmp_path / "runs" / "0000aaaa")
    alone = over_time.window([run]).axes[0]
    names = {text.get_text() for text in alone.texts}
    assert names == {"star", "cwnd_reno", "cwnd_abe", "ssthresh", "ACK blackout"}
    assert alone.get_ylabel() == "congestion window, segments"
    goodput = over_time.goodput_time([run], span=(4.0, 8.0)).axes[0]
    assert goodput.get_xlim() == (4.0, 8.0)
    assert "ACK blackout" in {text.get_text() for text in goodput.texts}
    with pytest.raises(RecordError, match="nothing lies between"):
        over_time.goodput_time([run], span=(8.0, 4.0))


def test_names_do_not_lie_on_each_other(family: Path) -> None:
    figure = plots.goodput_over(read_records(family)[:4], "ber")
    heights = sorted(text.xy[1] for text in figure.axes[0].texts)
    assert min(b - a for a, b in zip(heights, heights[1:], strict=False)) > 0.3


def test_plot_commands(family: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in {
        "goodput --over ber family.jsonl --set window=16MB -o g.svg": "g.svg\n",
        "goodput-time family.jsonl --cc star --set ber=1e-7 --set window=16MB -o t":
            "t.svg\nt.png\n",
        "window 0000 0012aaaa -o w.png --to 5": "w.png\n",
        "window runs/0000aaaa -o w2.png": "w2.png\n",
    }.items():  # fmt: skip
        assert main.main(["plot", *words.split()]) == 0
        assert capsys.readouterr().out == said
    assert {path.name for path in tmp_path.glob("*.png")} == {"t.png", "w.png", "w2.png"}
    for words in ("window 00 -o w", "window 0000 -o family.jsonl/w.png"):
        assert main.main(["plot", *words.split()]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_trace_that_is_not_whole_is_not_drawn(tmp_path: Path) -> None:
    """From a whole one the window comes, from every event that tells it."""
    run = finished_run(tmp_path / "0123", trace=TRACE)
    (run.raw / "trace.stats").write_text("entries: 5\noverrun: 0\ndropped events: 0\n")
    times, values = over_time._window_series(run.trace())
    assert (times.tolist(), values.tolist()) == ([10.5001, 11.0, 12.0], [10, 20, 30])
    (run.raw / "trace.stats").write_text("entries: 5\noverrun: 12\ndropped events: 0\n")
    with pytest.raises(RecordError, match="has lost events"):
        run.trace()
