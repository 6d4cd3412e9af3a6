# SPDX-License-Identifier: GPL-2.0
"""Requests: transfers of several sizes, one after the other, alone or beside bulk flows; on new
connections, or on one that is kept and rests between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from .. import units
from ..measures import transfers
from ..measures.measure import Measure
from ..measures.record import RecordError
from . import moving, sending, shared, testbed, traffic
from .scenario import Column, Param, Plan, Scenario

if TYPE_CHECKING:
    from ..measures.measurement import Measurement

MOST_SIZES = 64  # flow.c's

PARAMS = (
    Param(
        "sizes",
        (10_000, 100_000, 1_000_000, 10_000_000),
        "list:size",
        "sizes of the transfers, 10kB+1MB+…: each once per round, in random order",
        1,
        1e9,
    ),
    Param("persistent", 0, "bool", "1: all transfers on one connection, each is answered"),
    Param(
        "period",
        0.0,
        "time",
        "time from the beginning of a transfer to that of the next, at least; 0s: at once",
        0,
        3600,
    ),
    Param("idle", 0.0, "time", "rest after each round of sizes, at least", 0, 3600),
    Param("lead", 10.0, "time", "time bulk flows run before the first transfer", 0, 3600),
    *(p for p in shared.PARAMS if p.name in ("spread", "wired_rate", "wired_delay")),
    *testbed.LINK_PARAMS,
    *moving.PARAMS,
    *(param for param in testbed.HOST_PARAMS if param.name != "traffic"),
    *sending.PARAMS,
)

HEAD = shared.HEAD.replace(
    "satellite-shared: bulk flows that share a satellite link",
    "requests: transfers over a satellite link, bulk flows beside them",
)


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    """The first flow carries the transfers, all others are bulk flows."""
    if len(values["sizes"]) > MOST_SIZES:
        raise ValueError(f"sizes: {len(values['sizes'])} given, at most {MOST_SIZES} are allowed")
    first, *others = ccs
    lead_s = values["lead"] if others else 0.0
    own = traffic.Transfers(
        values["sizes"], values["period"], values["idle"], bool(values["persistent"])
    )
    flows = [shared.Flow(1, first, lead_s, 0.0, own)]
    flows += [shared.Flow(n, cc, 0.0, 0.0) for n, cc in enumerate(others, 2)]
    return shared.plan(HEAD, {**values, "traffic": "flow"}, flows, duration_s)


# --- measures ---------------------------------------------------------------------------------


class Size(TypedDict):
    """Transfers of one size."""

    bytes: Annotated[int, "bytes", "a size; sizes are in ascending order"]
    transfers: Annotated[int, "number", "number of transfers of that size"]
    median_s: Annotated[
        float, "s",
        "median completion time of that size: from `connect()`, SYN and all its repetitions "
        "included, to the arrival of the last byte at the receiver's application; with "
        "`persistent` from its own first write",
    ]  # fmt: skip
    p90_s: Annotated[float, "s", "90th percentile of the completion times (linear between ranks)"]
    p95_s: Annotated[float, "s", "the 95th percentile"]
    times_s: Annotated[list[float], "s", "all completion times in the order of the run"]


class Transfers(TypedDict):
    """All transfers."""

    transfers: Annotated[
        int, "number", "number of transfers, those after the common interval included"
    ]
    bytes: Annotated[int, "bytes", "bytes of all transfers"]
    sizes: list[Size]


class Keys(TypedDict):
    """Keys that the measure adds."""

    requests: Transfers


def _transfers(run: Measurement) -> None:
    """Completion times of the first flow's transfers; a start-up time does not apply to them."""
    name = run.specs[0]["name"]
    sides = (run.raw.sender(name)["transfers"], run.raw.receiver(name)["transfers"])
    try:
        run.record["requests"] = transfers.summary(transfers.completions(*sides))
    except ValueError as error:
        raise RecordError(str(error)) from None
    run.record["t90_s"] = None


# --- the table --------------------------------------------------------------------------------


def _bulk(record: dict[str, Any]) -> float | None:
    """Goodput in Mbit/s of the bulk flows; None if there are none."""
    rates = [flow["goodput_bps"] for flow in record["flows"][1:]]
    return sum(rates) / 1e6 if rates else None


def _of_size(record: dict[str, Any], size: int, key: str) -> float | None:
    """A value of the transfers of one size; None if there are none, or an older record lacks it."""
    sizes = record["requests"]["sizes"]
    return next((one.get(key) for one in sizes if one["bytes"] == size), None)


def _columns(records: Sequence[dict[str, Any]]) -> list[Column]:
    """Three columns per size, placed first; then the bulk goodput and the number of transfers."""
    sizes = sorted({one["bytes"] for r in records for one in r["requests"]["sizes"]})
    of_sizes = [
        Column(f"{units.format('size', size)} {name}", 2, partial(_of_size, size=size, key=key))
        for size in sizes
        for name, key in (("median s", "median_s"), ("90 % s", "p90_s"), ("95 % s", "p95_s"))
    ]
    return [
        *of_sizes,
        Column("bulk Mbit/s", 3, _bulk, after="least flow"),
        Column("transfers", 0, lambda r: r["requests"]["transfers"]),
    ]


REQUESTS = Scenario(
    name="requests",
    help="transfers one after the other, alone or beside bulk flows: completion times",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=shared.MOST_FLOWS, flows="flows"),
    build=_build,
    measures=(*shared.MEASURES, Measure(_transfers, Keys)),
    columns=_columns,
    without=frozenset({"flow 1", "flow 2", "mean flow", "least flow", "Jain"}),
)
