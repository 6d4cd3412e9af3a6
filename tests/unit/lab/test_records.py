# SPDX-License-Identifier: GPL-2.0
"""Records computed from raw results, against values computed by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.measures import traces
from apogee_lab.measures.arrivals import Arrivals
from apogee_lab.measures.raw import RawFolder
from apogee_lab.measures.record import RecordError, dumps, read_records
from apogee_lab.results import table
from tests.unit.lab import test_lfn
from tests.unit.lab.raw_folders import T0_US, compute, fill, meta, qdisc, send_log, steady, write

BLACKOUT = "queue_sampling on 10.0\nack_blackout on 15.5\nack_blackout off 16.5\n"


def with_gaps(*gaps: tuple[float, float]) -> list[list[int]]:
    """12 kB every 10 ms from T0 on for 10 s, except in the gaps (times in s)."""
    bins, total = [], 0
    for t in range(T0_US + 10_000, T0_US + 10_000_001, 10_000):
        if not any(begin * 1e6 < t <= end * 1e6 for begin, end in gaps):
            total += 12_000
            bins.append([t, total])
    return bins


def test_the_whole_record(tmp_path: Path) -> None:
    record = compute(write(tmp_path), meta())
    flow = {
        "name": "flow1", "cc": "star", "goodput_bps": 9.6e6, "retransmits": 12, "segments": 8000,
        "timeouts": 2, "rtt_ms": {"min": 500.1, "mean": 549.5, "p99": 598.01},
    }  # fmt: skip
    assert record == {
        "scenario": "satellite", "cc": "star", "seed": 1, "engine": "qemu",
        "kernel": "6.1.0-99-amd64", "set": {"ber": 0.0, "delay": "250ms"}, "duration_s": 10.0,
        "limit_bps": 9.6e6, "flows": [flow], "total_goodput_bps": 9.6e6, "jain": 1.0,
        "queue": {"mean_bytes": 30_000.0, "mean_ms": 24.0, "max_bytes": 45_000, "drops": 3},
        "bdp_bytes": 625_000, "link_drops": 5, "ack_drops": 7, "losses": 8,
        "needless_retransmits": 4, "duplicates": 4, "t90_s": 0.45, "run": "0123456789abcdef",
        "wall_s": 12.35,
    }  # fmt: skip
    assert json.loads(dumps(record)) == record


def test_only_wall_time_may_differ(tmp_path: Path) -> None:
    raw = write(tmp_path)
    one, other = (compute(raw, meta(wall_s=wall)) for wall in (1.0, 99.0))
    assert one != other
    assert one | {"wall_s": 0} == other | {"wall_s": 0}


def test_time_runs_from_the_first_arrival_for_the_duration(tmp_path: Path) -> None:
    """Of the second flow 9.5 of 10 s."""
    for end_us, goodput_bps in ((T0_US + 12_000_000, 9.6e6), (T0_US + 10_000_000, 9.12e6)):
        bins = steady(12_000, T0_US + 500_000, end_us)
        assert compute(write(tmp_path, bins), meta())["total_goodput_bps"] == goodput_bps


def test_counts_are_linear_inside_a_bin() -> None:
    """Nothing came between 30 and 90 ms."""
    arrivals = Arrivals([(20_000, 1000), (30_000, 3000), (100_000, 4000)])
    times = (5_000, 10_000, 15_000, 27_500, 60_000, 95_000, 500_000)
    assert [arrivals.until(t) for t in times] == [0, 0, 500, 2500, 3000, 3500, 4000]
    assert Arrivals([]).until(1e9) == 0


def test_a_flow_that_got_nothing_through(tmp_path: Path) -> None:
    record = compute(write(tmp_path, []), meta())
    assert record["total_goodput_bps"] == 0
    assert record["t90_s"] is None


def test_no_needless_retransmits_when_losses_exceed_them(tmp_path: Path) -> None:
    info = {"min_rtt": 500_100, "total_retrans": 5, "data_segs_out": 8000}
    record = compute(write(tmp_path, send=send_log(info=info)), meta())
    assert (record["losses"], record["needless_retransmits"]) == (8, 0)


def test_filters_count_where_the_blackout_drops(tmp_path: Path) -> None:
    raw = write(tmp_path)
    record = compute(raw, meta(ack_filters=[["sat", "to-rcv"]]))
    assert (record["link_drops"], record["ack_drops"]) == (5, 57)
    record = compute(raw, meta(data_filters=[["sat", "to-bn"]]))
    assert (record["link_drops"], record["ack_drops"], record["losses"]) == (45, 7, 48)


def test_duplicates_are_unknown_without_dsack(tmp_path: Path) -> None:
    assert compute(write(tmp_path), meta(set={"tcp_dsack": 0}))["duplicates"] is None


def test_queue_samples_outside_the_flow_do_not_count(tmp_path: Path) -> None:
    def sample(time: float, backlog: int) -> str:
        return f'{time} [{{"kind":"netem","dev":"to-sat","root":true,"backlog":{backlog}}}]\n'

    lines = sample(9.9, 1_000_000) + sample(10.0, 10) + sample(20.5, 30) + sample(20.6, 1_000_000)
    record = compute(write(tmp_path, queue=lines), meta())
    assert record["queue"]["mean_bytes"] == 20


def test_only_the_root_qdisc_of_the_bottleneck_counts(tmp_path: Path) -> None:
    line = (
        '[{"dev":"to-sat","root":true,"backlog":100},'
        '{"dev":"to-sat","parent":"1:1","backlog":60},{"dev":"lo","root":true,"backlog":7}]\n'
    )
    record = compute(write(tmp_path, queue=line), meta())
    assert record["queue"]["max_bytes"] == 100


@pytest.mark.parametrize(
    ("kind", "counts", "wanted"),
    [
        ("fq_codel", {"ecn_mark": 7, "drop_overlimit": 2}, {"marks": 7, "overflows": 2}),
        ("cake", {"tins": [{"ecn_mark": 3}, {"ecn_mark": 4}]}, {"marks": 7}),
        ("red", {"marked": 5, "early": 1}, {"marks": 5}),
        ("netem", {}, {}),
    ],
)
def test_what_an_aqm_marked(
    tmp_path: Path, kind: str, counts: dict[str, Any], wanted: dict[str, int]
) -> None:
    """Of the bottleneck's own queue, not of another device's."""
    raw = write(tmp_path)
    mine = qdisc("to-sat", 3, kind, parent="1:1", **counts)
    other = qdisc("to-snd", 0, "fq_codel", ecn_mark=9, drop_overlimit=9)
    fill(raw, {"qdisc-bn.json": [qdisc("to-sat", 3, "tbf", root=True), mine, other]})
    queue = compute(raw, meta())["queue"]
    assert {key: queue[key] for key in ("marks", "overflows") if key in queue} == wanted


def test_a_last_sample_cut_short_is_left_out(tmp_path: Path) -> None:
    line = '[{"dev":"to-sat","root":true,"backlog":100}]\n'
    record = compute(write(tmp_path, queue=line + line[:20]), meta())
    assert record["queue"]["mean_bytes"] == 100
    with pytest.raises(RecordError, match="queue.jsonl:1 "):
        compute(write(tmp_path, queue=line[:20] + "\n" + line), meta())


def test_start_up_counts_to_the_beginning_of_the_first_full_round_trip(tmp_path: Path) -> None:
    # A fifth of the limit for 2 s, then all of it from 2.5 s after the SYN on.
    slow = steady(2_400, T0_US, T0_US + 2_000_000)
    fast = [[t, slow[-1][1] + count] for t, count in steady(12_000, T0_US + 2_000_000)]
    record = compute(write(tmp_path, slow + fast), meta())
    # x of 0.5 s at a fifth, the rest full: 0.2 x + 0.5 - x >= 0.45, x <= 0.0625 -> 10 ms grid
    assert record["t90_s"] == 2.44
    # A path of 20 ms: intervals of 0.2 s, x <= 0.025
    short = meta(delay_s=0.01)
    assert compute(write(tmp_path, slow + fast), short)["t90_s"] == 2.48
    assert compute(write(tmp_path, slow), meta())["t90_s"] is None


def test_a_path_that_loses_all_has_no_shares_of_its_limit(tmp_path: Path) -> None:
    """As with `loss:100%@1ms`: nothing is divided by 0, and 90 % of nothing is not reached."""
    raw = write(tmp_path, steady(0), events=BLACKOUT)
    found = compute(raw, meta(limit_bps=0.0, rate_bps=0))
    assert found["t90_s"] is None and "blackout" not in found
    heading, row = table.rows([found])
    assert "% of limit" not in heading and row[0] == "star"


# --- blackouts --------------------------------------------------------------------------------


def cost(tmp_path: Path, bins: list[list[int]], events: str = BLACKOUT) -> dict[str, Any]:
    return compute(write(tmp_path, bins, events=events), meta())["blackout"]


def test_a_dip_and_what_it_cost(tmp_path: Path) -> None:
    # Nothing from 16 to 18 s: the 0.2 s window holds 90 % again at 18.18 s.
    assert cost(tmp_path, with_gaps((16.0, 18.0))) == {
        "direction": "ack", "below90_s": 2.68, "recovered": True, "lost_s": 2.0, "over_s": 5.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gaps", "below90_s", "lost_s", "recovered"),
    [
        ([], 0.0, 0.0, True),
        ([(16.0, 18.0), (18.5, 18.6)], 3.28, 2.1, True),
        ([(16.0, 16.5), (19.0, 19.5)], 1.18, 1.0, True),
        ([(19.0, 19.5)], 0.0, 0.5, True),
        ([(16.0, 30.0)], 5.0, 4.5, False),
    ],
    ids=["none", "back for a moment", "a later one, too", "a later one", "no recovery"],
)
def test_other_dips(
    tmp_path: Path,
    gaps: list[tuple[float, float]],
    below90_s: float,
    lost_s: float,
    recovered: bool,
) -> None:
    found = cost(tmp_path, with_gaps(*gaps))
    assert (found["below90_s"], found["lost_s"]) == (below90_s, lost_s)
    assert found["recovered"] == recovered


def test_lost_goodput_is_added_up_over_15_s(tmp_path: Path) -> None:
    bins = steady(12_000, T0_US, T0_US + 2_000_000)
    events = "data_blackout on 12.5\ndata_blackout off 13.5\n"
    raw = write(tmp_path, bins, send=send_log(end_us=T0_US + 30_000_000), events=events)
    found = compute(raw, meta(duration_s=30.0))["blackout"]
    assert (found["direction"], found["lost_s"], found["over_s"]) == ("data", 15.0, 15.0)


# --- raw results, read once ---------------------------------------------------------------------


def test_each_file_is_read_at_most_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all measures together; with a warm-up and groups they read nearly all files."""
    told = test_lfn.three(tmp_path)
    read: Counter[str] = Counter()
    real = Path.read_text

    def counted(path: Path, *args: Any, **how: Any) -> str:
        read[path.name] += 1
        return real(path, *args, **how)

    monkeypatch.setattr(Path, "read_text", counted)
    compute(tmp_path, told)
    assert set(read.values()) == {1}
    assert {"queue.jsonl", "events.log", "fast1.send.json", "qdisc-rb.json"} <= read.keys()


def test_a_trace_is_read_once_for_all_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "  flow-1 [000] ..s2. {}.5: star_ack: sport=1 dport={} cwnd={}\n"
    text = "".join(line.format(t, port, t) for t in (10, 11) for port in (5201, 5202, 80))
    (tmp_path / "trace.txt").write_text(text)
    asked: list[Path] = []
    real = traces.events
    monkeypatch.setattr(traces, "events", lambda path: [asked.append(path), *real(path)][1:])
    raw = RawFolder(tmp_path)
    found = [raw.series([5201, 5202])[port]["star_ack"]["cwnd"] for port in (5201, 5202)]
    assert [series.tolist() for series in found] == [[10, 11], [10, 11]]
    assert len(asked) == 1
    assert RawFolder(tmp_path / "none").series([5201]) == {}


# --- incomplete raw results -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["flow1.send", "flow1.recv", "qdisc-bn", "qdisc-sat"])
def test_missing_and_torn_files_are_named(tmp_path: Path, name: str) -> None:
    file = write(tmp_path) / f"{name}.json"
    whole = file.read_text()
    file.write_text(whole[: len(whole) // 2])
    for _ in ("torn", "missing"):
        with pytest.raises(RecordError, match=file.name):
            compute(tmp_path, meta())
        file.unlink(missing_ok=True)


def test_strange_contents_are_a_record_error(tmp_path: Path) -> None:
    for match, files in {
        "not understood": {"send": {"samples": 3}},
        "flow1: Connection reset": {"send": send_log(error="Connection reset")},
        "events.log": {"events": "ack_blackout on soon\n"},
    }.items():
        with pytest.raises(RecordError, match=match):
            compute(write(tmp_path, **files), meta())


# --- several flows, iperf3, files of records --------------------------------------------------


def test_two_flows_share_a_sender(tmp_path: Path) -> None:
    raw = write(tmp_path, steady(9_000))
    fill(raw, {"flow2.send.json": send_log(), "flow2.recv.json": {"bins": steady(3_000)}})
    flows = [
        {"name": f"flow{n}", "cc": cc, "netns": "snd", "port": 5200 + n}
        for n, cc in ((1, "star"), (2, "reno"))
    ]
    record = compute(raw, meta(cc="star+reno", flows=flows))
    assert [flow["goodput_bps"] for flow in record["flows"]] == [7.2e6, 2.4e6]
    assert [flow["timeouts"] for flow in record["flows"]] == [None, None]
    assert record["total_goodput_bps"] == 9.6e6
    assert record["jain"] == 0.8  # (3 + 1)^2 / (2 (9 + 1))
    assert record["t90_s"] == 0.45


@pytest.mark.parametrize("least_us", [500_000, 900_000])
def test_iperf3(tmp_path: Path, least_us: int) -> None:
    """The first data comes after an empty path's 500 ms, whatever queue the RTT's samples saw."""
    raw = write(tmp_path, events="flow1 start 10.0\nqueue_sampling on 10.0\n")
    seconds = [{"start": n, "end": n + 1.0, "bytes": 1_000_000 * (n > 0)} for n in range(11)]
    sender = {"bytes": 12_000_500, "retransmits": 9, "min_rtt": least_us}
    client = {
        "start": {"tcp_mss_default": 1000},
        "intervals": [{"streams": [{"rtt": rtt}]} for rtt in (500_000, 600_000)],
        "end": {"streams": [{"sender": sender}]},
    }
    server = {"intervals": [{"sum": second} for second in seconds]}
    fill(raw, {"iperf3-server.json": server, "iperf3-client.json": client})
    record = compute(raw, meta(traffic="iperf3"))
    flow = record["flows"][0]
    assert flow["goodput_bps"] == 7.6e6  # what the server had 10.5 s after its start: 9.5 MB
    assert (flow["retransmits"], flow["segments"], flow["timeouts"]) == (9, 12_010, 2)
    assert (flow["rtt_ms"]["min"], flow["rtt_ms"]["mean"]) == (least_us / 1e3, 550.0)
    assert record["t90_s"] is None
    (raw / "iperf3-client.json").write_text('{"error": "unable to connect"}')
    with pytest.raises(RecordError, match="unable to connect"):
        compute(raw, meta(traffic="iperf3"))


def test_files_of_records(tmp_path: Path) -> None:
    record = compute(write(tmp_path / "raw"), meta())
    path = tmp_path / "r.jsonl"
    path.write_text(dumps(record) + "\n\n" + dumps(record) + "\n")
    assert read_records(path) == [record, record]
    for text, where in (("{}\n", ":1"), (dumps(record) + "\nnot json\n", ":2")):
        path.write_text(text)
        with pytest.raises(RecordError, match=where):
            read_records(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="not a text file"):
        read_records(path)
    with pytest.raises(RecordError, match="No such file"):
        read_records(tmp_path / "none")


@pytest.mark.parametrize(
    "line",
    [
        "[]", '"text"', "1", '{"cc":"star","set":{},"flows":[]}',
        '{"scenario":"satellite","cc":"star","seed":1,"engine":"uml","kernel":"6.1","set":{},'
        '"duration_s":1,"limit_bps":1,"total_goodput_bps":1,"flows":[]}',
        '{"scenario":"satellite","cc":"star","seed":1,"engine":"uml","kernel":"6.1","set":{},'
        '"duration_s":1,"limit_bps":1,"total_goodput_bps":1,"flows":[{}]}',
    ],
)  # fmt: skip
def test_a_line_that_is_no_record_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(RecordError, match=f"^{path}:2: not a record of 'lab run --json'$"):
        read_records(path)
