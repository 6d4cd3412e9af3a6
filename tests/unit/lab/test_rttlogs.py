# SPDX-License-Identifier: GPL-2.0
"""`lab trace convert`: logs as the tools print them, to lines counted by hand."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from apogee_lab.commands import main
from apogee_lab.host import rttlogs
from apogee_lab.scenarios import tracefiles

PING = """\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=40.0 ms
no answer yet for icmp_seq=3
64 bytes from 192.0.2.1: icmp_seq=4 ttl=64 time=60.0 ms
64 bytes from 192.0.2.1: icmp_seq=4 ttl=64 time=61.2 ms (DUP!)
From 192.0.2.9 icmp_seq=5 Destination Host Unreachable

--- 192.0.2.1 ping statistics ---
6 packets transmitted, 2 received, +1 errors, 66.6667% packet loss, time 500ms
rtt min/avg/max/mdev = 40.000/50.000/60.000/10.000 ms
"""
BSD = """\
PING 192.0.2.1 (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: icmp_seq=0 ttl=56 time=10.5 ms
Request timeout for icmp_seq 1
64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=12.5 ms
3 packets transmitted, 2 packets received, 33.3% packet loss
"""
BUSYBOX = "64 bytes from 192.0.2.1: seq=0 ttl=64 time=3.000 ms\n"
IRTT = """\
[Connecting] connecting to 192.0.2.1
seq=0 rtt=60.2ms rd=30ms sd=30.2ms ipdv=n/a
seq=2 rtt=1.0001s rd=500ms sd=500.1ms ipdv=940ms
seq=1 rtt=900µs rd=500µs sd=400µs ipdv=n/a

                duration: 812ms (wait 0s)
   packets sent/received: 5/3 (40.00% loss)
"""


def log_of(folder: Path, text: str | bytes, interval_s: float | None = None) -> rttlogs.Log:
    path = folder / "log"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return rttlogs.read(path, interval_s)


def answered(log: rttlogs.Log) -> list[float | None]:
    return [None if np.isnan(rtt) else round(float(rtt), 6) for rtt in log.rtt_ms]


def test_ping(tmp_path: Path) -> None:
    """Six probes, of which the second and the fourth came back; 500 ms for five intervals."""
    log = log_of(tmp_path, PING)
    assert answered(log) == [None, 40, None, 60, None, None]
    assert log.sent_s.tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert "every 100 ms (the log's duration" in log.assumed[0]
    assert log_of(tmp_path, PING, 0.2).sent_s[-1] == pytest.approx(1.0)


def test_other_pings(tmp_path: Path) -> None:
    log = log_of(tmp_path, BSD)
    assert answered(log) == [10.5, None, 12.5]
    assert log.sent_s.tolist() == [0, 1, 2]
    assert "every 1000 ms (ping's default" in log.assumed[0]
    assert answered(log_of(tmp_path, BUSYBOX)) == [3]


def test_ping_with_irregular_time_stamps(tmp_path: Path) -> None:
    """A stamp is the answer's arrival; the lost third probe lies between the second and fourth."""
    text = "".join(
        f"[{at}] 64 bytes from 192.0.2.1: icmp_seq={n} ttl=64 time={ms} ms\n"
        for n, at, ms in ((1, 1000.05, 50), (2, 1000.35, 100), (4, 1001.30, 50))
    )
    log = log_of(tmp_path, text)
    assert log.sent_s.tolist() == pytest.approx([0, 0.25, 0.75, 1.25])
    assert answered(log) == [50, 100, None, 50]


def test_pings_numbers_wrap(tmp_path: Path) -> None:
    text = "".join(
        f"64 bytes from 192.0.2.1: icmp_seq={n % 65536} ttl=64 time=1.0 ms\n"
        for n in itertools.chain(range(1, 70_000), (70_001, 70_000, 70_002))
    )
    log = log_of(tmp_path, text, 0.01)
    assert len(log.sent_s) == 70_002
    assert not np.isnan(log.rtt_ms).any()


@pytest.mark.parametrize(
    "line",
    [
        "64 Bytes von localhost (::1): icmp_seq=3 ttl=64 Zeit=14.5 ms",
        "64 octets de localhost (::1) : icmp_seq=3 ttl=64 temps=14.5 ms",
        "64 байт от localhost (::1): icmp_seq=3 ttl=64 время=14.5 мс",
        "16 bytes from 2001:db8::1, icmp_seq=3 hlim=64 time=14.500 ms",
        "64 bytes from host: icmp_seq=3 ttl=64 time=14.5 ms (DUP!)",
    ],
)
def test_pings_of_other_languages(tmp_path: Path, line: str) -> None:
    end = "4 Pakete übertragen, 1 empfangen, 75% Paketverlust, Zeit 300ms"
    log = log_of(tmp_path, f"{line}\n{end}\n")
    assert answered(log) == [None, None, 14.5, None]
    assert log.sent_s[-1] == pytest.approx(0.3)


def test_a_line_of_ping_without_a_time_is_no_answer(tmp_path: Path) -> None:
    """A packet with less than 16 bytes of data has no time."""
    text = "16 bytes from 192.0.2.1: icmp_seq=1 ttl=64{}\n64 bytes from x: icmp_seq=2 time=3 ms\n"
    for end in ("", " (DUP!)", " time=1..5 ms"):
        assert answered(log_of(tmp_path, text.format(end))) == [None, 3]


@pytest.mark.parametrize(
    ("head", "lost", "right"),
    [
        ("PING 192.0.2.1 (192.0.2.1): 56 data bytes", "", [None, 10, None]),
        ("PING6(56=40+8+8 bytes) ::1 --> ::1", "", [None, 10, None]),
        ("", "Request timeout for icmp_seq 0", [None, 10, None]),
        ("PING ::1(::1) 56 data bytes", "", [10, None]),
        ("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.", "", [10, None]),
    ],
)
def test_the_first_and_the_last_probe_are_lost(
    tmp_path: Path, head: str, lost: str, right: list[float | None]
) -> None:
    """BSD's ping counts from 0, that of iputils from 1; a log that was cut off has no summary."""
    answer = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=10.0 ms"
    text = f"{head}\n{lost}\n{answer}\nno answer yet for icmp_seq=2\n"
    assert answered(log_of(tmp_path, text)) == right


def test_the_wait_at_irtts_end_is_no_interval(tmp_path: Path) -> None:
    """100 probes every 10 ms, the last one lost: 990 ms, and 600 ms of waiting for it."""
    lines = "".join(f"seq={n} rtt=200ms rd=100ms sd=100ms ipdv=n/a\n" for n in range(99))
    end = "   duration: 1.59s (wait 600ms)\n   packets sent/received: 100/99 (1.00% loss)\n"
    log = log_of(tmp_path, lines + end)
    assert log.sent_s[-1] == pytest.approx(0.99)


def test_irtt(tmp_path: Path) -> None:
    log = log_of(tmp_path, IRTT)
    assert answered(log) == [60.2, 0.9, 1000.1, None, None]
    assert log.sent_s[1] == pytest.approx(0.203)
    assert rttlogs._go_s("1m0.5s") == pytest.approx(60.5)


def test_irtts_json(tmp_path: Path) -> None:
    """Times in ns, compressed or not."""
    trips = [
        {
            "lost": lost,
            "timestamps": {"client": {"send": {"wall": 10**18 + at, "monotonic": at}}},
            "delay": {} if rtt is None else {"rtt": rtt},
        }
        for at, rtt, lost in (
            (5_000_000, 40_000_000, "false"),
            (25_000_000, None, "true_down"),
            (49_000_000, 60_000_000, "false"),
        )
    ]
    text = json.dumps({"round_trips": trips})
    for data in (text.encode(), gzip.compress(text.encode())):
        log = log_of(tmp_path, data)
        assert answered(log) == [40, None, 60]
        assert log.sent_s.tolist() == pytest.approx([0, 0.02, 0.044])
    assert "0 lost on the way to its server, 1 back" in log.assumed[0]


def test_tables(tmp_path: Path) -> None:
    """Those of LENS: irtt's in ns with lost probes, ping's in s without."""
    text = "timestamp,rtt,uplink,downlink\n"
    text += "1705744800600000000,40,20,20\n1705744800610000000,0,0,-1\n1705744800625000000,-1,0,0\n"
    log = log_of(tmp_path, text)
    assert answered(log) == [40, None, None]
    assert log.sent_s.tolist() == pytest.approx([0, 0.01, 0.025], abs=1e-6)
    log = log_of(tmp_path, "timestamp,rtt\n1705744800.55,50\n1705744800.65,100\n")
    assert answered(log) == [50, 100]
    assert log.sent_s.tolist() == pytest.approx([0, 0.05], abs=1e-6)
    assert "lost ones are not told" in log.assumed[0]


def test_lines_of_the_traces() -> None:
    """Probes at 0, 20, 44 ms, the second one lost; a line holds until the next probe's."""
    log = rttlogs.Log(np.array([0, 0.02, 0.044]), np.array([40, np.nan, 60]), ())
    delays, losses = rttlogs.traces(log)
    assert delays.tolist() == [20, 20, 20, 20, 30, 30, 30]
    assert losses.tolist() == [0, 0, 100, 100, 0, 0, 0]


def test_probes_that_share_a_line() -> None:
    """Every 2 ms, five a line: of the first five two are lost, of the next none."""
    rtt = np.array([10, np.nan, np.nan, 14, 16, 20, 20, 20, 20, 22])
    delays, losses = rttlogs.traces(rttlogs.Log(np.arange(10) * 0.002, rtt, ()))
    assert losses.tolist() == [40, 0]
    assert delays.tolist() == [8, 11]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files it writes are traces; it says what it assumed."""
    log = tmp_path / "ping.txt"
    log.write_text(PING)
    assert main.main(["trace", "convert", str(log), "--to", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "6 probes, 4 lost; RTT 40 ms at least" in said
    assert said.count("assumed: ") == 3
    delays = tracefiles.delay_steps(f"{log}.delay", 0.6)
    losses = tracefiles.loss_steps(f"{log}.loss", 0.6)
    assert delays == [(0, 0.02), (0.3, 0.03)]
    assert losses == [(0, 1), (0.1, 0), (0.2, 1), (0.3, 0), (0.4, 1)]


def _trip(at: object, rtt: int) -> str:
    return (
        '{"round_trips": [{"lost": "false", "timestamps": {"client": {"send": {"wall": '
        f'{at}}}}}}}, "delay": {{"rtt": {rtt}}}}}]}}'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"100\n200\n", "no probes of ping or irtt"),
        (b"", "no probes of ping or irtt"),
        (b"3 packets transmitted, 0 received, 100% packet loss, time 2000ms", "was answered"),
        (b"\xff\xfe", "neither text nor compressed text"),
        (b"\x1f\x8bno", "neither text nor compressed text"),
        (b'{"round_trips": 3}', "not irtt's JSON"),
        (b"{", "not irtt's JSON"),
        (b"timestamp,rtt\n1,2,3\n", "not a table of timestamp,rtt"),
        (b"timestamp,rtt,x\n1,2,3\n", "columns timestamp,rtt,x, not"),
        (b"timestamp,rtt\n", "no probes of ping or irtt"),
        (BUSYBOX.replace("3.000", "30000").encode(), "an RTT of more than 20000 ms"),
        (f"{BUSYBOX}{10**12} packets transmitted, 1 received, 0% loss".encode(), "probes, at most"),
        (f"seq={10**12} rtt=1ms\n".encode(), "probes, at most"),
        pytest.param(b'{"a":' * 100_000, "not irtt's JSON", id="deep"),
        pytest.param(_trip(10**400, 1).encode(), "not irtt's JSON", id="long"),
        (_trip("NaN", 1).encode(), "a time stamp is not a number"),
        (_trip("Infinity", 1).encode(), "a time stamp is not a number"),
        (_trip(1, -1).encode(), "a negative RTT"),
        (b"timestamp,rtt\nnan,1\n", "a time stamp is not a number"),
        (b"timestamp,rtt\n1,-1\n", "a negative RTT"),
    ],
)
def test_no_log_is_one_line(
    tmp_path: Path, text: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(text)
    assert main.main(["trace", "convert", str(log), "--to", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
