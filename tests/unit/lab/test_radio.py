# SPDX-License-Identifier: GPL-2.0
"""The scenario radio without a guest: bit errors as bytecode, limit, script, bad input, records."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.measures.record import RecordError
from apogee_lab.runs import request
from apogee_lab.scenarios import SCENARIOS, biterrors
from apogee_lab.scenarios.biterrors import Instruction
from apogee_lab.scenarios.radio import share
from tests.unit.lab.raw_folders import SYN_US, T0_US, compute, fill, meta, qdisc, send_log, write
from tests.unit.lab.stand_ins import planned

RADIO = SCENARIOS["radio"]
compiled = partial(planned, "radio")
BERS = (1e-8, 1e-7, 1e-6, 2e-5, 1e-4, 1e-3)


def script(**texts: str) -> str:
    return compiled(**texts).script


# --- bit errors -------------------------------------------------------------------------------


def loss_of(code: list[Instruction], length: int) -> float:
    """The probability that a filter, classic BPF, matches a frame: of each random number, which is
    compared once, both outcomes are followed."""

    def lost(at: int, value: int | None = None) -> float:
        op, true, false, operand = code[at]
        if op == biterrors.LOAD_LENGTH:
            return lost(at + 1, length)
        if op == biterrors.LOAD_WORD:
            assert operand == biterrors.RANDOM
            return lost(at + 1)
        if op == biterrors.IF_BIT_SET:
            assert value is not None
            return lost(at + 1 + (true if value & operand else false), value)
        if op == biterrors.IF_AT_LEAST:
            assert value is None and code[at - 1][0] == biterrors.LOAD_WORD
            below = operand / 2**32
            return below * lost(at + 1 + false) + (1 - below) * lost(at + 1 + true)
        assert op == biterrors.RETURN and operand in (biterrors.LOST, biterrors.KEPT)
        return float(operand == biterrors.LOST)

    return lost(0)


@pytest.mark.parametrize("ber", BERS)
def test_the_loss_of_every_length_is_that_of_its_bits(ber: float) -> None:
    """To 2^-32 for each power of two in the length, and 1e-4 of itself."""
    code = biterrors.program(ber)
    found = [loss_of(code, length) for length in range(1, 2060)]
    for length, loss in enumerate(found, 1):
        wanted = -math.expm1(8 * length * math.log1p(-ber))
        assert abs(loss - wanted) <= length.bit_count() * 2**-32
    assert sorted(found) == found
    assert loss_of(code, 65549) == pytest.approx(-math.expm1(8 * 65549 * math.log1p(-ber)))
    for length in (1, 60, 142, 1514, 2056):
        wanted = 1 - 0.99 * (1 - ber) ** (8 * length)
        assert loss_of(biterrors.program(ber, 0.01), length) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("ber", "loss"), [(0.0, 0.0), (1e-5, 0.0), (0.0, 0.3), (1e-3, 0.5), (0, 1)]
)
def test_the_bytecode_is_what_tc_reads(ber: float, loss: float) -> None:
    """The number of instructions, then code (16 bits), two steps (8 bits), operand (32 bits)."""
    count, *parts = biterrors.bytecode(ber, loss).split(",")
    code = [tuple(map(int, part.split())) for part in parts]
    assert int(count) == len(code) < 256
    assert all(0 <= op < 2**16 and 0 <= k < 2**32 for op, _, _, k in code)
    for at, (op, true, false, _) in enumerate(code):
        assert op == biterrors.RETURN or at + 1 + max(true, false) < len(code)
    # an outage loses everything, and no error nothing
    assert loss_of(biterrors.program(0.0, 1.0), 60) == 1
    assert loss_of(biterrors.program(0.0, 0.0), 60) == 0


# --- the limit --------------------------------------------------------------------------------


def ideal_mbit(segment: int, ber: float, polls_per_sd: float) -> float:
    """Goodput in Mbit/s of 2 Mbit/s with 1500 B packets: each SD has 22 B in front, one of less
    than 56 B of payload 23 B, each POLL 26 B."""
    pieces = [segment] * (1500 // segment) + ([1500 % segment] if 1500 % segment else [])
    cost = 0.0
    for piece in pieces:
        frame = piece + (22 if piece >= 56 else 23)
        times = (1 - ber) ** (-8 * frame)
        cost += times * (frame + 26 * polls_per_sd)
    return 2 * 1448 / cost


@pytest.mark.parametrize("ber", [0.0, 1e-6, 1e-4])
@pytest.mark.parametrize("segment", [64, 128, 256, 512, 1024, 1500, 2048])
def test_the_limit_is_the_sum_over_real_segments(segment: int, ber: float) -> None:
    plan = compiled(segment=f"{segment}", ber=f"{ber}", poll_bytes="0", poll_sd="16")
    assert plan.limit_bps / 1e6 == pytest.approx(ideal_mbit(segment, ber, 1 / 16), rel=1e-9)
    by_bytes = compiled(segment=f"{segment}", ber=f"{ber}", poll_bytes="3kB")
    assert by_bytes.limit_bps == pytest.approx(plan.limit_bps, rel=0.03)


@pytest.mark.parametrize("ber", ["0", "1e-6", "1e-5", "1e-4"])
def test_auto_has_the_limit_of_the_best_size(ber: str) -> None:
    fixed = [compiled(segment=f"{n}", ber=ber).limit_bps for n in (64, 128, 256, 512, 1024, 1500)]
    assert max(fixed) <= compiled(ber=ber).limit_bps <= 1.02 * max(fixed)


def test_the_limit_of_tcp_alone_is_that_of_full_frames() -> None:
    plan = compiled(segment="0", ber="1e-5", mtu="500")
    wanted = 2e6 * (500 - 52) / 514 * (1 - 1e-5) ** (8 * 514)
    assert plan.limit_bps == pytest.approx(wanted)


def test_the_limit_follows_events() -> None:
    values = {**RADIO.defaults(), "segment": 256}
    low, high = (2e6 * share(values, 2e6, ber, 0.0) for ber in (1e-6, 1e-4))
    plan = compiled(segment="256", ber="1e-6", event="ber:1e-4@20.1s:30s")
    assert plan.limit_bps == pytest.approx((low + high) / 2)
    half = compiled(segment="0", event="outage@30.1s:30s+rate:1mbit@0.1s", duration_s=60.1)
    assert half.paths[0].rate_bps == pytest.approx(1e6)
    assert half.limit_bps == pytest.approx(1e6 * 1448 / 1514 * 30.1 / 60.1, rel=1e-3)


# --- the script -------------------------------------------------------------------------------


def test_tcp_alone_has_no_sscop() -> None:
    alone, above = script(segment="0"), script(segment="128", sscop_window="512")
    assert "sscop" not in alone
    assert compiled(segment="0").devices == ()
    assert request.brought_modules(RADIO, [compiled(segment="0")]) == []
    assert request.brought_modules(RADIO, [compiled(segment="128")]) == ["sscop"]
    assert "\nmodprobe sscop\n" in above
    assert " type sscop" in above
    for word in ("segment 128", "window 512", "poll-bytes 3000", "poll-time 100000us", "ustat on"):
        assert word in above


def test_the_bucket_holds_the_longest_frame_and_windows_are_packets() -> None:
    """So a host never sends two frames at once."""
    assert f" window {36 * 1448}" in script(window="36")
    assert f" window {36 * 448}" in script(window="36", mtu="500")
    assert " window " not in script(window="0", segment="0")
    for segment, burst in (("0", 1514), ("2048", 1522), ("512", 534), ("64", 119), ("auto", 1522)):
        assert f" burst {burst}b " in script(segment=segment)
    assert "to-air netns gw mtu 2057 " in script(segment="2048")


def test_the_queue_above_is_the_same_with_every_kernel() -> None:
    """Debian's would be fq_codel, others' pfifo_fast."""
    assert "qdisc add dev sscop0 root pfifo;" in script()
    assert "qdisc add dev sscop0" not in script(qdisc="default")
    wanted = "qdisc add dev sscop0 root fq_codel limit 100 target 100000us interval 500000us;"
    assert wanted in script(qdisc="fq_codel", qdisc_limit="100", target="100ms", interval="500ms")
    assert "parent 1:1 handle 2: fq_codel" in script(qdisc="fq_codel", segment="0")
    assert "parent 1:1" not in script(segment="0")


def test_events_are_replayed_at_their_times() -> None:
    text = script(segment="256", ber="1e-6", event="ber:1e-4@20s:20s+rate:1mbit@30s+delay:9ms@5s")
    for at, dev, ber in ((20, "to-gw", 1e-4), (40, "to-mh", 1e-6)):
        words = f"pref 1 handle 1 protocol all {biterrors.filter_words(ber, 0.0, 1523)}"
        assert f"\n{at} filter replace dev {dev} ingress {words}" in text
    assert text.count("\n30 qdisc change dev to-air root handle 1: tbf rate 1000000bit ") == 2
    assert text.count("netem delay 9000us rate 100gbit") == 2
    own = script(segment="256", ber="1e-6", ack_ber="0", event="ber:1e-4@20s:20s")
    assert own.count("filter replace dev to-mh") == 0


def test_a_box_has_the_queue_and_the_rate() -> None:
    """The host's device is a fast Ethernet then, and bit errors follow the box."""
    text = script(box="1", queue="60kB", back="500kbit", ber="1e-6")
    for ns, rate in (("gw", 2_000_000), ("mh", 500_000)):
        assert f"-n {ns} qdisc add dev to-air root handle 1: tbf rate 1000000000bit " in text
        words = f"dev box-{ns} parent 9:1 handle 1: tbf rate {rate}bit burst 1522b limit 60000b"
        assert words in text
        assert f"filter add dev from-{ns} ingress pref 1 " in text
    assert compiled(box="1").paths[0].data_filters == (("air", "from-gw"),)
    moved = script(box="1", event="rate:1mbit@30s", back="500kbit")
    assert "\n30 qdisc change dev box-gw parent 9:1 handle 1: tbf rate 1000000bit " in moved
    assert "\n30 qdisc change dev box-mh parent 9:1 handle 1: tbf rate 250000bit " in moved


def test_turns_halve_the_rate() -> None:
    """Each way by itself: a turn of 40 ms holds six frames at 2 Mbit/s, one at 300 kbit/s."""
    text = script(turn="40ms", back="300kbit")
    assert "\n0 qdisc change dev to-air parent 1:1 handle 2: plug block\n" in text
    assert "\n0.052176 qdisc change dev to-air parent 1:1 handle 2: plug release_indef" in text
    assert " tbf rate 2000000bit " in text and " tbf rate 150000bit " in text
    assert compiled(turn="40ms").limit_bps == pytest.approx(compiled().limit_bps / 2)
    for words in ({"event": "rate:1mbit@3s"}, {"segment": "0", "qdisc": "fq_codel"}):
        with pytest.raises(ValueError, match="turn"):
            script(turn="40ms", **words)


def test_a_driver_that_completes_late_hands_on_in_batches() -> None:
    assert "add dev nic-gw root netem slot 1000us 1000us limit" in script(completion="1ms")
    assert "nic-" not in script(completion="0s")


# --- records ----------------------------------------------------------------------------------

COUNTERS = """\
NIC statistics:
     sd_sent: {}
     sd_again: {}
     sd_repeated: {}
     segment_now: {}
     srtt_us: {}
"""


def radio(raw: Path, **changes: Any) -> dict[str, Any]:
    """A raw folder of a run of 10 s with SSCOP, pings and series; the plan's facts."""
    waiting = {"dev": "sscop0", "kind": "pfifo_fast", "root": True, "bytes": 0, "backlog": 3000}
    queue = "\n".join(
        f"{10 + t / 10} "
        + json.dumps([waiting | {"dev": "to-air", "bytes": 20_000 * t, "backlog": 0}, waiting])
        for t in range(120)
    )
    log = send_log(
        fields=["t_us", "snd_cwnd", "rtt", "total_retrans", "bytes_acked", "unacked"],
        samples=[[T0_US + 100_000 * i, 10, 500_000, 0, 14480 * i, 5] for i in range(100)],
        info={"min_rtt": 100_000, "total_retrans": 12, "data_segs_out": 8000, "snd_mss": 1448},
    )
    write(raw, send=log, queue=queue + "\n", **changes)
    files = {
        "nstat-snd.json": {"kernel": {"TcpExtTCPLossProbes": 4}},
        "qdisc-gw.json": [
            qdisc("sscop0", 3, "fq_codel", root=True),
            qdisc("to-air", 0, "tbf", root=True),
        ],
        "qdisc-air.json": [qdisc("to-gw", 70, "clsact"), qdisc("to-mh", 9, "clsact")],
        "ping.txt": "".join(
            f"64 bytes from 10.0.1.2: seq={n} ttl=63 time={100 + n}.000 ms\n" for n in range(100)
        ),
        "sscop-gw-begin.txt": COUNTERS.format(5, 0, 0, 256, 100_000),
        "sscop-gw-end.txt": COUNTERS.format(1005, 100, 30, 128, 120_000),
        "sscop-mh-begin.txt": COUNTERS.format(0, 0, 0, 256, 100_000),
        "sscop-mh-end.txt": COUNTERS.format(300, 2, 0, 256, 120_000),
        "sscop-series.txt": "".join(
            f"at {SYN_US / 1e6 + n / 20}\n" + COUNTERS.format(5 + 8 * n, 0, 0, 256, 1)
            for n in range(11)
        ),
    }
    fill(raw, files)
    return meta(
        scenario="radio", set={"series": "500ms"}, rate_bps=2_000_000, bottleneck=["gw", "sscop0"],
        data_links=[], ack_links=[], data_filters=[["air", "to-gw"]],
        ack_filters=[["air", "to-mh"]],
    )  # fmt: skip


def test_a_record_with_sscop(tmp_path: Path) -> None:
    record = compute(tmp_path, radio(tmp_path))
    assert record["link"]["utilisation"] == pytest.approx(0.8)
    assert record["link"]["bytes"] == 2_000_000
    assert record["sscop"]["again"] == pytest.approx(0.07)
    assert record["sscop"]["repeated"] == pytest.approx(0.03)
    assert record["sscop"]["gw"] == {
        "sd_sent": 1000, "sd_again": 100, "sd_repeated": 30, "segment_now": 128, "srtt_us": 120_000,
    }  # fmt: skip
    assert record["sscop"]["mh"]["sd_sent"] == 300
    assert (record["link_drops"], record["ack_drops"], record["queue"]["drops"]) == (70, 9, 3)
    assert (record["losses"], record["needless_retransmits"]) == (3, 12 - 3)
    assert record["flows"][0]["probes"] == 4
    # pings and sequence numbers
    assert record["ping"] == {
        "answers": 100, "mean_ms": 149.5, "p99_ms": 198.01, "max_ms": 199.0,
    }  # fmt: skip
    sequence = record["sequence"]
    assert (sequence["sd_s"][:3], sequence["sd"][:3]) == ([0.0, 0.05, 0.1], [0, 8, 16])
    assert (sequence["tcp_s"], sequence["tcp"]) == ([0.5], [5.0])


def test_a_record_of_tcp_alone(tmp_path: Path) -> None:
    told = radio(tmp_path)
    for path in [*tmp_path.glob("sscop-*"), tmp_path / "ping.txt"]:
        path.unlink()
    record = compute(tmp_path, told | {"set": {"series": "0s"}})
    assert record["losses"] == 73
    assert not {"sscop", "ping", "sequence"} & record.keys()


def test_packets_end_the_interval(tmp_path: Path) -> None:
    """12 kB in 10 ms: 6 MB have come after 5 s, of a run of 10 s at most."""
    told = radio(tmp_path, bins=[[T0_US + 10_000 * n, 12_000 * n] for n in range(1, 501)])
    told["flows"][0]["bytes"] = 6_000_000
    record = compute(tmp_path, told)
    assert record["total_goodput_bps"] == pytest.approx(9.6e6)
    assert record["link"]["bytes"] == 1_000_000


def test_a_run_that_is_not_whole(tmp_path: Path) -> None:
    told = radio(tmp_path)
    (tmp_path / "sscop-gw-end.txt").write_text("")
    with pytest.raises(RecordError, match="sscop-gw-end.txt has no counters"):
        compute(tmp_path, told)
