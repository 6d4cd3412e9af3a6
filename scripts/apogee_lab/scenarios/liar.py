# SPDX-License-Identifier: GPL-2.0
"""A receiver that lies: what it gets from a sender for its lie (docs/hostile.md). The liar, its
path and the clock are one program of the guest, tests/played/hostile; behind it a short honest flow
fills the record's other keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..measures import liar
from .satellite import SATELLITE
from .scenario import Param, Plan, Scenario

#: tests/played/hostile/attacks.c has them; docs/hostile.md has their meaning.
LIES = (
    "honest,honest-nosack,honest-ecn,conceal,optimistic,small,beyond,sacks,division,copies,dsack,"
    "older,newer,stall,gather,bunch,first,late,waves,late-syn,zero,tiny,flap,unmarked,marked"
)
LIE = Param("lie", "honest", f"choice:{LIES}", "what the receiver does (hostile.md)")
RTT = Param("lie_rtt", "short", "choice:short,long", "round trip: 50 ms, or long: 500 ms")
LASTS_S = 120  # no lie takes longer, with the honest time behind it

_FIRST = "note flow1 start\n"


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    plan = SATELLITE.build(values, ccs, duration_s)
    lie = f'modprobe tun\nhostile "$OUT/liar" {values["lie_rtt"]} {ccs[0]} {values["lie"]}\n'
    return replace(
        plan,
        script=plan.script.replace(_FIRST, lie + _FIRST, 1),
        timeout_virtual_s=plan.timeout_virtual_s + LASTS_S,
        extras=(*plan.extras, "hostile"),
    )


LIAR = Scenario(
    name="liar",
    help="a receiver that lies, then a short honest flow: what the lie gets (engine uml)",
    params=(LIE, RTT, *SATELLITE.params),
    parse_cc=SATELLITE.parse_cc,
    build=_build,
    measures=(*SATELLITE.measures, liar.LIAR),
    cost=lambda _values, _ccs, duration_s: LASTS_S + duration_s,
)
