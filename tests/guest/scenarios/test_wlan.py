# SPDX-License-Identifier: GPL-2.0
"""The scenario wlan in real guests of engine uml: airtime, fairness and drops of the medium."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.wlan import airtime_us
from tests.guest.runs import close, records

pytestmark = [pytest.mark.guest, pytest.mark.uml]

PAYLOAD = 8 * 1448  # bits of a full frame
DATA_US, ACK_US = 393.5, 181.5  # see tests/unit/lab/test_wlan.py
WARM = ("warmup=5s",)
wlan = partial(records, "wlan")


def everybody_waits_bps(n: int) -> float:
    """Goodput when all stations and the access point send one frame each in turn."""
    return n * PAYLOAD / (n * DATA_US + ACK_US) * 1e6


@pytest.mark.parametrize(
    "several", [(1, 6), pytest.param((2, 10, 20), marks=pytest.mark.deep)], ids=["few", "many"]
)
def test_reno_over_n_is_as_computed(kept: Path, tmp_path: Path, several: tuple[int, ...]) -> None:
    """One or two stations reach the limit without lost ACKs. More stations leave the access point
    too few turns: its queue drops ACKs, and the stations get their airtime."""
    records = wlan(tmp_path / "r", "reno", f"n={','.join(map(str, several))}", *WARM)
    for n, record in zip(several, records, strict=True):
        medium, queue = record["medium"], record["queue"]
        assert close(record["limit_bps"], PAYLOAD / (DATA_US + ACK_US / 2) * 1e6, 1e-4)
        wanted = max(record["limit_bps"], everybody_waits_bps(n))
        assert close(record["total_goodput_bps"], wanted, 0.015), n
        assert close(medium["airtime"], 1, 0.005), n
        assert record["ack_drops"] == queue["drops"]
        assert queue["max_packets"] <= 100
        if n == 1:
            assert queue["drops"] == 0
        if n >= 6:
            assert queue["steady_drops"] > medium["ap_frames"], "more are dropped than sent"
            assert queue["mean_packets"] > 95
        assert record["losses"] == 0, "no data is lost"
        assert close(min(flow["rtt_ms"]["min"] for flow in record["flows"]), 120, 0.01)


def test_all_that_wait_send_as_many_frames(kept: Path, tmp_path: Path) -> None:
    """Stations and access point, to a turn or two, though ACKs are short."""
    (record,) = wlan(tmp_path / "r", "reno", "n=10", "phase=random", *WARM)
    frames = [flow["frames"] for flow in record["flows"]]
    assert record["medium"]["station_frames"] == sum(frames)
    every = [*frames, record["medium"]["ap_frames"]]
    assert max(every) - min(every) <= 2


def test_queues_hold_what_was_asked_for(kept: Path, tmp_path: Path) -> None:
    """A station whose stack does not see its queue fills it, and loses data there."""
    settings = ("n=4", "ap_queue=20", "station_queue=60", *WARM)
    sees, blind = wlan(tmp_path / "r", "reno", *settings, "tsq=1,0")
    for record in (sees, blind):
        assert record["queue"]["max_packets"] <= 20
    assert sees["losses"] == 0
    assert all(flow["station_drops"] > 0 for flow in blind["flows"])
    assert blind["losses"] == sum(flow["station_drops"] for flow in blind["flows"])


@pytest.mark.deep
def test_acks_for_every_segment_take_their_airtime(kept: Path, tmp_path: Path) -> None:
    """One station alone: goodput is the limit, with half as many or as many ACKs as frames."""
    delayed, each = wlan(tmp_path / "r", "reno", "n=1", "ack_every=2,1", "warmup=10s")
    for record, share in ((delayed, 0.5), (each, 1.0)):
        assert close(record["total_goodput_bps"], record["limit_bps"], 0.01)
        medium = record["medium"]
        assert close(medium["ap_frames"] / medium["station_frames"], share, 0.02)


@pytest.mark.deep
def test_contention_and_slower_radios_charge_more(kept: Path, tmp_path: Path) -> None:
    """The medium is full, and its frames take what was computed."""
    settings = ("n=6", *WARM)
    for changed in ({"contention": "bianchi"}, {"phy_rate": "24"}):
        words = [f"{key}={value}" for key, value in changed.items()]
        (record,) = wlan(tmp_path / words[0], "cubic", *settings, *words)
        assert close(record["medium"]["airtime"], 1, 0.005)
        values = {**SCENARIOS["wlan"].defaults(), "n": 6, **changed}
        data_us, ack_us = airtime_us(values, 1500), airtime_us(values, 52)
        assert data_us > DATA_US
        wanted = 6 * PAYLOAD / (6 * data_us + ack_us) * 1e6
        assert close(record["total_goodput_bps"], wanted, 0.02)


@pytest.mark.deep
def test_vegas_and_bbr_keep_the_access_points_queue_shorter(kept: Path, tmp_path: Path) -> None:
    reno, vegas, bbr = wlan(tmp_path / "r", "reno,vegas,bbr", "n=6", *WARM)
    queues = [record["queue"]["mean_packets"] for record in (reno, vegas, bbr)]
    assert queues[1] < queues[2] < queues[0]
    assert vegas["queue"]["steady_drops"] == 0


@pytest.mark.deep
def test_a_random_phase_changes_the_order_of_acks_only(kept: Path, tmp_path: Path) -> None:
    """Airtime and turns are unchanged; no segments are reordered."""
    (record,) = wlan(tmp_path / "r", "reno", "n=18", "phase=random", *WARM)
    assert close(record["medium"]["airtime"], 1, 0.005)
    assert close(record["total_goodput_bps"], everybody_waits_bps(18), 0.015)
    assert record["duplicates"] <= sum(flow["retransmits"] for flow in record["flows"])
    assert record["jain"] > 0.99


@pytest.mark.deep
def test_seeds_differ_by_the_starts(kept: Path, tmp_path: Path) -> None:
    """A repeated run is equal; with equal starts, so are runs with other seeds."""
    settings = ("n=3", "warmup=1s")

    def flows(name: str, *more: str, seeds: str) -> list[Any]:
        found = wlan(tmp_path / name, "reno", *settings, *more, seconds=2,
                     more=f"--seed {seeds} --fresh")  # fmt: skip
        return [record["flows"] for record in found]

    first, second = flows("once", seeds="1,2")
    assert first != second
    assert flows("again", seeds="1") == [first]
    one, two = flows("together", "start=0s", seeds="1,2")
    assert one == two


def test_downloads_share_the_access_points_queue(kept: Path, tmp_path: Path) -> None:
    """One upload and one download reach the limit, and what the queue drops of the download is sent
    again. Six uploads take the whole queue: their ACKs leave no room for data."""
    settings = ("down=1", "down_cc=reno", *WARM)
    one, six = wlan(tmp_path / "r", "reno", "n=1,6", *settings)
    for record in (one, six):
        *_, download = record["flows"]
        assert download["queue_drops"] > 0
        assert record["queue"]["drops"] == record["ack_drops"] + download["queue_drops"]
        assert record["losses"] == download["queue_drops"]
        assert record["medium"]["acks"] > record["ack_drops"]
        assert close(record["medium"]["airtime"], 1, 0.005)
    assert close(one["total_goodput_bps"], one["limit_bps"], 0.02)
    upload, download = one["flows"]
    assert upload["goodput_bps"] > download["goodput_bps"] > 0
    assert abs(download["retransmits"] - download["queue_drops"]) <= 5
    *uploads, download = six["flows"]
    assert close(six["total_goodput_bps"], everybody_waits_bps(6), 0.015)
    assert download["goodput_bps"] < 0.1 * min(flow["goodput_bps"] for flow in uploads)


def test_ipv6(kept: Path, tmp_path: Path) -> None:
    (record,) = wlan(tmp_path / "r", "cubic", "n=2", "ipv6=1", "phase=random", *WARM)
    assert close(record["total_goodput_bps"], record["limit_bps"], 0.015)
    assert close(record["medium"]["airtime"], 1, 0.005)


@pytest.mark.deep
def test_iperf3_agrees(kept: Path, tmp_path: Path) -> None:
    """iperf3 reads at once, so fewer segments share an ACK: goodput differs by some percent."""
    ours, theirs = wlan(tmp_path / "r", "cubic", "n=1", "traffic=flow,iperf3", seconds=5)
    assert close(ours["total_goodput_bps"], theirs["total_goodput_bps"], 0.05)
