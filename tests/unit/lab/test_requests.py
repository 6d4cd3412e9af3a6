# SPDX-License-Identifier: GPL-2.0
"""The scenario requests: its script, bad input, completion times, table; no guest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.measures import transfers
from apogee_lab.measures.record import RecordError, dumps
from apogee_lab.results import table
from apogee_lab.scenarios import SCENARIOS
from tests.unit.lab.raw_folders import bins, compute, fill, link, meta, qdisc, send_log, write

REQUESTS = SCENARIOS["requests"]
SHARED = SCENARIOS["satellite-shared"]


def script(cc: str = "star", duration_s: float = 60.0, **values: Any) -> str:
    """The script for these values."""
    return REQUESTS.compile(values, cc, duration_s).script


def calls(text: str, name: str) -> list[list[str]]:
    """The words of every call of a shell function, without the final &."""
    return [line.split()[1:-1] for line in text.splitlines() if line.startswith(f"{name} ")]


# --- the script -------------------------------------------------------------------------------


def test_the_first_algorithm_is_the_transfers() -> None:
    text = script("star+2*cubic", sizes=(1000, 20_000), lead=5.0)
    assert calls(text, "recv") == [
        ["flow1", "rcv1", "5201", "serve"],
        ["flow2", "rcv2", "5202"],
        ["flow3", "rcv3", "5203"],
    ]
    transfer, *bulk = calls(text, "send")
    assert transfer[:6] == ["flow1", "snd1", "$start_flow1", "star", "10.0.101.2", "5201"]
    assert transfer[7:] == ["request", "1000+20000"]
    assert [call[:4] for call in bulk] == [
        ["flow2", "snd2", "$start_flow2", "cubic"],
        ["flow3", "snd3", "$start_flow3", "cubic"],
    ]
    assert "start_flow1=$(late 5)\nstart_flow2=$(late 0)\nstart_flow3=$(late 0)\n" in text
    # They outlast the longest transfer, which ends them.
    assert {float(call[6]) for call in bulk} == {float(transfer[6]) + 5 + 600}
    assert "wait $transfers\n" in text
    plan = REQUESTS.compile({"sizes": (1000,)}, "star+cubic", 60.0)
    assert [flow.facts().get("sizes") for flow in plan.flows] == [[1000], None]
    assert plan.timeout_virtual_s > 10 + 60 + 600


def test_chunks_on_one_connection() -> None:
    """The tool's verbs and times; what is not asked for is not in the script."""
    sizes = (1_000_000, 20_000)
    text = script("star+cubic", sizes=sizes, persistent=1, period=2.5, idle=30.0)
    assert calls(text, "recv") == [["flow1", "rcv1", "5201", "answer"], ["flow2", "rcv2", "5202"]]
    assert calls(text, "send")[0][7:] == ["chunks", "'1000000+20000", "2.5", "30'"]
    kept = calls(script(sizes=sizes, persistent=1), "send")[0]
    assert kept[7:] == ["chunks", "1000000+20000"]
    later = calls(script(sizes=sizes, period=2.5), "send")[0]
    assert later[7:] == ["request", "'1000000+20000", "2.5", "0'"]
    assert calls(script(sizes=sizes, period=2.5), "recv") == [["flow1", "rcv1", "5201", "serve"]]
    assert script(sizes=sizes, persistent=0, period=0.0, idle=0.0) == script(sizes=sizes)


def test_alone_there_is_nothing_to_wait_for() -> None:
    text = script(lead=5.0, spread=0.0)
    assert len(calls(text, "send")) == 1
    assert "start_flow1=0\n" in text
    assert len(REQUESTS.compile({}, "star", 60.0).flows) == 1


def test_the_path_is_that_of_the_shared_link() -> None:
    """Link, queue and limit of satellite-shared with as many flows."""

    def path(text: str) -> str:
        return text[text.index("# namespaces") : text.index("# traffic")]

    values = {"ber": 1e-6, "queue": 15_000, "window": 16_000_000}
    assert path(script("star+cubic", **values)) == path(
        SHARED.compile(values, "star+cubic", 60.0).script
    )
    assert "flow serve" not in SHARED.compile({}, "star", 60.0).script


# --- records ----------------------------------------------------------------------------------


def test_completion_times() -> None:
    sent = [(1_000_000, 10_000), (3_000_000, 500), (4_000_000, 10_000)]
    received = [(10_000, 2_000_000), (500, 3_600_000), (10_000, 4_900_000)]
    found = transfers.completions(sent, received)
    assert found == [(10_000, 1.0), (500, 0.6), (10_000, 0.9)]
    assert transfers.summary(found) == {
        "transfers": 3, "bytes": 20_500, "sizes": [
            {"bytes": 500, "transfers": 1, "median_s": 0.6, "p90_s": 0.6, "p95_s": 0.6,
             "times_s": [0.6]},
            # Ranks 0 and 1 are .9 and 1: .9 and .95 of the way between them.
            {"bytes": 10_000, "transfers": 2, "median_s": 0.95, "p90_s": 0.99, "p95_s": 0.995,
             "times_s": [1.0, 0.9]},
        ],
    }  # fmt: skip
    for other in (received[:2], [*received[:2], (9_999, 4_900_000)]):
        with pytest.raises(ValueError, match="other bytes were received"):
            transfers.completions(sent, other)


def raw(folder: Path) -> dict[str, Any]:
    """Transfers from 15 s on beside a bulk flow from 10 s on, and the plan's facts about them."""
    write(folder)
    info = {"min_rtt": 500_000, "total_retrans": 3, "data_segs_out": 40, "snd_mss": 1000}
    begun = 15_000_000
    files: dict[str, Any] = {
        "flow1.send.json": send_log(
            info=info, syn_us=begun, t0_us=begun + 500_000, end_us=begun + 11_000_000,
            transfers=[[begun, 20_000], [begun + 2_000_000, 10_000]],
        ),
        "flow1.recv.json": {
            "bins": [[begun + 760_000, 10_000], [begun + 770_000, 20_000],
                     [begun + 2_770_000, 30_000]],
            "transfers": [[20_000, begun + 768_000], [10_000, begun + 2_764_000]],
        },
        "flow2.send.json": send_log(end_us=30_500_000),
        "flow2.recv.json": {"bins": bins((10.5, 30.0, 9000))},
        "qdisc-bn.json": [qdisc("to-sat", 0)],
        "qdisc-sat.json": [],
        "link-bn.json": [link("to-snd1", 40, 1), link("to-snd2", 500, 1)],
        "link-sat.json": [link("to-rcv1", 1, 40), link("to-rcv2", 1, 500)],
    }  # fmt: skip
    fill(folder, files)
    plan = REQUESTS.compile({"sizes": (10_000, 20_000)}, "star+cubic", 10.0)
    return meta(scenario="requests", cc="star+cubic", receiver_ns="rcv1",
                flows=[flow.facts() for flow in plan.flows])  # fmt: skip


def test_the_record_of_transfers_beside_a_bulk_flow(tmp_path: Path) -> None:
    record = compute(tmp_path, raw(tmp_path))
    sizes = [
        {
            "bytes": size,
            "transfers": 1,
            "median_s": time,
            "p90_s": time,
            "p95_s": time,
            "times_s": [time],
        }
        for size, time in ((10_000, 0.764), (20_000, 0.768))
    ]
    assert record["requests"] == {"transfers": 2, "bytes": 30_000, "sizes": sizes}
    ours, bulk = record["flows"]
    assert (ours["goodput_bps"], ours["retransmits"], ours["segments"]) == (24_000.0, 3, 40)
    assert bulk["goodput_bps"] == 7.2e6  # in the 10 s from the transfers' first byte on
    assert record["interval"] == {"from_s": 5.75, "over_s": 10.0}
    assert record["t90_s"] is None
    assert "fair_share" not in ours
    assert json.loads(dumps(record)) == record
    # The table has columns for each size.
    heading, row = table.rows([record])
    cells = dict(zip(heading, row, strict=True))
    assert heading[1:7] == [
        f"{size} {name} s" for size in ("10kB", "20kB") for name in ("median", "90 %", "95 %")
    ]
    assert (cells["10kB median s"], cells["20kB 95 % s"]) == ("0.76", "0.77")
    assert (cells["transfers"], cells["bulk Mbit/s"]) == ("2", "7.200")
    assert not {"Jain", "flow 1", "least share", "to 90 % s"} & cells.keys()
    alone = record | {"cc": "star", "flows": record["flows"][:1]}
    assert "bulk Mbit/s" not in table.rows([alone])[0]


def test_bytes_that_do_not_fit_are_no_record(tmp_path: Path) -> None:
    told = raw(tmp_path)
    received = json.loads((tmp_path / "flow1.recv.json").read_text())
    received["transfers"].pop()
    (tmp_path / "flow1.recv.json").write_text(json.dumps(received))
    with pytest.raises(RecordError, match="other bytes were received"):
        compute(tmp_path, told)
