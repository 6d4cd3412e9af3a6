# SPDX-License-Identifier: GPL-2.0
"""The storms, in words and as shell lines on SHELL of sscop.py and shake.py.

A storm's lines take about STORM_S seconds. What they have changed is undone by `calm` afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Before the storm, how long it lasts, and what is watched after it beyond that; s.
CALM_S, STORM_S, MORE_S = 10, 20, 25
#: Longer than sscop waits for a STAT (60 s).
LONG_S = 70


@dataclass(frozen=True)
class Storm:
    """``heard``: nothing may be lost that was given to sscop, and there is no reset."""

    said: str
    does: str
    heard: bool = True
    seconds: int = STORM_S

    @property
    def after_s(self) -> int:
        """TCP's timer doubles: it asks again after as long as it was cut off, at most."""
        return self.seconds + MORE_S

    @property
    def whole_s(self) -> int:
        """Calm, storm and calm."""
        return CALM_S + self.seconds + self.after_s


def _steady(said: str, words: str) -> Storm:
    """netem's words on every link, both ways."""
    return Storm(said, f"both {words}; sleep {STORM_S}")


def _turns(first: str, second: str, each_s: int) -> str:
    """Two states in turn."""
    turns = STORM_S // (2 * each_s)
    return f"for t in $(seq {turns}); do {first}; sleep {each_s}; {second}; sleep {each_s}; done"


#: On the only link of sscop, on all paths of shake.
COMMON = {
    "loss-1": _steady("1 % of all frames are lost", "loss 1%"),
    "loss-10": _steady("10 %", "loss 10%"),
    "loss-30": _steady("30 %", "loss 30%"),
    "loss-60": _steady("60 %", "loss 60%"),
    "loss-90": _steady("90 %", "loss 90%"),
    "bursts": _steady(
        "Gilbert–Elliott: of each frame 3 % begin a burst, 20 % end it; 13 % are lost",
        "loss gemodel 3% 20%",
    ),
    "long-bursts": _steady("the same with 2 % and 2 %: half are lost, 50 at a time",
                           "loss gemodel 2% 2%"),
    "reorder": _steady("a quarter of the frames overtake all others", "reorder 25%"),
    "duplicate": _steady("30 % come twice", "duplicate 30%"),
    "corrupt": _steady("one bit of 10 % is wrong", "corrupt 10%"),
    "jitter": _steady("± 15 ms, frames overtake each other", "jitter 15ms"),
    "everything": _steady(
        "10 % lost, 10 % twice, 10 % damaged, ± 15 ms",
        "loss 10% duplicate 10% corrupt 10% jitter 15ms",
    ),
    "no-way": Storm("nothing arrives, either way", f"both loss 100%; sleep {STORM_S}"),
    "no-way-70": Storm("the same for 70 s", f"both loss 100%; sleep {LONG_S}", False, LONG_S),
    "no-data": Storm("nothing arrives at the receiver", f"there loss 100%; sleep {STORM_S}"),
    "no-feedback": Storm("nothing comes back", f"back loss 100%; sleep {STORM_S}"),
    "one-in-two": Storm("nothing arrives in each other second",
                        _turns("both loss 100%", "calm", 1)),
    "slow": Storm("a tenth of the rate", f"rate 400kbit; sleep {STORM_S}"),
    "fast": Storm("ten times the rate", f"rate 40mbit; sleep {STORM_S}"),
    "rates": Storm("a tenth, then ten times the rate, 1 s each",
                   _turns("rate 400kbit", "rate 40mbit", 1)),
    "delay": Storm("ten times the delay", f"delay 200ms; sleep {STORM_S}"),
    "delays": Storm("ten times the delay in each other second",
                    _turns("delay 200ms", "delay 20ms", 1)),
}  # fmt: skip

SSCOP = COMMON | {
    "mtu": Storm("the device below has an MTU of 600", f"below_mtu 600; sleep {STORM_S}", False),
    "mtus": Storm("600 and 1500 in turn, 2 s each",
                  _turns("below_mtu 600", "below_mtu 1500", 2), False),
    "flap": Storm("the near device below is down in each other second",
                  _turns("ip link set near down", "ip link set near up", 1), False),
    "far-flap": Storm("the far one", _turns("$far ip link set far down",
                                            "$far ip link set far up", 1), False),
}  # fmt: skip

#: Every `on N` is path N alone.
SHAKE = COMMON | {
    "one-30": Storm("30 % of the first path's are lost", f"on 1 loss 30%; sleep {STORM_S}"),
    "one-no-way": Storm("nothing by the first path", f"on 1 loss 100%; sleep {STORM_S}"),
    "one-no-data": Storm("nothing there by the first path", f"there_on 1 loss 100%; sleep {STORM_S}"),
    "one-no-feedback": Storm("nothing back by the first path",
                             f"back_on 1 loss 100%; sleep {STORM_S}"),
    "turns": Storm("the first path and the second are silent in turn, 2 s each",
                   _turns("on 2; on 1 loss 100%", "on 1; on 2 loss 100%", 2)),
    "one-slow": Storm("the first path has a tenth of the rate", f"rate_on 1 400kbit; sleep {STORM_S}"),
    "one-delay": Storm("the first path has ten times the delay",
                       f"delay_on 1 200ms; sleep {STORM_S}"),
    "one-mtu": Storm("the first path's MTU is 1000", f"link_mtu 1 1000; sleep {STORM_S}"),
    "mtu": Storm("that of both", f"link_mtu 1 1000; link_mtu 2 1000; sleep {STORM_S}"),
    "mtus": Storm("1000 and 1500 in turn, 2 s each, the second path the other way round",
                  _turns("link_mtu 1 1000; link_mtu 2 1500", "link_mtu 1 1500; link_mtu 2 1000", 2)),
    "one-flap": Storm("the first path's device is down in each other second",
                      _turns("device 1 down", "device 1 up", 1)),
    "flap": Storm("both paths' devices are", _turns("device 1 down; device 2 down",
                                                    "device 1 up; device 2 up", 1)),
}  # fmt: skip

STORMS = {"sscop": SSCOP, "shake": SHAKE}
