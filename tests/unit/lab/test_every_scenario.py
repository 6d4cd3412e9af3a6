# SPDX-License-Identifier: GPL-2.0
"""All scenarios without a guest: the shell takes their scripts, bad input is one line, AQM."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.commands import main
from apogee_lab.runs import request
from apogee_lab.scenarios import SCENARIOS, aqm, bundles
from tests.unit.lab.stand_ins import planned, sends, shell_errors

EVENTS = "rate:2mbit@30s+stall@10s:100ms+delay:300ms@20s:5s+outage@40s:1s+loss:1%@50s"
MOVING = f"event={EVENTS}+rate:5mbit@32s:4s jitter=5ms jitter_mean=10ms burst=none"
LONG_LINKS = (
    "ipv6=1 paths=4 rate=384kbit+1mbit+96kbit+2mbit flows=3",
    "stack=period window=20 cbr=128kbit outage=1s loss=0.5% event=outage@9s:3s "
    "event1=rate:1mbit@3s+delay:10ms@4s:2s+loss:1%@5s:1s",
)
#: Scenario, congestion controls, settings.
SCRIPTS = (
    """\
satellite star ack_blackout=none event=none
satellite-shared star
satellite-shared star ipv6=1 ber=1e-6 trace=all
satellite-shared star flows=20 ack_rate=100kbit ack_slot=20ms
satellite-shared star traffic=iperf3 start=0s+10s ack_blackout=5s:1s
requests star
requests star+cubic ipv6=1 ber=1e-6 trace=all
requests star+19*reno ack_rate=100kbit data_blackout=5s:1s
lfn star
lfn star n=0 reno=1
lfn star n=20 reno=20 ipv6=1 ber=1e-7 trace=all warmup=30s
lfn star aqm=red traffic=iperf3 spread=0s
lfn star aqm=fq_codel start=0s+10s reno_start=5s
wlan reno
wlan reno n=1
wlan reno n=40 ipv6=1 phase=random trace=all warmup=30s
wlan reno traffic=iperf3 tsq=0 ack_every=1 contention=bianchi
wlan reno n=40 down=40 ipv6=1 phase=random warmup=30s
radio cubic
radio cubic segment=0
radio cubic segment=256 ipv6=1 packets=100 ping=1 series=5s
radio cubic sender=gateway qdisc=fq_codel target=100ms interval=500ms
radio cubic segment=0 event=ber:1e-4@3s:2s+queue:30kB@4s+outage@5s:1s+delay:10ms@9s
""".splitlines()
    + [
        *(f"multipath cubic via={via}" for via in (*bundles.VIAS[:5], "path2")),
        *(f"multipath cubic via={v} {w}" for v in (*bundles.VIAS[:5], "path2") for w in LONG_LINKS),
        *(
            f"{scenario} reno {MOVING} traffic={traffic}"
            for scenario in ("satellite", "satellite-shared", "lfn", "leo")
            for traffic in ("flow", "iperf3")
        ),
    ]
)


@pytest.mark.parametrize("line", SCRIPTS)
def test_the_script_is_shell(line: str) -> None:
    name, cc, *texts = line.split()
    settings = request.parse_settings(texts, SCENARIOS[name])
    values = {name: value for name, (value,) in settings.items()}
    assert shell_errors(SCENARIOS[name].compile(values, cc, 60.0).script) == ""


#: A value by which a path loses frames, by the parameter's name.
LOSING = {
    **dict.fromkeys(("loss", "loss1", "loss2", "loss3", "loss4", "ack_loss"), "1%"),
    **dict.fromkeys(("ber", "ack_ber"), "1e-6"),
    **dict.fromkeys(("event", "event1", "event2", "event3", "event4"), "loss:1%@0s:1s"),
    **dict.fromkeys(("data_blackout", "ack_blackout"), "0s:1s"),
    "burst": "1%:50%", "burst_time": "1s:50ms", "loss_trace": "lossy.txt",
}  # fmt: skip
SEVERAL = {
    "satellite-shared": {"flows": "2"},
    "leo": {"flows": "2", "loss": "0%"},
    "requests": {},
    "multipath": {"flows": "2"},
    "lfn": {},
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_flows_wait_for_a_syn_that_may_be_lost(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first repetition comes after a second; `lfn` always waits for it, as its queue may lose
    one."""
    monkeypatch.chdir(tmp_path)
    Path("lossy.txt").write_text("0\n1\n")
    plan = partial(planned, name, cc="reno+reno" if name == "requests" else "reno")
    before = [send.seconds for send in sends(plan(**SEVERAL[name]).script)]
    names = [param.name for param in SCENARIOS[name].params if param.name in LOSING]
    assert len(names) > 1
    for losing in names:
        after = sends(plan(**SEVERAL[name] | {losing: LOSING[losing]}).script)
        more = [send.seconds - was for send, was in zip(after, before, strict=True)]
        assert all(s == 0 if name == "lfn" else 1 < s < 3 for s in more), losing


#: By command: what is added to it, KEY=VALUE for --set, and what is said about it. Values of no
#: kind are test_units.py's, those beyond an edge test_edges_of_parameters.py's.
BAD = {
    "run satellite-shared": [
        ("--cc star+star+star flows=2", "3 given, but there are 2 flows"),
        ("--cc star+50*reno", "names 51, but there are at most 50 flows"),
        ("--cc star+0*reno", "'0*reno' is neither NAME nor N*NAME"),
        ("--cc star+100*reno", "N from 1 to 99"),
        ("--cc star+reno*9", "'reno*9' is neither NAME nor N*NAME"),
        ("--cc star+*reno", "'*reno' is neither NAME nor N*NAME"),
        ("--cc star+9*", "'' is not a congestion control's name"),
        ("--cc star+9*reno bbr.x=1", "no flow or device uses 'bbr'"),
        ("--cc star+star flows=4", "2 given, but there are 4 flows"),
        ("--cc star+no.such", "'no.such' is not a congestion control's name"),
        ("--cc star+", "'' is not a congestion control's name"),
        ("queue=1kB", "queue: 1kB holds no packet; use at least 1.5kB"),
        ("start=0s+1s+2s", "start: 3 given"),
        ("start=0s,10s", "such as 0s+10s"),
        ("start=0s+soon", "start: '0s+soon' is not a time"),
        ("delays=0s+1s+2s", "delays: 3 given"),
        ("wired_rate=5mbit", "less than the satellite link's rate, 10mbit"),
        ("mtu=1200 ipv6=1", "at least 1280"),
        ("ack_blackout=60s:1s", "ends after the run, which lasts 60 s"),
        ("aqm_rtt=500ms", "aqm_rtt"),
        ("aqm_rtt=500ms aqm=red", "aqm_rtt"),
    ],
    "run requests": [
        ("sizes=" + "+".join(["1kB"] * 65), "sizes: 65 given, at most 64 are allowed"),
        ("traffic=iperf3", "unknown parameter 'traffic' of scenario requests"),
        ("--cc star+50*reno", "names 51, but there are at most 50 flows"),
        ("queue=1kB", "queue: 1kB holds no packet"),
    ],
    "run lfn": [
        ("--cc star+cubic+reno", "3 given, but there are 2 fast senders (n=2)"),
        ("--cc star+cubic n=3", "2 given, but there are 3 fast senders (n=3)"),
        ("--cc " + "+".join(["star"] * 21), "names 21, but there are at most 20 fast senders"),
        ("start=0s+1s+2s", "start: 3 given, but there are 2 fast senders (n=2)"),
        ("start=0s,10s", "start: 10s for all fast senders: give one per flow"),
        ("reno_start=0s+1s", "reno_start: 2 given, but there are 10 senders (reno=10)"),
        ("n=0 reno=0", "n=0 and reno=0: there are no senders"),
        ("aqm=red queue=84545", "aqm=red allows at most 84544 packets"),
        ("aqm=red event=rate:2mbit@3s", "aqm=red"),
        ("warmup=5s traffic=iperf3", "warmup: traffic=iperf3"),
        ("mtu=1200 ipv6=1", "at least 1280"),
    ],
    "run wlan --cc reno": [
        ("--cc reno+cubic", "2 given, but there are 10 stations (n=10)"),
        ("mtu=2400", "mtu: an 802.11 frame holds at most 2296 bytes"),
        ("warmup=5s traffic=iperf3", "warmup: traffic=iperf3"),
        ("phase=random delay=1ms", "at least half a round, here 3ms"),
        ("n=1 --duration 600", "is even for at most 558 s"),
        ("n=2 --duration 1200", "is even for at most 1116 s"),
        # between two frames of data there may be half an ACK: 393.5 and 90.75 us
        ("down=1 --duration 700", "is even for at most 687 s"),
        ("rule=3", "a module's parameter is written MODULE.PARAM"),
    ],
    "script multipath --duration 100": [
        ("via=path3", "via=path3: there are 2 paths: add paths=3"),
        ("rate=1mbit+2mbit paths=3", "rate: 2 given, but there are 3 paths"),
        ("ack=drop tdar=1", "ack and drop, tdar say the same"),
        ("drop=0 tdar=1", "tdar=1 drops ACKs, too"),
        ("via=mptcp outside=6", "is no tunnel and has no outside"),
        ("encrypt=1 auth=0", "encrypt=1 requires auth=1"),
        ("qdisc_target=900ms", "qdisc_target and qdisc_interval are fq_codel's"),
        ("qdisc=default qdisc_interval=3s", "add qdisc=fq_codel"),
        ("event=stall@3s:1s", "scenario multipath has no stall"),
        ("event2=outage@99s:2s", "ends after the run"),
        ("event=rate:1bit@9s", "out of range"),
        ("cbr=384kbit", "cbr leaves nothing of the second path"),
        ("ipv6=1 mtu=1300", "at least 1280 inside of the tunnel"),
    ],
    "script radio": [
        ("segment=10", "segment: 10 is out of range, allowed: 0, auto, or from 64 to 65000"),
        ("event=stall@3s:1s", "scenario radio has no stall"),
        ("event=queue:30kB@3s", "only TCP alone (segment=0) has that queue"),
        ("event=ber:1e-2@3s", "out of range, allowed: from 0 to 0.001"),
        ("event=outage@59s:2s", "ends after the run"),
        ("target=5ms", "target and interval are fq_codel's"),
        ("qdisc_limit=5 qdisc=default", "qdisc_limit requires"),
        ("qdisc_limit=5 segment=0", "the length of TCP alone's FIFO is queue"),
        ("ipv6=1 mtu=500", "ipv6 requires an mtu of at least 1280"),
        ("--cc reno+cubic", "radio has one flow"),
    ],
    "script satellite": [
        ("event=ber:1e-6@3s", "only scenario radio"),
        ("event=rate:2mbit", "event: 'rate:2mbit' is not rate:RATE@START"),
        ("event=rate:2mbit@60s", "ends after the run"),
        ("event=stall@59s:2s", "ends after the run"),
        ("event=rate:1kbit@3s", "from 9.6kbit to 100gbit"),
        ("event=delay:11s@3s", "from 0s to 10s"),
        ("event=stall@3s:2s+stall@4s:1s", "stall"),
        ("event=loss:1%@3s burst=1%:30%", "burst=none"),
        ("event=rate:2mbit@3s policer=100kB", "policer"),
        ("event=queue:30kB@3s policer=100kB", "policer"),
        ("policer=1kB", "1.514kB"),
        ("policer=1GB", "60 s"),
        ("policer=100kB aqm=cake", "aqm=cake"),
        ("jitter=200ms", "jitter_mean=96.411ms"),
    ],
    "script leo": [("rate=31mbit", "rate_low")],
}


@pytest.mark.parametrize(
    ("command", "added", "told"),
    [(command, *case) for command, cases in BAD.items() for case in cases],
)
def test_bad_usage_is_one_line_and_status_2(
    command: str, added: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [[word] if "=" not in word else ["--set", word] for word in added.split()]
    assert main.main([*command.split(), *sum(words, [])]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert told in said.err


# --- active queue management ------------------------------------------------------------------

BOTTLENECK = {"aqm": "none", "aqm_rtt": 0.0, "rate": 10**7, "mtu": 1500}


def aqm_lines(**values: Any) -> list[str]:
    return aqm.lines(BOTTLENECK | values, "to-sat", 100)


def test_the_queue_is_in_a_token_bucket_of_two_frames() -> None:
    root, child = aqm_lines(aqm="fq_codel")
    assert root == (
        "qdisc add dev to-sat root handle 1: tbf rate 10000000bit burst 3028b limit 151400b"
    )
    assert child == (
        "qdisc add dev to-sat parent 1:1 handle 2: fq_codel limit 100 memory_limit 507600"
    )


def test_what_round_trip_they_reckon_with() -> None:
    _, codel = aqm_lines(aqm="fq_codel", aqm_rtt=0.5)
    _, cake = aqm_lines(aqm="cake", aqm_rtt=0.5)
    assert codel.endswith(" target 25000us interval 500000us")
    assert cake.endswith("cake unlimited besteffort memlimit 507600b rtt 500000us")
    assert aqm_lines(aqm="cake")[1].endswith("memlimit 507600b")


def test_red_marks_between_a_third_and_the_whole_of_half_the_queue() -> None:
    _, red = aqm_lines(aqm="red")
    assert red.endswith(" bandwidth 10000000bit adaptive ecn")
    assert " red limit 151400 min 25233 max 75700 avpkt 1514 " in red
    _, fast = aqm_lines(aqm="red", rate=10**11)
    assert " bandwidth 34000000000bit " in fast


@pytest.mark.parametrize(
    ("values", "packets", "shaped", "words"),
    [
        ({"aqm": "red"}, 2, False, "at least 3 packets"),
        ({"aqm": "red"}, 84_545, False, "at most 84544 packets"),
        ({"aqm": "cake"}, 100, True, "must be constant"),
        ({"aqm_rtt": 0.5}, 100, False, "add aqm="),
        ({"aqm": "fq_codel", "aqm_rtt": 9e-6}, 100, False, "at least 1ms"),
    ],
)
def test_aqm_refused(values: dict[str, Any], packets: int, shaped: bool, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        aqm.check(BOTTLENECK | values, packets, shaped)


@pytest.mark.parametrize("kind", ["fq_codel", "cake", "red"])
@pytest.mark.parametrize("name", ["satellite", "satellite-shared", "requests", "lfn"])
def test_aqm_changes_the_bottlenecks_queue_only(name: str, kind: str) -> None:
    plain, managed = (
        SCENARIOS[name].compile({"aqm": how, "tcp_ecn": 1}, "cubic", 10.0).script.splitlines()
        for how in ("none", kind)
    )
    assert len([line for line in plain if line not in managed]) == 1
    root, child = (line for line in managed if line not in plain)
    assert " root handle 1: tbf rate 10" in root
    assert f" parent 1:1 handle 2: {kind} " in child
