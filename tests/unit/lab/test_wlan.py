# SPDX-License-Identifier: GPL-2.0
"""The scenario wlan without a guest: airtime, contention, script, bad input, records."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.measures.channel import FIELDS
from apogee_lab.measures.record import RecordError
from apogee_lab.scenarios import SCENARIOS, wifi
from apogee_lab.scenarios.scenario import Plan
from apogee_lab.scenarios.wlan import airtime_us, charge, limit_bps
from tests.unit.lab.raw_folders import T0_US, bins, compute, fill, link, meta, qdisc, send_log
from tests.unit.lab.stand_ins import sends

WLAN = SCENARIOS["wlan"]
FULL, ACK = 1500, 52  # bytes of IP: a full packet, an ACK with timestamps


def compiled(cc: str = "reno", duration_s: float = 60.0, **values: Any) -> Plan:
    """The plan for these values."""
    return WLAN.compile(values, cc, duration_s)


def script(cc: str = "reno", **values: Any) -> str:
    """The script for these values."""
    return compiled(cc, **values).script


def values(**changed: Any) -> dict[str, Any]:
    """All values of the scenario."""
    return {**WLAN.defaults(), **changed}


# --- airtime ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ip", "rate", "wanted"),
    [
        # DIFS 34, PLCP 20, symbols of 4 us, SIFS 16, link ACK 28 (2 symbols at 24 Mbit/s);
        # 16 + 8 (24 + 8 + 1500 + 4) + 6 = 12310 bits are 57 symbols of 216
        (1500, 54, 34 + 20 + 57 * 4 + 16 + 28),
        # 16 + 8 (36 + 52) + 6 = 726 bits are 4 symbols
        (52, 54, 34 + 20 + 4 * 4 + 16 + 28),
        # 40 B: 630 bits, 3 symbols
        (40, 54, 34 + 20 + 3 * 4 + 16 + 28),
        # 24 bits a symbol: 513 symbols; the link ACK's 134 bits at 6 Mbit/s are 6 symbols
        (1500, 6, 34 + 20 + 513 * 4 + 16 + 44),
        # 72 bits: 171 symbols; the link ACK at 12 Mbit/s has 3 symbols of 48 bits
        (1500, 18, 34 + 20 + 171 * 4 + 16 + 32),
    ],
)
def test_an_exchange(ip: int, rate: int, wanted: int) -> None:
    assert wifi.exchange(ip, rate) == wanted


@pytest.mark.parametrize("rate", ["54", "24", "6"])
@pytest.mark.parametrize("contention", ["none", "bianchi"])
def test_what_tc_charges_is_the_airtime(rate: str, contention: str) -> None:
    """To half a byte, for full frames and for ACKs; 54 Mbit/s alone: 393.5 and 181.5 us."""
    given = values(phy_rate=rate, contention=contention)
    bits, overhead = charge(given)
    for ip in (FULL, ACK):
        charged_us = (ip + 14 + overhead) * 8e6 / bits
        assert charged_us == pytest.approx(airtime_us(given, ip), abs=4.1 / int(rate))
    if rate == "54" and contention == "none":
        assert (airtime_us(given, FULL), airtime_us(given, ACK)) == (393.5, 181.5)


def test_the_limit_is_the_goodput_without_lost_acks() -> None:
    """An ACK for two full frames, or for each."""
    assert limit_bps(values()) == pytest.approx(8 * 1448 / (393.5 + 181.5 / 2) * 1e6)
    assert limit_bps(values(ack_every=1)) == pytest.approx(8 * 1448 / (393.5 + 181.5) * 1e6)
    assert limit_bps(values(rate=10**7)) == pytest.approx(1e7 * 1448 / 1514)
    # Each download has a wire of its own; the airtime is that of all.
    assert limit_bps(values(rate=2 * 10**6, down=3)) == pytest.approx(4 * 2e6 * 1448 / 1514)
    assert limit_bps(values(down=3)) == limit_bps(values())


# --- contention -------------------------------------------------------------------------------


def dcf(senders: int, window: int, doublings: int, events: int) -> tuple[float, float, int, int]:
    """Saturated DCF, slot by slot: how often a sender sends per slot, how often it then collides,
    idle slots and collisions per success in thousandths."""
    dice = random.Random(senders)
    stage = [0] * senders
    left = [dice.randrange(window) for _ in range(senders)]
    sent = lost = won = idle = collided = slots = 0
    while won < events:
        wait = min(left)
        idle += wait
        slots += wait + 1
        first = [i for i in range(senders) if left[i] == wait]
        left = [n - wait - 1 for n in left]
        sent += len(first)
        if len(first) == 1:
            won += 1
            stage[first[0]] = 0
        else:
            lost += len(first)
            collided += 1
            for i in first:
                stage[i] = min(stage[i] + 1, doublings)
        for i in first:
            left[i] = dice.randrange(window << stage[i])
    return sent / slots / senders, lost / sent, 1000 * idle // won, 1000 * collided // won


@pytest.mark.parametrize("senders", [2, 3, 7, 21])
def test_bianchi_agrees_with_a_simulation(senders: int) -> None:
    """The model assumes independent senders, which is least accurate for two."""
    tau, collides = wifi.attempts(senders, 16, 6)
    seen_tau, seen_collides, idle, collided = dcf(senders, 16, 6, 15_000)
    assert tau == pytest.approx(seen_tau, rel=0.03)
    assert collides == pytest.approx(seen_collides, rel=0.08)
    seen_us = (9 * idle + 300 * collided) / 1000
    assert wifi.contention(senders, 300) == pytest.approx(seen_us, rel=0.05)


def test_bianchi_where_it_is_known() -> None:
    """A lone sender never collides; without doubling tau is 2 / (W + 1) whatever p is."""
    assert wifi.attempts(1, 16, 6) == (pytest.approx(2 / 17), 0.0)
    assert wifi.attempts(10, 32, 0)[0] == pytest.approx(2 / 33)
    assert wifi.contention(1, 300) == pytest.approx(wifi.mean_backoff())
    # p = 1/2, where the closed form is 0/0
    tau, collides = wifi.attempts(2, 2, 40)
    assert tau == pytest.approx(collides)


def test_contention_costs_more_with_more_stations() -> None:
    shares = [limit_bps(values(n=n, contention="bianchi")) for n in (1, 2, 6, 20, 40)]
    assert shares == sorted(shares, reverse=True)
    assert limit_bps(values(n=20)) == limit_bps(values(n=1))


# --- the script -------------------------------------------------------------------------------


def test_hosts_and_flows() -> None:
    plan = compiled("reno+vegas+bbr", n=3)
    made = re.findall(r"^for ns in (.*); do echo netns add", plan.script, re.MULTILINE)
    assert made == ["ap rcv sta1 sta2 sta3"]
    calls = sends(plan.script)
    assert [(c.flow, c.netns, c.cc, c.address, c.port) for c in calls] == [
        ("station1", "sta1", "reno", "10.0.100.2", 5201),
        ("station2", "sta2", "vegas", "10.0.100.2", 5202),
        ("station3", "sta3", "bbr", "10.0.100.2", 5203),
    ]
    assert [flow.facts()["receiver_ns"] for flow in plan.flows] == ["rcv"] * 3
    assert script("cubic", n=3) == script("cubic+cubic+cubic", n=3)


def test_the_medium_has_a_class_each() -> None:
    """Class ids and handles are hexadecimal; a turn is one frame, whatever its size."""
    plan = compiled(n=20)
    classes = re.findall(
        r"parent 1:ff classid 1:(\w+) htb rate 8bit ceil (\d+)bit .* quantum (\d+)\n"
        r"qdisc add dev medium parent 1:(\w+) handle (\w+): pfifo limit (\d+)",
        plan.script,
    )
    assert [int(c[0], 16) for c in classes] == list(range(1, 22))
    assert classes[15][0] == "10"
    assert all(c[0] == c[3] and int(c[4], 16) == 0x100 + int(c[0], 16) for c in classes)
    rate, overhead = charge(values(n=20))
    assert {(int(c[1]), int(c[2])) for c in classes} == {(rate, overhead)}
    assert f"stab overhead {overhead} linklayer ethernet htb default 1\n" in plan.script
    (channel,) = [path.channel for path in plan.paths]
    assert channel is not None
    assert (channel.ap, channel.stations[0], channel.stations[19]) == ("101:", "102:", "115:")


def test_queues_and_the_wire() -> None:
    text = script(n=2, ap_queue=50, station_queue=30, delay=0.03, rate=2 * 10**7)
    found = re.findall(r"handle (\w+): pfifo limit (\d+)", text)
    assert found == [("101", "50"), ("102", "30"), ("103", "30")]
    for dev in ("to-rcv", "to-ap"):
        assert f"add dev {dev} root netem delay 30000us rate 20000000bit" in text


def test_addresses() -> None:
    """Each station is known by its own. The access point has the same at its end of each station's
    link; the wired host has another."""
    lines = script(n=2).splitlines()
    text = "\n".join(lines)
    for direction in ("ingress", "egress"):
        assert f"dev to-sta2 {direction} matchall action mirred egress redirect dev medium" in text
    for n in (1, 2):
        assert f"flower src_mac 02:00:00:00:0{n}:01 classid 1:{n + 1}\n" in text
        (made,) = [one for one in lines if f"peer name to-sta{n} netns ap" in one]
        assert made.endswith("address 02:00:00:00:00:02")
        assert f"neigh add 10.0.{n}.2 lladdr 02:00:00:00:00:02 dev to-ap nud permanent" in lines
    (wire,) = [one for one in lines if "peer name to-ap netns rcv" in one]
    assert wire.endswith("address 02:00:00:00:64:02")


def test_a_random_phase_spreads_each_stations_acks_over_a_round() -> None:
    """20 data frames and an ACK are 8.05 ms; the mean delay stays."""
    text = script(n=20, phase="random")
    found = re.findall(r"parent (\w+:\w+) netem delay 60000us (\d+)us rate 100000000bit", text)
    assert [place for place, _ in found] == [
        *(f"10:{i:x}" for i in range(1, 17)), *(f"11:{i:x}" for i in range(1, 5)),
    ]  # fmt: skip
    assert {spread for _, spread in found} == {str(round((20 * 393.5 + 181.5) / 2))}
    assert re.findall(r"parent 11: protocol ip prio 1 flower dst_ip (\S+) classid (\S+)", text) == [
        (f"10.0.{i}.1", f"11:{i - 16}") for i in range(17, 21)
    ]


def test_acks_for_every_segment_and_a_stack_that_does_not_see_its_queue() -> None:
    assert " quickack 1\n" in script(ack_every=1) and "quickack" not in script()
    assert "netem delay 1us" in script(tsq=0) and "netem delay 1us" not in script()


# --- downloads --------------------------------------------------------------------------------


def test_hosts_and_flows_of_downloads() -> None:
    """The stations that upload come first; each download has a host behind a wire of its own."""
    plan = compiled("reno+vegas", n=2, down=2, down_cc="bbr", warmup=1.0)
    (made,) = re.findall(r"^for ns in (.*); do echo netns add", plan.script, re.MULTILINE)
    assert sorted(made.split()) == "ap rcv srv1 srv2 sta1 sta2 sta3 sta4".split()
    calls = [(c.flow, c.netns, c.cc, c.address, c.port) for c in sends(plan.script)]
    assert calls[1:] == [
        ("station2", "sta2", "vegas", "10.0.100.2", 5202),
        ("download1", "srv1", "bbr", "10.0.3.1", 5203),
        ("download2", "srv2", "bbr", "10.0.4.1", 5204),
    ]
    assert [flow.facts()["receiver_ns"] for flow in plan.flows] == ["rcv", "rcv", "sta3", "sta4"]
    receivers = re.findall(r"^recv (\w+) (\w+)", plan.script, re.MULTILINE)
    assert receivers[2:] == [("download1", "sta3"), ("download2", "sta4")]


def test_stations_that_download_have_a_place_on_the_medium() -> None:
    """A class each for their ACKs; their data is the access point's, which has one queue."""
    plan = compiled(n=2, down=2)
    channel = plan.paths[0].channel
    assert channel is not None
    assert channel.stations == ("102:", "103:", "104:", "105:")
    assert channel.downloads == (
        (("ap", "to-srv1"), ("ap", "to-sta3")), (("ap", "to-srv2"), ("ap", "to-sta4")),
    )  # fmt: skip
    assert re.findall(r"handle (\w+): pfifo", plan.script) == ["101", "102", "103", "104", "105"]
    assert "flower src_mac 02:00:00:00:04:01 classid 1:5\n" in plan.script
    assert "dev to-sta4 egress matchall action mirred egress redirect dev medium" in plan.script
    crowded = {"n": 6, "contention": "bianchi"}
    assert charge(values(**crowded, down=4)) == charge(values(**crowded | {"n": 10}))


def test_the_wires_of_downloads() -> None:
    """The same both ways as rcv's; a random phase is that of a longer round: 2 + 1 data frames,
    one ACK."""
    wire = "root netem delay 60000us rate 100000000bit"
    fixed, spread = script(n=2, down=1), script(n=2, down=1, phase="random")
    for text in (fixed, spread):
        assert f"tc -n ap qdisc add dev to-srv1 {wire}" in text
    assert f"tc -n srv1 qdisc add dev to-ap {wire}" in fixed
    half = round((3 * 393.5 + 181.5) / 2)
    assert spread.count(f"netem delay 60000us {half}us rate 100000000bit") == 3
    links = [line for line in fixed.splitlines() if "to-srv1 netns ap" in line]
    assert len(links) == 1
    assert links[0].count("address 02:00:00:00:65:0") == 2


def test_stations_that_download_acknowledge_like_the_wired_host() -> None:
    """They have the same window and delay their ACKs likewise; the others have no such route.
    Without downloads their algorithm does not matter."""
    text = script(n=1, down=1, ack_every=1)
    assert "route add default via 10.0.1.2\n" in text
    assert "route add default via 10.0.2.2 window 1000000 quickack 1\n" in text
    assert script() == script(down_cc="bbr")
    assert "srv" not in script() and "link-ap.json" not in script()


def test_the_first_buffers_of_all_senders_fit_into_the_guest() -> None:
    """Up to 40 senders have 16 MiB each, more share what these have."""
    for stations, wanted in (({"n": 40}, 16_777_216), ({"n": 40, "down": 40}, 8_388_608)):
        assert f"tcp_wmem='4096 {wanted} 67108864'" in script(**stations)


# --- records ----------------------------------------------------------------------------------

PLAN = compiled("reno", n=2)
OVERHEAD = charge(values())[1]


def sample(time: float) -> list[dict[str, Any]]:
    """The medium at a time: 100 frames/s of the AP, 200 of each station, from 10 s on."""
    seconds = time - 10

    def leaf(handle: str, per_s: int, length: int, qlen: int, drops: float) -> dict[str, Any]:
        packets = round(per_s * seconds)
        size = length + OVERHEAD
        return dict(zip(("handle", *FIELDS), (handle, packets, packets * size, round(drops), qlen,
                                               qlen * size), strict=True))  # fmt: skip

    waiting = 10 if time < 15.5 else 20
    return [
        {"kind": "htb", "handle": "1:", "root": True, **dict.fromkeys(FIELDS, 0)},
        leaf("101:", 100, 66, waiting, 7 * seconds),
        leaf("102:", 200, 1514, 3, 0),
        leaf("103:", 200, 1514, 3, 0),
    ]


def two(raw: Path) -> dict[str, Any]:
    """The raw folder of two stations, and the plan's facts about them."""
    files: dict[str, Any] = {}
    for i in (1, 2):
        info = {"min_rtt": 120_000, "total_retrans": 5, "data_segs_out": 999, "snd_mss": 1448}
        times = range(T0_US, 26_000_000, 100_000)
        files |= {
            f"station{i}.send.json": send_log(
                samples=[[t, 10, 180_000, 1] for t in times], info=info, end_us=26_000_000
            ),
            f"station{i}.recv.json": {"bins": bins((10.5, 26.0, 1000 * i))},
            f"warmup-sta{i}.json": {"kernel": {"TcpExtTCPTimeouts": 1}},
            f"nstat-sta{i}.json": {"kernel": {"TcpExtTCPTimeouts": 3}},
        }
    leaves = (("101:", 120), ("102:", 4), ("103:", 1))
    lines = [f"{t / 10} {json.dumps(sample(t / 10))}\n" for t in range(100, 262)]
    files |= {
        "nstat-rcv.json": {"kernel": {"TcpExtTCPDSACKOldSent": 2, "TcpExtTCPDSACKOfoSent": 0}},
        "qdisc-ap.json": [
            *(qdisc("medium", drops, "pfifo", handle=handle) for handle, drops in leaves),
            qdisc("to-rcv", 0, handle="8001:"),
        ],
        "qdisc-rcv.json": [qdisc("to-ap", 0)],
        "queue.jsonl": "".join(lines),
        "events.log": "queue_sampling on 10.0\nwarmup off 15.5\n",
    }
    fill(raw, files)
    return meta(scenario="wlan", cc="reno") | PLAN.facts() | {"duration_s": 10.0}


def test_a_record(tmp_path: Path) -> None:
    record = compute(tmp_path, two(tmp_path))
    assert record["interval"] == {"from_s": 5.5, "over_s": 10.0}
    assert [flow["goodput_bps"] for flow in record["flows"]] == [8e5, 1.6e6]
    assert record["jain"] == 0.9
    queue = record["queue"]
    assert (queue["mean_packets"], queue["max_packets"]) == (20.0, 20)
    assert (queue["mean_bytes"], queue["max_bytes"]) == (20 * 66, 20 * 66), "as sent, not charged"
    assert queue["mean_ms"] == 200.0, "20 packets, 100 a second"
    # 10.5 s of the sampled series follow the warm-up
    assert queue["steady_drops"] == round(7 * 16.1) - round(7 * 5.5)
    assert (queue["drops"], record["ack_drops"], record["losses"]) == (120, 120, 5)
    assert [flow["station_drops"] for flow in record["flows"]] == [4, 1]
    assert [flow["frames"] for flow in record["flows"]] == [2000, 2000]
    medium = record["medium"]
    assert (medium["ap_frames"], medium["station_frames"]) == (1000, 4000)
    assert medium["ap_drops"] == 70, "of the 10 s that are measured, not of what follows"
    assert medium["airtime"] == pytest.approx((400 * 393.5 + 100 * 181.5) / 1e6, rel=1e-3)
    assert [flow["steady"] for flow in record["flows"]] == [{"retransmits": 4, "timeouts": 2}] * 2
    assert record["duplicates"] == 2
    for flow in record["flows"]:
        assert not {"duplicates", "queue_drops"} & flow.keys(), "one receiver's: nobody's share"
        assert {"own", "window_bytes"} <= flow.keys()
    shown = {column.heading: column.value(record) for column in WLAN.columns([record])}
    assert (shown["uploads"], shown["downloads"]) == (None, None)
    assert shown["ACKs lost %"] == pytest.approx(100 * 70 / 1070)


def test_without_samples_there_is_no_record(tmp_path: Path) -> None:
    told = two(tmp_path)
    (tmp_path / "queue.jsonl").write_text(f"10.0 {json.dumps(sample(10.0))}\n")
    with pytest.raises(RecordError, match=r"queue.jsonl has no samples of the interval"):
        compute(tmp_path, told)


def test_a_record_with_a_download(tmp_path: Path) -> None:
    """The second station's flow is one: what the access point's queue dropped is split by what came
    from its host and did not go to it; its station's own drops are ACKs."""
    told = two(tmp_path) | compiled("reno", n=1, down=1).facts() | {"duration_s": 10.0}
    for name in ("send", "recv"):
        (tmp_path / f"station2.{name}.json").rename(tmp_path / f"download1.{name}.json")
    for name in ("warmup", "nstat"):
        (tmp_path / f"{name}-sta2.json").rename(tmp_path / f"{name}-srv1.json")
    links = [link("to-rcv", 5000, 0), link("to-srv1", 900, 0), link("to-sta2", 0, 880)]
    (tmp_path / "link-ap.json").write_text(json.dumps(links))
    (tmp_path / "qdisc-srv1.json").write_text("[]")
    record = compute(tmp_path, told)
    upload, download = record["flows"]
    assert (download["name"], download["cc"]) == ("download1", "cubic")
    assert (download["queue_drops"], "queue_drops" in upload) == (20, False)
    assert (record["queue"]["drops"], record["ack_drops"], record["losses"]) == (120, 101, 24)
    assert record["medium"]["acks"] == 5000
    shown = {column.heading: column.value(record) for column in WLAN.columns([record])}
    assert (shown["uploads"], shown["downloads"], shown["ACKs lost %"]) == (0.8, 1.6, 2.0)
