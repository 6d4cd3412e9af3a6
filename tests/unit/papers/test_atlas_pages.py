# SPDX-License-Identifier: GPL-2.0
"""What the pages of the first atlases say beside their tables."""

from __future__ import annotations

import re
import statistics

from apogee_lab.atlas import jobs, numbers, space
from tests.unit.papers.found import Read, TextOf, short


def measured(read: Read, name: str, what: str = "value") -> dict[int, dict[str, float]]:
    """A number of each algorithm or way, by path."""
    return {
        line["path"]: {way: one[what] for way, one in line["results"].items()}
        for line in read(f"atlas/{name}.jsonl")
    }


def best(values: dict[str, float], *but: str) -> float:
    """The most that another way has than these."""
    return max(value for way, value in values.items() if way not in but)


def test_stations_at_an_access_point(read: Read, text_of: TextOf) -> None:
    text, name, own = text_of("results/atlas/compound_plus.md"), "crowded-compound_plus", "rtt_ms"
    rtts = [one for one in measured(read, name, own).values() if len(one) == 3]
    assert all(one["compound_plus"] < one["cubic"] for one in rtts)
    less = sum(one["compound_plus"] < one["bbr"] for one in rtts)
    assert f"less than cubic's on all paths and less than bbr's on {less} of {len(rtts)}." in text
    jain = [one for one in measured(read, name, "jain").values() if len(one) == 3]
    bbr, cubic = (sum(j["compound_plus"] > j[peer] for j in jain) for peer in ("bbr", "cubic"))
    assert f"Jain's index is above bbr's on {bbr} and above cubic's on {cubic}." in text
    assert [path for path, one in measured(read, name).items() if len(one) < 3] == [16]
    parts = [one["compound_plus"] / one["cubic"] for one in measured(read, name).values()
             if "cubic" in one]  # fmt: skip
    said = f"At {len(parts)} random access points its RTT is less than CUBIC's, its goodput"
    said += f" {short(min(parts))} to {short(max(parts))} of it"


def test_links_alone_and_downloads(read: Read, text_of: TextOf) -> None:
    text = text_of("results/atlas/links.md")
    parts = [v["shake"] / best(v, "shake", "mptcp") for v in measured(read, "links").values()]
    least, bad = (sum(part < bound for part in parts) for bound in (1, numbers.BAD))
    middle = numbers.quantiles(parts)[3]
    said = f"SHAKE has {middle:.2f} times as much in the median, less on {least} paths, and less"
    assert f"{said} than 0.9 on {bad}." in text
    down = measured(read, "links-down")
    ahead = {path for path, values in down.items() if best(values, "shake") > values["shake"]}
    drawn = {line["path"]: line["drawn"] for line in read("atlas/links-down.jsonl")}
    lossy = {path for path in drawn if drawn[path]["loss2"]}
    said = f"MPTCP or one link alone has more on {len(ahead)} paths, on {len(ahead & lossy)} of the"
    assert f"{said} {len(lossy)} with losses on the second link." in text


def test_links_before_and_after(read: Read, text_of: TextOf) -> None:
    """Of the best link alone."""
    text = text_of("results/atlas/links.md")
    for way, name in (("uploads", ""), ("downloads", "-down")):
        for when in ("before", "after"):
            values = measured(read, f"links-{when}{name}").values()
            parts = [v["shake"] / best(v, "shake", "mptcp") for v in values]
            less, middle = sum(part < 0.97 for part in parts), statistics.median(parts)
            assert f"| {way}, {when} | {min(parts):.2f} | {middle:.2f} | {less} |" in text


def test_what_the_radio_allows(read: Read, text_of: TextOf) -> None:
    """Goodput over SSCOP in parts of the limit, and beside TCP alone."""
    text, found = text_of("results/atlas/radios.md"), space.read("radios")
    values = measured(read, "radios")
    (seed,) = {line["seed"] for line in read("atlas/radios.jsonl")}
    for way, words in (("sscop", "its own"), ("fifo", "a FIFO")):
        asked = jobs.asked(found, [found.path(seed, path) for path in values], [way], [])
        parts = {
            one.path.number: values[one.path.number][way] / one.compiled[0].plan.limit_bps
            for one in asked
        }
        row = [f"{q:.2f}" for q in numbers.quantiles(list(parts.values()))[:4]]
        row += [str(sum(part >= bound for part in parts.values())) for bound in (0.9, 0.7)]
        row += [str(sum(v[way] < 0.97 * v["alone"] for v in values.values()))]
        assert f"| {words} | {' | '.join(row)} |" in text
        for path in sorted(parts, key=lambda path: parts[path])[: 2 if way == "sscop" else 0]:
            assert re.search(rf"\| {path} \| [^|]*\| {parts[path]:.2f} \|", text)
