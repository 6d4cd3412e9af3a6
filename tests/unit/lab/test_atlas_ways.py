# SPDX-License-Identifier: GPL-2.0
"""`lab atlas` on spaces that compare ways to use a path: SHAKE, SSCOP and their peers."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from apogee_lab.atlas import jobs, numbers, space
from apogee_lab.atlas.results import Compared, Result
from apogee_lab.atlas.space import RandomPath
from apogee_lab.commands import main
from tests.unit.lab.stand_ins import FakeEngine, no_guest

Capture = pytest.CaptureFixture[str]

SEED, PATHS = 977, 200
SHORT, LONG, OPEN = "short", "long", "open"

WAYS = """
help = "a test's"
scenario = "paper"
cc = "cubic"
measure = "goodput"
duration = "10s"
map = ["loss", "packets"]
[draw.loss]
log = ["0.01%", "5%"]
[draw.packets]
whole = [2, 20]
[set]
ber = "loss / 12112"
queue = "packets * 1500"
[as.short]
[as.long]
queue = "packets * 15000"
ber = 0
[as.open]
when = "packets > 10"
queue = "none"
"""


def written(tmp_path: Path, text: str = WAYS) -> str:
    path = tmp_path / "ways.toml"
    path.write_text(text)
    return str(path)


def with_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine without guests, and the scenario that it runs."""
    return no_guest(tmp_path, monkeypatch)


# --- the key ------------------------------------------------------------------------------------


def test_a_way_has_its_own_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over those of all; what is none there has the scenario's default."""
    with_paper(tmp_path, monkeypatch)
    found = space.read(written(tmp_path))
    assert found.ways == [SHORT, LONG, OPEN]
    every = [found.path(3, number) for number in range(1, 41)]
    for path in every:
        size = path.drawn["packets"]
        assert f"queue={1.5 * size:g}kB" in path.options(SHORT)
        assert {f"queue={15 * size:g}kB", "ber=0"} <= set(path.options(LONG))
        assert path.has(OPEN) == (size > 10)
        assert path.cc(LONG) == "cubic"
    there = next(path for path in every if path.has(OPEN))
    assert [text.partition("=")[0] for text in there.options(OPEN)] == ["ber"]


def test_a_path_may_lack_a_peer() -> None:
    """It is compared with those that it has."""
    result = {name: Result(value, value, 1.0, 20.0, 1.0) for name, value in
              (("own", 3.0), ("one", 2.0), ("two", 4.0))}  # fmt: skip
    found = [
        Compared(RandomPath(n, 1, "paper", {}, "cubic", {}, {}), result["own"],
                 {name: result[name] for name in names})
        for n, names in enumerate((["one"], ["one", "two"]), 1)
    ]  # fmt: skip
    assert [one.ratio for one in found] == [1.5, 0.75]
    assert numbers.peers(found) == ["one", "two"]
    rows = {name: values for name, values, _ in numbers.rows(found)}
    assert rows["ratio to one"] == [1.5, 1.5] and rows["ratio to two"] == [0.75]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('cc = "cubic"', 'cc = "{cc}"', r"cc: \{cc\} has no meaning beside \[as.NAME\]"),
        ("[as.open]", "[ass.open]", "unknown key ass; choose from"),
        ("[as.long]", "[as.Long]", "as.Long: a name has at most 15 of a-z, 0-9 and _"),
        (WAYS[WAYS.index("[as.long]") :], "", r"as: two tables \[as.NAME\] are needed"),
        (WAYS[WAYS.index("[as.short]") :], "as = 3", "unknown|as"),
        ("ber = 0", "beer = 0", "as: no scenario has a parameter 'beer'"),
        ('when = "packets > 10"', 'when = "no > 10"', "as: 'no > 10': there is no quantity no"),
    ],
)
def test_an_invalid_way_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, old: str, new: str, says: str
) -> None:
    with_paper(tmp_path, monkeypatch)
    assert WAYS.count(old) == 1
    assert main.main(["atlas", written(tmp_path, WAYS.replace(old, new)), "--paths", "3"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("lab atlas: ") and said.count("\n") == 1
    assert re.search(says, said), said


# --- the command --------------------------------------------------------------------------------


def test_an_atlas_of_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The first way is looked at, all others are beside it; each line's commands find the runs."""
    engine = with_paper(tmp_path, monkeypatch)
    words = ["atlas", written(tmp_path), "--paths", "12", "--json", "a.jsonl", "-o", "drawn"]
    assert main.main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("short on 12 paths of ways (10 s each): below 0.9 of the better of long")
    one_line = " ".join(said.replace("\\\n", "").split())
    assert "--engine qemu --cc short --beside short,long,open --seed 1 --only PATH" in one_line
    lines = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    for line in lines:
        ways = [SHORT, LONG] + [OPEN] * (line["drawn"]["packets"] > 10)
        assert list(line["results"]) == list(line["set"]) == ways
        assert line["command"].count("\n") == len(ways) - 1
    assert main.main(["atlas", written(tmp_path), "--paths", "12", "--cc", LONG]) == 0
    assert capsys.readouterr().out.startswith("long on 12 paths of ways")
    before = engine.runs()
    assert len(before) == sum(len(line["results"]) for line in lines)
    for command in lines[0]["command"].splitlines():
        assert main.main(shlex.split(command)[1:]) == 0
    assert engine.runs() == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--cc", "star"], "--cc star: the space has no 'star'; choose from: short, long, open"),
        (["--beside", "long,bbr"], "--beside long,bbr: the space has no 'bbr'; choose from: short"),
        (["--cc", ""], "--cc : the space has no ''; choose from: short, long, open"),
        (["--cc", "long", "--beside", "long"], "--beside: long needs a peer other than itself"),
        (["--model"], "--model: there is no short in it"),
    ],
)
def test_bad_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, words: list[str], says: str
) -> None:
    with_paper(tmp_path, monkeypatch)
    assert main.main(["atlas", written(tmp_path), "--paths", "2", *words]) == 2
    assert says in capsys.readouterr().err.splitlines()[-1]


def test_a_setting_of_the_users_own_is_everyones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_paper(tmp_path, monkeypatch)
    path = space.read(written(tmp_path)).path(3, 1)
    for name in (SHORT, LONG):
        assert jobs.settings_of(path, name, ["queue=30kB"])[-1] == "queue=30kB"
        assert sum("queue" in text for text in jobs.settings_of(path, name, ["queue=30kB"])) == 1


# --- the spaces ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["links", "radios", "modems"])
def test_every_path_is_one_that_its_scenario_takes(name: str) -> None:
    found = space.read(name)
    paths = [found.path(SEED, number) for number in range(1, PATHS + 1)]
    for one in jobs.asked(found, paths, found.ways, []):
        assert {run.mix for run in one.compiled} == {"cubic"}
        assert [run.seed for run in one.compiled] == [one.path.seed] * len(one.names)
        assert len({run.plan.script for run in one.compiled}) == len(one.names)
        assert one.compiled[0].plan.devices == (("shake",) if name == "links" else ("sscop",))
        bare = [run for way, run in zip(one.names, one.compiled, strict=True) if way != "fifo"]
        assert not any(run.plan.devices for run in bare[1:])


def near(share: float, count: int) -> bool:
    """Whether so many of PATHS are within four standard errors of a share."""
    return abs(count - PATHS * share) < 4 * math.sqrt(PATHS * share * (1 - share))


def test_the_paths_of_links() -> None:
    """Shares are those that its file states; a link alone has what it has among the others."""
    found = space.read("links")
    every = [found.path(SEED, number) for number in range(1, PATHS + 1)]
    for name, share in (("rate3", 2 / 3), ("rate4", 1 / 3), ("fast", 1 / 4), ("loss1", 1 / 2),
                        ("loss2", 1 / 2), ("loss4", 1 / 6), ("mtu", 1 / 4), ("moves", 1 / 3),
                        ("down", 1 / 3)):  # fmt: skip
        assert near(share, sum(path.drawn[name] is not None for path in every)), name
    for one in jobs.asked(found, every, found.ways, []):
        drawn = one.path.drawn
        receiver = "al" if drawn["down"] else "cn"
        assert {run.plan.receiver_ns for run in one.compiled} == {receiver}
        plans = dict(zip(one.names, (run.plan for run in one.compiled), strict=True))
        assert ("third" in plans) == (drawn["links"] >= 3) == (drawn["rate3"] is not None)
        assert ("fourth" in plans) == (drawn["links"] == 4) == (drawn["rate4"] is not None)
        together = plans["shake"].paths
        assert len(together) == drawn["links"]
        for name, number in (("first", 0), ("second", 1), ("third", 2), ("fourth", 3)):
            if name not in plans:
                continue
            alone, beside = plans[name].paths[0], together[number]
            assert alone.rate_bps == pytest.approx(beside.rate_bps, rel=0.02)
            assert alone.delay_s == pytest.approx(beside.delay_s, abs=1.1e-3)  # a member's link
            assert alone.queue_bytes == beside.queue_bytes


def test_the_paths_of_radios() -> None:
    """Shares are those that its file states; each way has the same radio, and as many packets."""
    found = space.read("radios")
    every = [found.path(SEED, number) for number in range(1, PATHS + 1)]
    for name, share in (("ber", 3 / 4), ("moves", 1 / 3)):
        assert near(share, sum(path.drawn[name] is not None for path in every)), name
    rates = sorted(path.drawn["rate"] for path in every)
    assert rates[0] >= 9600 and rates[-1] <= 20e6
    assert near(1 / 2, sum(rate < math.sqrt(9600 * 20e6) for rate in rates))
    for one in jobs.asked(found, every, found.ways, []):
        chosen = dict(zip(one.names, (run.chosen for run in one.compiled), strict=True))
        limit = chosen["fifo"]["qdisc_limit"]
        assert limit == chosen["fq_codel"]["qdisc_limit"] == round(one.path.drawn["packets"])
        assert chosen["alone"]["queue"] == pytest.approx(1514 * limit, rel=0.04)
        rates = {run.plan.paths[0].rate_bps for run in one.compiled}
        assert max(rates) == pytest.approx(min(rates))


def test_the_paths_of_modems() -> None:
    """Shares are those that its file states; both ways have the same radio."""
    found = space.read("modems")
    every = [found.path(SEED, number) for number in range(1, PATHS + 1)]
    shares = {"ber": 3 / 4, "slower": 1 / 2, "box": 1 / 2, "completion": 1 / 2, "turn": 1 / 10,
              "burst_every": 1 / 4}  # fmt: skip
    for name, share in shares.items():
        assert near(share, sum(path.drawn[name] is not None for path in every)), name
    for one in jobs.asked(found, every, found.ways, []):
        drawn = one.path.drawn
        if drawn["slower"]:
            assert drawn["rate"] >= drawn["back"] >= min(drawn["rate"] / 64, 2400)
        chosen = dict(zip(one.names, (run.chosen for run in one.compiled), strict=True))
        assert chosen["alone"]["queue"] == pytest.approx(1514 * drawn["packets"], rel=0.04)
        assert len({run.chosen.get("back") for run in one.compiled}) == 1


def test_what_the_user_sets_is_no_quantity_of_the_paths() -> None:
    """Unless something else depends on it, too."""
    found = space.read("links")

    def gone(*given: str) -> set[str]:
        return set(found.own) - set(replace(found, given=given).own)

    assert gone("direction", "rate", "loss") == {"down"}
    assert gone("loss1", "loss2") == {"loss1", "loss2"}
    assert gone() == set()
