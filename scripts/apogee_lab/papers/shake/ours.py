# SPDX-License-Identifier: GPL-2.0
"""What is not in the paper: SHAKE beside the sum of its paths, beside what else joins paths, what
is left of changing paths, more than two paths, loss on either path, needless retransmissions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..figure import Claim
from .cells import (
    AUTO,
    BOTH,
    DROP,
    EQUAL,
    FAR,
    FEW,
    LOSS,
    NEAR,
    PERIOD,
    PLAIN,
    SCHEDULERS,
    STEADY,
    TDAR,
    TODAY,
    both_lose,
    way,
)
from .charts import Chart, over_points
from .claims import Sums, differences, needless_share, of_limit, of_sum, over_best, within

STACKS = {PERIOD: "period stack", TODAY: "default (cubic)"}
RAH = f"rah {AUTO}"
FEW_NEEDLESS = 1.0  # for 1000 segments


def _rah(ack: str = AUTO) -> dict[str, str]:
    return way("rah", ack, TODAY)


# --- the sum of the paths ---------------------------------------------------------------------

_DELAYS = (NEAR, "80ms", EQUAL, "230ms", FAR)
_ONE, _TWO = "path 1 alone", "path 2 alone"


def _sums(variant: str) -> Chart:
    lines = {f"rah {ack}": _rah(ack) for ack in (AUTO, DROP, PLAIN)}
    return Chart(
        STACKS[variant], variant, "delay of path 2", {d: {"delay2": d} for d in _DELAYS},
        {**lines, _ONE: {"via": "path1"}, _TWO: {"via": "path2"}}, default=STEADY,
    )  # fmt: skip


SUMS = {variant: _sums(variant) for variant in BOTH}


def _sum_claims(variant: str) -> list[Claim]:
    chart = SUMS[variant]

    def groups(line: str, delays: Sequence[str] = _DELAYS) -> Sums:
        return {
            at: (chart.subject(line, at), [chart.subject(one, at) for one in (_ONE, _TWO)])
            for at in delays
        }

    quiet = {
        f"{line} {at}": chart.subject(line, at) for line in (RAH, f"rah {DROP}") for at in _DELAYS
    }
    return [
        Claim("(ours) RAH with dropping has at least 98 % of the sum of both paths alone",
              of_sum(groups(f"rah {DROP}"), 0.98), (variant,)),
        Claim("(ours) so it has with ack=auto", of_sum(groups(RAH), 0.98), (variant,)),
        Claim("(ours) without dropping at least 95 %, up to 230 ms",
              of_sum(groups(f"rah {PLAIN}", _DELAYS[:-1]), 0.95), (variant,)),
        Claim("(ours) at most 1 of 1000 segments is sent again needlessly",
              within(quiet, needless_share, 0.0, FEW_NEEDLESS), (variant,)),
    ]  # fmt: skip


FIGURE_SUM = over_points(
    "sum",
    "Not in the paper: RAH and the sum of its paths, no loss",
    SUMS.values(),
    [claim for variant in BOTH for claim in _sum_claims(variant)],
    "RAH and its paths alone, no loss",
)


# --- what else joins paths --------------------------------------------------------------------

CCS = ("cubic", "reno", "bbr", "star")
_PEERS = {"SHAKE": _rah(), "MPTCP": {"via": "mptcp"}, "bonding": {"via": "bonding"}}
#: With loss: SHAKE without repair, too.
_PLAIN_SHAKE = {"SHAKE, repair off": {**_rah(), "repair": "0"}}
#: Without loss: SHAKE without the tag of 16 bytes, too.
_NO_TAG = {"SHAKE, auth off": {**_rah(), "auth": "0"}}
#: Only with the first algorithm: teql, and the leader's own path without a tunnel.
_OTHERS = {"teql": {"via": "teql"}, "one path": {"via": "plain"}}
_CLEAN, _LOSSY = (NEAR, EQUAL, "230ms", FAR), (NEAR, EQUAL, FAR)


#: The rows with auth off are the proof: cubic, reno and star then have as much as over MPTCP.
HEADERS = (
    "56 of 1514 bytes are SHAKE's headers, which MPTCP does not have; with auth off, 40, "
    "SHAKE has as much"
)


def _peers(cc: str, loss: str | None) -> Chart:
    lines = _PEERS | (_PLAIN_SHAKE if loss else _NO_TAG) | (_OTHERS if cc == CCS[0] else {})
    more = both_lose(loss) if loss else {}
    return Chart(
        f"{cc}, {'1 % lost' if loss else 'no loss'}", TODAY, "delay of path 2",
        {d: {"delay2": d, **more} for d in (_LOSSY if loss else _CLEAN)}, lines, cc,
        default=FEW if loss else STEADY,
    )  # fmt: skip


CLEAN = {cc: _peers(cc, None) for cc in CCS}
LOSSY = {cc: _peers(cc, "1%") for cc in CCS}


FIGURE_PEERS = over_points(
    "peers",
    "Not in the paper: SHAKE, MPTCP, bonding, teql and one path",
    [*CLEAN.values(), *LOSSY.values()],
    [
        claim
        for cc in CCS
        for claim in (
            Claim(f"(ours) {cc}, no loss: SHAKE has at least as much as bonding",
                  over_best(CLEAN[cc].beside("SHAKE", ["bonding"]), 0.0)),
            Claim(f"(ours) {cc}, no loss: at least as much as MPTCP",
                  over_best(CLEAN[cc].beside("SHAKE", ["MPTCP"]), 0.0),
                  why="" if cc == "bbr" else HEADERS),
            Claim(f"(ours) {cc}, 1 % lost: at least 95 % of MPTCP",
                  over_best(LOSSY[cc].beside("SHAKE", ["MPTCP"]), -0.05)),
            Claim(f"(ours) {cc}, 1 % lost: at least as much as bonding",
                  over_best(LOSSY[cc].beside("SHAKE", ["bonding"]), 0.0)),
        )
    ],
    "SHAKE and what else joins paths",
)  # fmt: skip


# --- what changing paths leave ----------------------------------------------------------------

_STARTS = ("20s", "50s", "80s")


def _changes() -> dict[str, dict[str, str]]:
    """A UDP flow on the second path; three interruptions of it that hold or lose what is sent."""
    found = {f"UDP {cbr}": {"cbr": cbr} for cbr in ("128kbit", "256kbit")}
    for what, word in (("held", "outage"), ("lost", "loss:100%")):
        for length in ("1s", "3s", "10s"):
            events = "+".join(f"{word}@{start}:{length}" for start in _STARTS)
            found[f"{length} {what}"] = {"event2": events}
    return found


def _left(variant: str) -> Chart:
    return Chart(STACKS[variant], variant, "second path", _changes(), {RAH: _rah()}, default=FEW)


LEFT = {variant: _left(variant) for variant in BOTH}


def _left_claims(variant: str) -> list[Claim]:
    chart = LEFT[variant]
    kinds = {
        "beside a UDP flow": [at for at in chart.points if at.startswith("UDP")],
        "with interruptions that hold what is sent": [at for at in chart.points if "held" in at],
        "with interruptions that lose it": [at for at in chart.points if "lost" in at],
    }
    return [
        Claim(f"(ours) {said} RAH has at least 90 % of what the paths have left",
              within({at: chart.subject(RAH, at) for at in points}, of_limit, 0.9, math.inf, 100.0,
                     " %"), (variant,))
        for said, points in kinds.items()
    ]  # fmt: skip


FIGURE_LEFT = over_points(
    "left",
    "Not in the paper: what RAH makes of what changing paths leave (second path, 150 ms)",
    LEFT.values(),
    [claim for variant in BOTH for claim in _left_claims(variant)],
    "What changing paths leave",
    columns=("Goodput in % of what the paths have left", "Goodput in kbit/s"),
    shown={"measure": of_limit, "scale": 100.0, "label": "goodput, % of what is left"},
)  # fmt: skip


# --- more than two paths ----------------------------------------------------------------------

_RATES = {
    "3": {"paths": "3", "rate": "384kbit+768kbit+192kbit", "delay2": "80ms", "delay3": "230ms"},
    "4": {"paths": "4", "rate": "384kbit+1mbit+192kbit+768kbit", "delay2": "40ms",
          "delay3": "230ms", "delay4": "100ms"},
}  # fmt: skip


def _several(variant: str) -> Chart:
    lines = {RAH: _rah(), f"rah {DROP}": _rah(DROP)}
    lines |= {f"path {n} alone": {"via": f"path{n}"} for n in range(1, 5)}
    window = {"window": "160"} if variant == PERIOD else {}
    return Chart(
        STACKS[variant], variant, "paths", {n: {**told, **window} for n, told in _RATES.items()},
        lines, default=STEADY, leave_out=frozenset({("path 4 alone", "3")}),
    )  # fmt: skip


SEVERAL = {variant: _several(variant) for variant in BOTH}


def _several_claims(variant: str) -> list[Claim]:
    chart = SEVERAL[variant]
    alone = {n: [chart.subject(f"path {k} alone", n) for k in range(1, int(n) + 1)] for n in _RATES}
    return [
        Claim("(ours) three and four unequal paths: at least 95 % of the sum",
              of_sum({f"{n} paths": (chart.subject(RAH, n), alone[n]) for n in _RATES}, 0.95),
              (variant,)),
    ]  # fmt: skip


FIGURE_SEVERAL = over_points(
    "several",
    "Not in the paper: three and four paths of unequal rate and delay, no loss",
    SEVERAL.values(),
    [claim for variant in BOTH for claim in _several_claims(variant)],
    "Three and four paths",
)


# --- loss on either path ----------------------------------------------------------------------

_EITHER = {
    f"{one} / {two}": {"loss1": one, "loss": two}
    for one, two in ((LOSS, LOSS), (LOSS, "0.5%"), (LOSS, "1%"), ("1%", LOSS))
}


def _either(variant: str, delay: str) -> Chart:
    lines: dict[str, Mapping[str, str]] = {
        f"{s} {a}": way(s, a, variant) for s in SCHEDULERS for a in (PLAIN, DROP, TDAR)
    }
    return Chart(
        f"{STACKS[variant]}, {delay}", variant, "loss of path 1 / path 2",
        {at: {"delay2": delay, **loss} for at, loss in _EITHER.items()},
        {**lines, RAH: _rah()},
    )  # fmt: skip


EITHER = {(variant, delay): _either(variant, delay) for variant in BOTH for delay in (NEAR, EQUAL)}


def _either_claims(variant: str, delay: str) -> list[Claim]:
    chart = EITHER[variant, delay]
    every = [line for line in chart.lines if line != RAH]

    return [
        Claim(f"(ours) {delay}: RAH with ack=auto has at least 95 % of the best of all",
              over_best(chart.beside(RAH, every), -0.05), (variant,)),
        Claim(f"(ours) {delay}: at least 98 % of the better of RAH with drop and with tdar",
              over_best(chart.beside(RAH, [f"rah {DROP}", f"rah {TDAR}"]), -0.02), (variant,)),
    ]  # fmt: skip


FIGURE_LOSS = over_points(
    "loss",
    "Not in the paper: loss on either path",
    EITHER.values(),
    [claim for key in EITHER for claim in _either_claims(*key)],
    "Loss on either path",
)


# --- needless retransmissions -----------------------------------------------------------------

_AWAY = (NEAR, FAR)


def _needless(variant: str) -> Chart:
    lines = {f"{RAH}, {delay}": {"delay2": delay, **_rah()} for delay in _AWAY}
    return Chart(
        STACKS[variant], variant, "loss of both paths",
        {loss: both_lose(loss) for loss in (LOSS, "0.5%", "1%")},
        {**lines, _ONE: {"via": "path1"}},
    )  # fmt: skip


NEEDLESS = {variant: _needless(variant) for variant in BOTH}


def _needless_claims(variant: str) -> list[Claim]:
    chart = NEEDLESS[variant]
    pairs = {
        f"{line.partition(', ')[2]} {at}": (chart.subject(line, at), chart.subject(_ONE, at))
        for line in chart.lines
        for at in chart.points
        if line != _ONE
    }
    return [
        Claim("(ours) with loss at most 1 of 1000 segments more than TCP alone on one path sends "
              "again needlessly",
              differences(pairs, -math.inf, FEW_NEEDLESS, needless_share), (variant,)),
    ]  # fmt: skip


FIGURE_NEEDLESS = over_points(
    "needless",
    "Not in the paper: needless retransmissions with loss",
    NEEDLESS.values(),
    [claim for variant in BOTH for claim in _needless_claims(variant)],
    "Needless retransmissions",
    shown={"measure": needless_share, "scale": 1.0, "label": "needless for 1000 segments"},
)  # fmt: skip

FIGURES = (
    FIGURE_SUM, FIGURE_PEERS, FIGURE_LEFT, FIGURE_SEVERAL, FIGURE_LOSS, FIGURE_NEEDLESS,
)  # fmt: skip
