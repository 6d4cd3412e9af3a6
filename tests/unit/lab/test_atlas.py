# SPDX-License-Identifier: GPL-2.0
"""`lab atlas`: spaces of random paths, their numbers, the command, without a guest."""

from __future__ import annotations

import json
import math
import random
import re
import shlex
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.atlas import draws, jobs, modelled, numbers, space, traces
from apogee_lab.atlas.expressions import evaluated
from apogee_lab.atlas.results import Compared, Result, of_record
from apogee_lab.base import UsageError
from apogee_lab.commands import main
from tests import ROOT
from tests.unit.lab.stand_ins import FakeEngine, no_guest

Capture = pytest.CaptureFixture[str]

SMALL = """
help = "a test's"
scenario = "paper"
cc = "{cc}"
measure = "goodput"
duration = "10s"
map = ["loss", "queue"]
[draw.loss]
log = ["0.01%", "5%"]
[draw.queue]
even = ["3kB", "30kB"]
[set]
ber = "1 - (1 - loss) ** (1 / (8 * 1514))"
queue = "queue"
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces are written to the test's folder."""
    monkeypatch.setattr(traces, "FOLDER", tmp_path / "atlas")


def written(tmp_path: Path, text: str = SMALL) -> str:
    path = tmp_path / "small.toml"
    path.write_text(text)
    return str(path)


# --- expressions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rate * rtt / 8", 62_500.0),
        ("max(3kB, 0.5 * 625kB) + 1", 312_501.0),
        ("rtt / 2 + 35ms", 0.06),
        ("1 - (1 - 5%) ** 2", 0.0975),
        ("-sqrt(16) if none else 100kbit", 100_000.0),
        ("none * 2 + rate", None),
        ("word == 'leo' and not none", True),
        ("none == 'leo' or none", None),
        ("none < 3", False),
        ("'3kB'", "3kB"),
    ],
)
def test_expressions(text: str, value: Any) -> None:
    names = {"rate": 10e6, "rtt": 0.05, "word": "leo"}
    found = evaluated(text, names)
    assert found == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    "text",
    ["", "rate +", "1 / 0", "nothing", "__import__('os')", "rate.real", "9.0 ** 9 ** 9 ** 9",
     "(-8) ** 0.5", "'a' + 1", "[1]", "1 < 2 < 3", "max()", "lambda: 1", "(" * 500],
)  # fmt: skip
def test_no_expression(text: str) -> None:
    with pytest.raises(ValueError, match="^.+$") as caught:
        evaluated(text, {"rate": 1.0})
    assert "\n" not in str(caught.value)


# --- spaces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in space.listed() if not space.read(name).ways])
def test_every_path_is_one_that_its_scenario_takes(name: str) -> None:
    found = space.read(name)
    paths = [found.path(7, number) for number in range(1, 61)]
    for one in jobs.asked(found, paths, ["star", "cubic"], []):
        assert [run.seed for run in one.compiled] == [one.path.seed] * 2
        plan = one.compiled[0].plan
        assert plan.flows[0].cc == "star" and plan.duration_s == found.duration_s
    assert len({path.seed for path in paths}) > 50


def test_equal_seeds_give_equal_paths() -> None:
    first, again = (space.read("single").path(3, 5) for _ in range(2))
    assert first == again
    assert space.read("single").path(4, 5).settings != first.settings
    assert space.read("single").path(3, 6).settings != first.settings


def test_a_new_quantity_leaves_the_others(tmp_path: Path) -> None:
    more = SMALL.replace("[draw.queue]", "[draw.more]\nlog = [1, 2]\n[draw.queue]")
    found = []
    for text in (SMALL, more):
        drawn = space.read(written(tmp_path, text)).table["draw"]
        dice = random.Random("small 1 1 queue")
        found.append(draws.drawn(drawn["queue"], {"duration": 10.0}, dice))
    assert found[0] == found[1]


def test_the_paths_of_single() -> None:
    """Shares and ranges are those that its file states; 600 paths, four standard errors."""
    found = space.read("single", 10)
    every = [found.path(11, number).drawn for number in range(1, 601)]
    for name, share in (("loss", 3 / 4), ("burst_every", 1 / 6), ("jitter", 1 / 2),
                        ("moves", 1 / 2), ("ack_loss", 1 / 4), ("slot", 1 / 8)):  # fmt: skip
        there = sum(one[name] is not None for one in every)
        assert abs(there - 600 * share) < 4 * math.sqrt(600 * share * (1 - share)), name
    rates = sorted(one["rate"] for one in every)
    assert rates[0] >= 100e3 and rates[-1] <= 200e6
    middle = math.sqrt(100e3 * 200e6)
    assert abs(sum(rate < middle for rate in rates) - 300) < 4 * math.sqrt(150)
    assert min(one["queue"] for one in every) == 3000
    assert all(one["jitter"] is None or one["jitter"] <= one["rtt"] / 8 * 1.01 for one in every)
    assert {one["moves"] for one in every} == {None, *found.table["draw"]["moves"]["one_of"]}


def test_the_paths_of_requests() -> None:
    """Half keep the connection; chunks are of one size and have a period, rests are behind three
    sizes; four standard errors of 200."""
    found = space.read("requests")
    every = [found.path(11, number) for number in range(1, 201)]
    for path in every:
        kept, settings = path.drawn["kept"], path.settings
        assert len(settings["sizes"].split("+")) == (1 if kept == "chunks" else 3)
        assert settings.get("persistent") == ("1" if kept else None)
        assert {"period", "idle"} & set(settings) == {
            None: set(), "chunks": {"period"}, "rests": {"idle"},
        }[kept]  # fmt: skip
    assert abs(sum(path.drawn["kept"] is None for path in every) - 100) < 4 * math.sqrt(50)


def test_a_setting_says_what_was_drawn() -> None:
    """Of the queue's bytes, and of the bit errors that lose so many full frames."""
    found = space.read("single")
    for number in range(1, 30):
        path = found.path(2, number)
        drawn = path.drawn
        product = drawn["products"] * drawn["rate"] * drawn["rtt"] / 8
        assert drawn["queue"] == pytest.approx(max(product, 3000), rel=0.006)
        if drawn["loss"] is not None:
            ber = float(path.settings["ber"])
            assert -math.expm1(8 * 1514 * math.log1p(-ber)) == pytest.approx(
                drawn["loss"], rel=0.01
            )


def test_a_cellular_trace() -> None:
    """Its mean rate over many, and that it stands still now and then."""
    counts, gaps = [], []
    for seed in range(40):
        times = traces.cellular(random.Random(seed), 12e6, 60)
        assert times == sorted(times) and times[-1] == 60_000
        counts.append(len(times) - 1)
        gaps.append(max(b - a for a, b in zip(times, times[1:], strict=False)))
    # 12 Mbit/s are one opportunity in a ms; a fade of 1 s in 12 s takes a thirteenth or so.
    assert sum(counts) / 40 == pytest.approx(60_000 * 12 / 13, rel=0.25)
    assert sum(gap > 300 for gap in gaps) > 30


def test_a_trace_is_named_from_the_folder_of_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no record has a path of one machine, unless the folder is elsewhere."""
    monkeypatch.chdir(tmp_path)
    name = traces.written([1, 2, 30])
    assert not name.is_absolute() and name.read_text() == "1\n2\n30\n"
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert traces.written([1, 2, 30]) == tmp_path / name


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[draw.loss]", "[draw.loss", "invalid|Expected"),
        ('help = "a test\'s"', "", "help = TEXT is needed"),
        ('"goodput"', '"speeed"', "measure: 'speeed' is none of"),
        ('cc = "{cc}"', 'cc = "star"', "cc: {cc} is needed in it"),
        ('map = ["loss", "queue"]', 'map = ["loss"]', "map = "),
        ('map = ["loss", "queue"]', 'map = ["loss", "no"]', "map: no is not a number"),
        ("log =", "logg =", "draw.loss: unknown key logg; choose from: log"),
        ('["0.01%", "5%"]', '["5%", "0.01%"]', "draw.loss: log: 0.05 to 0.0001 is not a range"),
        ('["0.01%", "5%"]', '["0.01%"]', r"draw.loss: log = \[A, B\] is needed"),
        ('["0.01%", "5%"]', '["0%", "5%"]', "draw.loss: log: the range must begin above 0"),
        ('["0.01%", "5%"]', '["0.01%", "rtt"]', "draw.loss: 'rtt': there is no quantity rtt"),
        ('queue = "queue"', 'quue = "queue"', "set: no scenario has a parameter 'quue'"),
        ('queue = "queue"', 'queue = "-queue"', "path 1: queue: '-"),
        ('queue = "queue"', 'queue = "1kB"', "path 1: queue: at least 1500B are needed"),
        ('scenario = "paper"', 'scenario = "paperr"', "scenario: 'paperr': there is no quantity"),
        ('duration = "10s"', 'duration = "10"', "'10' is not a time"),
        ('duration = "10s"', 'duration = "0s"', "duration: more than 0 and at most 86400 seconds"),
        ('"goodput"', '"speed"', "measure: paper has no transfers whose speed is measured"),
        (
            "[draw.queue]",
            "[draw.x]\nchance = 2\nis = '1'\n[draw.queue]",
            "draw.x: chance: 2 is not",
        ),
        ("[draw.queue]", "[draw.none]\nis = '1'\n[draw.queue]", "draw.none: this cannot be"),
        ("[draw.queue]", "[draw.duration]\nis = '1'\n[draw.queue]", "draw.duration: this cannot"),
        ("[draw.queue]", "[draw.'a b']\nis = '1'\n[draw.queue]", "draw.a b: this cannot be"),
        (
            "[draw.queue]",
            "[draw.x]\ntrace = \"'a'\"\n[draw.queue]",
            "draw.x: trace: .* is not a rate",
        ),
        (
            "[draw.queue]",
            "[draw.x]\ntrace = '1e20'\n[draw.queue]",
            "draw.x: trace: '1e20' is not a",
        ),
        ("[draw.queue]", "[draw.x]\ntrace = '0'\n[draw.queue]", "draw.x: trace: '0' is not a rate"),
        ("help =", "colour = 1\nhelp =", "unknown key colour; choose from"),
    ],
)
def test_an_invalid_space_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, old: str, new: str, says: str
) -> None:
    with_paper(tmp_path, monkeypatch)
    file = written(tmp_path, SMALL.replace(old, new, 1))
    assert main.main(["atlas", file, "--paths", "3"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("lab atlas: ") and said.count("\n") == 1
    assert re.search(says, said), said


def test_the_space_of_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "atlas.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    found = space.read(written(tmp_path, text))
    paths = [found.path(1, number) for number in range(1, 21)]
    assert len(jobs.asked(found, paths, ["star"], [])) == 20
    assert {bool(path.settings.get("event")) for path in paths} == {True, False}


def test_an_unknown_space() -> None:
    for name in ("nosuch", "../single", "nosuch.toml"):
        with pytest.raises(UsageError, match="choose from: crowded, fat, links, mixed, modems,"):
            space.read(name)


# --- numbers ------------------------------------------------------------------------------------


def compared(ratios: list[float], drawn: list[dict[str, Any]]) -> list[Compared]:
    paths = [space.RandomPath(n, 1, "paper", {}, "{cc}", each) for n, each in enumerate(drawn, 1)]
    return [
        Compared(
            path,
            Result(ratio, ratio, 1.0, 20.0, 1.0),
            {"bbr": Result(1.0, 1.0, 1.0, 10.0, 1.0), "cubic": Result(0.5, 0.5, 1.0, None, 1.0)},
        )
        for ratio, path in zip(ratios, paths, strict=True)
    ]


def test_ratios_are_to_the_better_peer() -> None:
    (one,) = compared([0.8], [{}])
    assert (one.better, one.ratio, one.over("cubic")) == ("bbr", 0.8, 1.6)
    rows = {name: values for name, values, _ in numbers.rows([one])}
    assert rows["RTT over better peer's"] == [2.0] and "Jain" not in rows


def test_quantiles_are_values() -> None:
    assert numbers.quantiles([float(n) for n in range(101)]) == [0, 5, 25, 50, 75, 95, 100]
    assert numbers.quantiles([3.0]) == [3.0] * 7


def test_what_the_bad_paths_share(tmp_path: Path) -> None:
    """6 of 20 paths are bad, 5 of them among the 6 with the most loss: by chance with probability
    (C(6,5) C(14,1) + C(6,6)) / C(20,6) = 85 / 38760."""
    found = space.read(written(tmp_path))
    drawn = [{"loss": (n + 1) / 1000, "queue": 3000.0 + n % 2} for n in range(20)]
    ratios = [0.5 if n in (2, 15, 16, 17, 18, 19) else 1.1 for n in range(20)]
    first = numbers.groups(found, compared(ratios, drawn))[0]
    assert (first.name, first.paths, first.bad) == ("loss from 1.5%", 6, 5)
    assert (first.elsewhere, first.others) == (1, 14)
    assert first.chance == pytest.approx(85 / 38760)


def test_without_a_bad_path_the_worst_tenth_is_taken() -> None:
    ratios = [1.0 + n / 100 for n in range(20)]
    assert sum(numbers.bad(compared(ratios, [{}] * 20))) == 2


def record(**more: Any) -> dict[str, Any]:
    flow = {"segments": 1000, "rtt_ms": {"mean": 30.0}}
    flows = [flow | {"goodput_bps": 2e6, "queue_drops": 10},
             flow | {"goodput_bps": 6e6, "queue_drops": 40}]  # fmt: skip
    return {"flows": flows, "total_goodput_bps": 8e6, "jain": 0.8, "run": "key",
            "set": {}, "queue": {"drops": 50}} | more  # fmt: skip


def test_what_is_taken_from_a_record() -> None:
    whole, first = of_record(record(), "goodput"), of_record(record(), "first")
    assert (whole.value, whole.drops_percent, whole.others_bps) == (8e6, 2.5, None)
    assert (first.value, first.drops_percent, first.others_bps) == (2e6, 1.0, 6e6)
    # 100 kB at 8 Mbit/s and 100 ms take 250 ms, 10 kB 160 ms.
    sizes = [{"bytes": 100_000, "times_s": [0.5, 0.25]}, {"bytes": 10_000, "times_s": [0.64]}]
    done = record(requests={"sizes": sizes}, bdp_bytes=100_000, limit_bps=8e6)
    assert of_record(done, "speed").value == pytest.approx(1 / 2)
    # On a connection that is there 100 kB take 150 ms.
    kept = done | {"requests": {"sizes": [{"bytes": 100_000, "times_s": [0.3]}]}}
    assert of_record(kept | {"set": {"persistent": 1}}, "speed").value == pytest.approx(1 / 2)
    # Three SYNs were dropped, and the one segment that was sent.
    shut, others = record()["flows"]
    shut |= {"segments": 1, "queue_drops": 4}
    assert of_record(record(flows=[shut, others]), "first").drops_percent == 100


# --- the command --------------------------------------------------------------------------------


def with_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine without guests, and the scenario that it runs."""
    return no_guest(tmp_path, monkeypatch)


def test_an_atlas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Each algorithm on each path with the path's seed; page, JSON, pictures; and it resumes."""
    engine = with_paper(tmp_path, monkeypatch)
    words = ["atlas", written(tmp_path), "--paths", "12", "--seed", "5", "--json", "a.jsonl"]
    assert main.main([*words, "-o", "drawn"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("star on 12 paths of small (10 s each): below 0.9 of the better of bbr")
    lines = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert [line["path"] for line in lines] == list(range(1, 13))
    seeds = sorted(f"{cc} {line['run_seed']}" for line in lines for cc in ("star", "bbr", "cubic"))
    assert sorted(engine.runs()) == seeds
    assert all(line["results"]["star"]["value"] > 0 for line in lines)
    assert {path.name for path in tmp_path.glob("drawn*")} == {"drawn-star.svg", "drawn-star.png"}
    check_worst(said, lines)
    assert main.main([*words[:2], "--kept", "a.jsonl"]) == 0
    again = capsys.readouterr().out
    assert again and said.startswith(again)
    Path("b.jsonl").write_text("{}\n")
    for kept in ("b.jsonl", "none"):
        assert main.main([*words[:2], "--kept", kept]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert main.main([*words, "--paths", "13"]) == 0
    assert len(engine.runs()) == 13 * 3
    assert "36 of 39 runs finished earlier" in capsys.readouterr().err


def check_worst(page: str, lines: list[dict[str, Any]]) -> None:
    """The page's table of the worst ten, against the lines of the JSON."""
    (table,) = re.findall(r"^PATH  ratio  better peer\n((?:\d.*\n){10})", page, re.M)
    ratios = {}
    for line in lines:
        star, *peers = (line["results"][name]["value"] for name in ("star", "bbr", "cubic"))
        ratios[line["path"]] = star / max(peers)
    told = [row.split()[:2] for row in table.splitlines()]
    assert [float(ratio) for _, ratio in told] == sorted(float(ratio) for _, ratio in told)
    assert sorted(ratios.values())[9] == pytest.approx(float(told[-1][1]), abs=0.005)
    assert all(ratios[int(path)] == pytest.approx(float(ratio), abs=0.005) for path, ratio in told)


def test_the_page_says_how_a_path_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Its command with a number finds the runs that are there, and says the same ratio."""
    engine = with_paper(tmp_path, monkeypatch)
    words = ["--paths", "3", "--seed", "5", "--cc", "bbr", "--beside", "star", "--duration", "7"]
    assert main.main(["atlas", written(tmp_path), *words, "--set", "queue=45kB"]) == 0
    page, before = capsys.readouterr().out, engine.runs()
    assert page.startswith("bbr on 3 paths of small (7 s each): below 0.9 of star on ")
    (command,) = re.findall(r"each repeated by\n((?: .*\n)+)PATH", page)
    worst = page[page.index("better peer\n") :].splitlines()[1]
    words = shlex.split(command.replace("\\\n", "").replace("PATH", worst.split()[0]))
    assert words[0] == "scripts/lab" and main.main(words[1:]) == 0
    assert worst in capsys.readouterr().out.splitlines()
    assert engine.runs() == before


def test_a_command_repeats_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """What a path's line says finds the runs that are there; the user's settings are in it."""
    engine = with_paper(tmp_path, monkeypatch)
    words = ["atlas", written(tmp_path), "--only", "4", "--set", "queue=45kB", "--json", "-"]
    assert main.main(words) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["set"]["queue"] == "45kB"
    command = line["command"]
    before = engine.runs()
    assert main.main(shlex.split(command)[1:]) == 0
    assert engine.runs() == before


def test_a_failed_run_leaves_its_path_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    engine = with_paper(tmp_path, monkeypatch)
    file = written(tmp_path)
    seed = space.read(file).path(1, 2).seed
    engine.fail = {f"bbr {seed}"}
    assert main.main(["atlas", file, "--paths", "3"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("star on 2 paths")
    assert "failed: path 2 bbr: the guest panicked" in said.err


def test_two_atlases_may_keep_the_same_run(tmp_path: Path) -> None:
    """One moved the other's half-written file away, which then failed."""
    kept = tmp_path / "key.json"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: modelled._keep(kept, {"goodput": n}), range(400)))
    assert modelled._kept(kept) is not None and [*tmp_path.iterdir()] == [kept]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--cc", "star,star"], "--cc star,star: a name is given twice"),
        (["--beside", "Bbr"], "--beside Bbr: 'Bbr' is not a congestion control's name"),
        (["--cc", "bbr", "--beside", "bbr"], "--beside: bbr needs a peer other than itself"),
        (["--paths", "0"], "--paths 0: a whole number"),
        (["--only", "1,x"], "--only x: a whole number"),
        (["--set", "ber=0,1e-7"], "--set ber: one value is needed, no list"),
        (["--model", "--cc", "hybla"], "--model: there is no hybla in it"),
        (["--model", "--kernel", "bookworm"], "--model takes neither --kernel"),
    ],
)
def test_bad_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, words: list[str], says: str
) -> None:
    with_paper(tmp_path, monkeypatch)
    assert main.main(["atlas", written(tmp_path), "--paths", "2", *words]) == 2
    said = capsys.readouterr().err.splitlines()
    assert says in said[-1]


def leaves(table: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a table there is something to be replaced."""
    found: list[tuple[Any, ...]] = []
    if not isinstance(table, dict | list):
        return found
    for key, value in table.items() if isinstance(table, dict) else enumerate(table):
        found += [(*place, key), *leaves(value, (*place, key))]
    return found


@pytest.mark.parametrize("name", ["single", "mixed", "radios"])
def test_any_value_in_a_space_is_taken_or_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each value of a file replaced by others of any type, one at a time."""
    text = (space.FOLDER / f"{name}.toml").read_text()
    (tmp_path / "tried.toml").touch()
    places = leaves(tomllib.loads(text))
    others = (None, True, -1, 1e999, "", "none", "'leo'", "rate", "{", "{rate: none}", [], [1, 2],
              ["rate", "x"], {}, {"log": [1, 2]}, {"is": "1"}, 10**400)  # fmt: skip
    refused = 0
    dice = random.Random(1)
    for place in dice.sample(places, min(60, len(places))):
        table = tomllib.loads(text)
        monkeypatch.setattr(tomllib, "loads", lambda _, table=table: table)
        holder = table
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = dice.choice(others)
        try:
            found = space.read(str(tmp_path / "tried.toml"), 10)
            jobs.asked(
                found, [found.path(1, number) for number in (1, 2)], found.ways or ["star"], []
            )
        except UsageError as error:
            refused += 1
            assert str(error).isprintable()
        monkeypatch.undo()
        monkeypatch.setattr(traces, "FOLDER", tmp_path / "atlas")
    assert refused > 20


def test_a_tick_has_its_round_number() -> None:
    """Of an axis by powers of ten matplotlib computes 0.1 s a little too small."""
    assert numbers.written(space.read("single"), "rtt", 0.09999999999999999) == "100ms"
