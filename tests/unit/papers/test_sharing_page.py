# SPDX-License-Identifier: GPL-2.0
"""choosing.md says of two flows what the records give."""

from __future__ import annotations

import pytest

from apogee_lab.commands import beside
from apogee_lab.results.statistics import ratio_of
from tests.unit.papers.found import (
    Read,
    dropped,
    from_to,
    goodput,
    row,
    runs,
    short,
)

ERRORS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5)


def test_two_star_flows(read: Read, choosing: str) -> None:
    """Both at once with a long and with a short queue, and the second 30 s later."""

    def found(name: str, queue: str) -> list[list[float]]:
        at = (runs(read(f"{name}.jsonl"), "star+star", 5, queue=queue, ber=ber) for ber in ERRORS)
        return [[record["jain"] for record in each] for each in at]

    def means(name: str, queue: str) -> list[str]:
        return [short(sum(each) / len(each)) for each in found(name, queue)]

    long, tight = (means("twins", queue) for queue in ("625kB", "15kB"))
    least = [short(min(each)) for each in found("twins", "15kB")]
    assert min(map(float, least[:2])) > 0.9
    assert (long[-1], min(tight[:-1]), max(tight[:-1]), tight[-1]) == (".97", ".90", ".98", ".77")
    *usual, last = (
        dropped(runs(read("twins.jsonl"), "star+star", queue="15kB", ber=ber)) for ber in ERRORS
    )
    assert (from_to(usual, 1), f"{last:.1f}") == ("1.4 to 1.7", "3.0")

    first, later = (means("late", queue) for queue in ("625kB", "15kB"))
    assert min(first) == ".96"
    assert (
        f"Two flows with a product of queue have {min(long[:-1])} and more up to 1e-6; with ten "
        f"packets single runs come to {least[2]} at 1e-7, {least[3]} at 1e-6 and {least[4]} at "
        f"1e-5, and where the second flow starts 30 s later the mean is {min(later[:3])} to "
        f"{max(later[:3])} up to 1e-7, {later[3]} at 1e-6 and {later[4]} at 1e-5"
    ) in choosing


# --- beside other flows -----------------------------------------------------------------------

QUEUES = {"0.02 (8 packets)": "12.5kB", "0.1": "62.5kB", "0.5": "312.5kB", "1": "625kB"}


@pytest.mark.parametrize("other", ["cubic", "reno"])
@pytest.mark.parametrize("name", QUEUES)
def test_beside_one_other_flow(read: Read, choosing: str, name: str, other: str) -> None:
    records = [*read("sharing-star.jsonl"), *read("sharing-others.jsonl")]
    twins, star, bbr = (
        [goodput(runs(records, f"{cc}+{other}", 5, queue=QUEUES[name], ber=0.0), n) for n in (0, 1)]
        for cc in (other, "star", "bbr")
    )
    own = sum(twins) / 2
    bold = "**" if star[1] < own / 2 else ""
    cells = [
        name if other == "cubic" else "",
        other,
        f"{own:.2f}",
        f"{bold}{star[1]:.2f}{bold} (star {star[0]:.2f})",
        f"{bbr[1]:.2f} (bbr {bbr[0]:.2f})",
    ]
    assert row(*cells) in choosing


def test_half_of_its_share(read: Read, choosing: str) -> None:
    """CUBIC beside star with a tenth of a product; star beside bbr."""
    records = [*read("sharing-star.jsonl"), *read("sharing-others.jsonl")]
    shares = beside.shares(records)["cubic", 0.0, "62.5kB"]
    seeds = sorted(shares["star"])
    found = ratio_of(
        *([shares[name][seed].other for seed in seeds] for name in ("star", beside.OWN))
    )
    assert found.bounds
    ratio, low, high = map(short, (found.value, *found.bounds))
    assert f"CUBIC with a tenth of a product about half: {ratio}, {low} to {high}." in choosing
    own = [
        goodput(runs(records, "star+bbr", queue=queue, ber=0.0), 0)
        for queue in ("12.5kB", "62.5kB", "312.5kB")
    ]
    said = f"{short(min(own), 1)} to {max(own):.1f} Mbit/s with a queue of up to half a"
    assert f"Beside bbr star keeps {said}" in choosing
