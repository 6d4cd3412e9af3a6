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


def test_links_alone_and_together(read: Read, text_of: TextOf) -> None:
    """Of the best link alone, and of the sum of all."""
    text = text_of("results/atlas/links.md")
    named = {"uploads, CUBIC": ("links", "shake"), "downloads, CUBIC": ("links-down", "shake"),
             "uploads, ten flows of CUBIC": ("links-ten", "shake"),
             "uploads, star": ("links-star", "shake"),
             "the same with `hold-acks`": ("links-star", "hold-acks")}  # fmt: skip
    joint = ("shake", "hold-acks", "mptcp")
    for words, (name, way) in named.items():
        found = measured(read, name).values()
        parts = [v[way] / best(v, *joint) for v in found]
        sums = [sum(n for one, n in v.items() if one not in joint) for v in found]
        together = statistics.median(v[way] / s for v, s in zip(found, sums, strict=True))
        row = [f"{n:.2f}" for n in (min(parts), statistics.median(parts))]
        row += [str(sum(part < 0.97 for part in parts)), f"{together:.2f}"]
        assert f"| {words} | {len(parts)} | {' | '.join(row)} |" in text
    down = measured(read, "links-down").values()
    ahead = sum(best(values, "shake") > values["shake"] for values in down)
    assert f"MPTCP or one link alone has more on {ahead} paths." in text


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
