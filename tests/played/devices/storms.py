# SPDX-License-Identifier: GPL-2.0
"""The storms, in words and as shell lines on SHELL of sscop.py and shake.py.

A storm's lines take about STORM_S seconds. What they have changed is undone by `calm` afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.played import OURS

#: Before the storm, and how long it lasts; s.
CALM_S, STORM_S = 10, 20
#: Longer than sscop waits for a STAT (60 s).
LONG_S = 70
#: What TCP needs to find its rate, and what is watched beyond all that it may need; s.
FIND_S, MORE_S = 10, 5
#: TCP's longest timer, s.
RTO_S = 120


@dataclass(frozen=True)
class Storm:
    """``kept``: sscop loses nothing that it was given; ``resets``: those that may come of it;
    ``cuts``: TCP may be cut off for the whole time. ``before``: lines before the stream begins.
    """

    said: str
    does: str
    kept: bool = True
    seconds: int = STORM_S
    resets: str = ""
    cuts: bool = False
    before: str = ""

    @property
    def back_s(self) -> float:
        """The longest time until goodput is back.

        TCP's timer doubles: it asks again after as long as it was cut off, at most. If the answer
        acknowledges a segment that was sent once, before the storm, TCP has measured a round trip
        of twice the storm; its timer is then 9/8 of that.
        """
        measured = min(2 * self.seconds * 9 / 8, RTO_S) if self.cuts else 0
        return self.seconds + measured + FIND_S

    @property
    def after_s(self) -> int:
        """How long is watched after the storm."""
        return round(self.back_s) + MORE_S

    @property
    def whole_s(self) -> int:
        """Calm, storm and calm."""
        return CALM_S + self.seconds + self.after_s


def _held(said: str, does: str, cuts: bool = False, **more: str) -> Storm:
    """What is so for all of the storm."""
    return Storm(said, f"{does}; sleep {STORM_S}", cuts=cuts, **more)


def _steady(said: str, words: str, cuts: bool = False, **more: str) -> Storm:
    """netem's words on every link, both ways."""
    return _held(said, f"both {words}", cuts, **more)


def _turns(first: str, second: str, each_s: int) -> str:
    """Two states in turn."""
    turns = STORM_S // (2 * each_s)
    return f"for t in $(seq {turns}); do {first}; sleep {each_s}; {second}; sleep {each_s}; done"


EVERYTHING = "loss 10% duplicate 10% corrupt 10% jitter 15ms"
#: An ECN mark on each packet that waits for more than so long above the device.
MARKS = "tc qdisc {} dev $device root fq_codel limit 1000 target 1s interval 2s ce_threshold {}"

#: On the only link of sscop, on all paths of shake.
COMMON = {
    "loss-1": _steady("1 % of all frames are lost", "loss 1%"),
    "loss-10": _steady("10 %", "loss 10%"),
    "loss-30": _steady("30 %", "loss 30%"),
    "loss-60": _steady("60 %", "loss 60%", True),
    "loss-90": _steady("90 %", "loss 90%", True),
    "bursts": _steady(
        "Gilbert–Elliott: of each frame 3 % begin a burst, 20 % end it; 13 % are lost",
        "loss gemodel 3% 20%",
    ),
    "long-bursts": _steady("the same with 2 % and 2 %: half are lost, 50 at a time",
                           "loss gemodel 2% 2%", True),
    "reorder": _steady("a quarter of the frames overtake all others", "reorder 25%"),
    "duplicate": _steady("30 % come twice", "duplicate 30%"),
    "corrupt": _steady("one bit of 10 % is wrong", "corrupt 10%"),
    "jitter": _steady("± 15 ms, frames overtake each other", "jitter 15ms"),
    "everything": _steady("10 % lost, 10 % twice, 10 % damaged, ± 15 ms", EVERYTHING),
    "no-sack": _steady("the same, TCP without SACK", EVERYTHING, before="options tcp_sack=0"),
    "no-stamps": _steady("the same, TCP without timestamps", EVERYTHING,
                         before="options tcp_timestamps=0"),
    "marks": _held("an ECN mark on each packet that waits above the device",
                   MARKS.format("change", "1us"),
                   before=f"options tcp_ecn=1; {MARKS.format('replace', '10s')}"),
    "zero": Storm("the receiver reads nothing: a window of zero",
                  f"kill -STOP $sip; sleep {STORM_S}; kill -CONT $sip"),
    "no-way": _steady("nothing arrives, either way", "loss 100%", True),
    "no-way-70": Storm("the same for 70 s", f"both loss 100%; sleep {LONG_S}", False, LONG_S,
                       "silence restart", True),
    "no-data": _held("nothing arrives at the receiver", "there loss 100%", True),
    "no-feedback": _held("nothing comes back", "back loss 100%", True),
    "one-in-two": Storm("nothing arrives in every other second",
                        _turns("both loss 100%", "calm", 1)),
    "slow": _held("a tenth of the rate", "rate $slow"),
    "fast": _held("ten times the rate", "rate $fast"),
    "rates": Storm("a tenth, then ten times the rate, 1 s each",
                   _turns("rate $slow", "rate $fast", 1)),
    "delay": _held("ten times the delay", "delay 200ms"),
    "delays": Storm("ten times the delay in every other second",
                    _turns("delay 200ms", "delay 20ms", 1)),
}  # fmt: skip

SSCOP = COMMON | {
    "mtu": Storm("the device below has an MTU of 600", f"below_mtu 600; sleep {STORM_S}", False,
                 resets="asked"),
    "mtus": Storm("600 and 1500 in turn, 2 s each",
                  _turns("below_mtu 600", "below_mtu 1500", 2), False,
                  resets="asked"),
    "flap": Storm("the near device below is down in every other second",
                  _turns("ip link set near down", "ip link set near up", 1), False, cuts=True),
    "far-flap": Storm("the far one", _turns("$far ip link set far down",
                                            "$far ip link set far up", 1), False),
}  # fmt: skip

#: Every `on N` is path N alone.
SHAKE = COMMON | {
    "one-30": _held("30 % of the first path's are lost", "on 1 loss 30%"),
    "one-no-way": _held("nothing by the first path", "on 1 loss 100%"),
    "one-no-data": _held("nothing there by the first path", "there_on 1 loss 100%"),
    "one-no-feedback": _held("nothing back by the first path", "back_on 1 loss 100%"),
    "turns": Storm("the first path and the second are silent in turn, 2 s each",
                   _turns("on 2; on 1 loss 100%", "on 1; on 2 loss 100%", 2)),
    "one-slow": _held("the first path has a tenth of the rate", "rate_on 1 $slow"),
    "one-delay": _held("the first path has ten times the delay", "delay_on 1 200ms"),
    "one-mtu": _held("the first path's MTU is 1000", "link_mtu 1 1000"),
    "mtu": _held("that of both", "link_mtu 1 1000; link_mtu 2 1000"),
    "mtus": Storm("1000 and 1500 in turn, 2 s each, the second path the other way round",
                  _turns("link_mtu 1 1000; link_mtu 2 1500",
                         "link_mtu 1 1500; link_mtu 2 1000", 2)),
    "one-flap": Storm("the first path's device is down in every other second",
                      _turns("device 1 down", "device 1 up", 1)),
    "flap": Storm("both paths' devices are", _turns("device 1 down; device 2 down",
                                                    "device 1 up; device 2 up", 1),
                  cuts=True),
}  # fmt: skip

STORMS = {"sscop": SSCOP, "shake": SHAKE}

#: The stream is CUBIC's. In these it is, one after the other, that of each of the project's.
WITH_EACH = ("everything", "reorder", "no-way", "rates")
STREAM, EACH = "cubic", OURS
