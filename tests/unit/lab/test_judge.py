# SPDX-License-Identifier: GPL-2.0
"""lab judge: criteria are read and answered as computed by hand; a card says what was found."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.base import UsageError
from apogee_lab.judge import board, criteria, grounds, measures, runs, text
from apogee_lab.judge import card as cards
from apogee_lab.judge.criteria import Bound, criterion
from apogee_lab.judge.verdict import MET, NONE, UNMET, UNSHOWN, Answer, answer, worst
from tests import ROOT
from tests.judge.cards import CRITERION, TEST, a_card, small

CARDS = sorted((ROOT / "docs" / "results" / "judge").rglob("card.json"))
WHOLE = json.loads((ROOT / "docs/results/judge/star/card.json").read_text(encoding="utf-8"))


def made(**changes: Any) -> criteria.Test:
    return criterion(CRITERION | {"test": [TEST | changes]}).tests[0]


def judged(own: Sequence[float | None], than: dict[str, list[float | None]], **more: Any) -> Answer:
    return answer(made(than=list(than), **more), own, than)


# --- answers ----------------------------------------------------------------------------------


def test_one_seed_is_decided_by_its_value() -> None:
    assert judged([9.0], {"reno": [10.0], "cubic": [12.0]}) == Answer(
        MET, 0.9, None, None, 9.0, 10.0, "reno"
    )
    assert judged([8.0], {"reno": [10.0], "cubic": [12.0]}).verdict == UNSHOWN
    assert judged([6.9], {"reno": [10.0], "cubic": [12.0]}).verdict == UNMET


def test_less_is_compared_with_the_mix_that_has_most() -> None:
    found = judged([3.0], {"reno": [1.0], "cubic": [2.0]}, met="<= 2", unmet="> 4")
    assert (found.verdict, found.value, found.than) == (MET, 1.5, "cubic")


def test_slack_is_added_to_both() -> None:
    found = judged([0.4], {"reno": [0.0]}, met="<= 2", unmet="> 4", slack=0.5)
    assert (found.verdict, found.value) == (MET, pytest.approx(1.8))
    assert (found.measured, found.reference) == (pytest.approx(0.4), pytest.approx(0.0))


def test_the_whole_interval_decides() -> None:
    """Of 8, 10 and 12: mean 10, deviation 2, t(0.975, 2) = 4.3027, so ± 4.968."""
    found = judged([8.0, 10.0, 12.0], {}, met=">= 5", unmet="< 4")
    assert (found.value, found.low, found.high) == pytest.approx((10, 5.032, 14.968), abs=1e-3)
    assert found.verdict == MET
    assert judged([8.0, 10.0, 12.0], {}, met=">= 5.1", unmet="< 4").verdict == UNSHOWN
    assert judged([8.0, 10.0, 12.0], {}, met=">= 20", unmet="< 15").verdict == UNMET
    assert judged([8.0, 10.0, 12.0], {}, met=">= 20", unmet="< 14.9").verdict == UNSHOWN


def test_seeds_are_paired() -> None:
    """Twice the reference in each seed: the ratio has no width, whatever the seeds scatter."""
    found = judged([8.0, 12.0, 10.0], {"reno": [4.0, 6.0, 5.0]})
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2))


def test_an_interval_without_bounds_shows_nothing() -> None:
    """The reference's mean may be 0 by Student's t."""
    found = judged([2.0, 20.0], {"reno": [1.0, 10.0]})
    assert (found.verdict, found.value) == (UNSHOWN, 2.0)
    assert found.why == "the interval has no bounds"


def test_without_a_run_nothing_is_shown() -> None:
    assert judged([None], {"reno": [1.0]}).why.startswith("a run of it")
    assert judged([1.0], {"reno": [1.0], "cubic": [None]}).why.startswith("a run that")
    assert judged([], {"reno": []}).verdict == UNSHOWN


def test_the_worst_counts() -> None:
    assert worst([MET, UNSHOWN, MET]) == UNSHOWN
    assert worst([UNSHOWN, UNMET, NONE]) == UNMET
    assert worst([MET, NONE]) == MET
    assert worst([]) == NONE


@pytest.mark.parametrize(
    ("bound", "inside", "outside"),
    [(">= 0.9", 0.9, 0.89), ("<= 2", 2.0, 2.1), ("> 4", 4.1, 4.0), ("< 0.5", 0.49, 0.5)],
)
def test_bounds(bound: str, inside: float, outside: float) -> None:
    sign, number = bound.split()
    found = Bound(sign, float(number))
    assert found.holds(inside) and not found.holds(outside)
    assert str(found) == bound


# --- measures ---------------------------------------------------------------------------------

FLOWS = [
    {"goodput_bps": 6e6, "segments": 6000, "retransmits": 60, "fair_share": 1.5, "queue_drops": 50},
    {"goodput_bps": 2e6, "segments": 2000, "retransmits": 20, "fair_share": 0.5, "queue_drops": 30},
]
RECORD: dict[str, Any] = {
    "total_goodput_bps": 8e6, "limit_bps": 9.6e6, "duration_s": 10.0, "jain": 0.8, "link_drops": 5,
    "losses": 120, "bdp_bytes": 60_000, "set": {"rate": "10mbit"}, "flows": FLOWS,
    "queue": {"mean_ms": 12.5, "drops": 80},
    "liar": {"segments": 6600, "half_s": 0.6},
    "rtp": {"sent": 200, "lost": 3, "p99_ms": 44.0},
    "requests": {"sizes": [{"bytes": 60_000, "times_s": [0.25, 1.0]}]},
}  # fmt: skip
for _flow in FLOWS:
    _flow["rtt_ms"] = {"mean": 50.0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("goodput", 8.0), ("utilisation", 100 * 8 / 9.6), ("own goodput", 6.0),
        ("others' goodput", 2.0), ("other's goodput", 2.0), ("other's share", 0.5),
        ("other's RTT", 50.0), ("other's loss", 1.5), ("jain", 0.8), ("queue", 12.5),
        ("loss", 1.0), ("lost frames", 5), ("segments", 6000), ("retransmits", 1.0),
        ("sent", 6000 * 1514 * 8 / 1e8), ("real-time delay", 44.0), ("real-time loss", 1.5),
        ("transfer", 0.625), ("lie", 6600), ("after a lie", 0.6),
        # on the empty path: 1.5 round trips of 50 ms and 50 ms; 2 and 8 times as long
        ("slowness", 4.0),
        # lost 2 % of 6.95 Mbit/s; the equation has 1.70 Mbit/s at 2 % and 50 ms
        ("over equation", 6000 * 1448 * 8 / 10 / 1_697_000),
    ],
)  # fmt: skip
def test_measures(name: str, value: float) -> None:
    assert measures.MEASURES[name].of(RECORD) == pytest.approx(value, rel=1e-3)


def test_data_that_never_comes_back() -> None:
    """It counts with all the time that was waited."""
    never = {"liar": {"half_s": None}, "set": {"lie_rtt": "long"}}
    assert measures.MEASURES["after a lie"].of(never) == 90


def test_every_measure_is_tested() -> None:
    (mark,) = test_measures.pytestmark
    assert {name for name, _ in mark.args[1]} == {*measures.MEASURES}


def test_the_equation() -> None:
    """RFC 5348, 3.1 at p = 2 %, R = 50 ms, t_RTO = 4 R: √(2p/3) = 0.11547, √(3p/8) = 0.0866,
    1 + 32 p² = 1.0128, so 1.697 Mbit/s."""
    root = 0.115470 + 12 * 0.0866025 * 0.02 * 1.0128
    assert measures.equation_bps(0.02, 0.05) == pytest.approx(8 * 1448 / (0.05 * root), rel=1e-5)


# --- files ------------------------------------------------------------------------------------


def test_the_criteria_cover_the_rfc() -> None:
    every = criteria.read()
    assert [one.section for one in every] == [
        "3", "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2", "5.2.1", "5.2.2", "5.2.3",
        "5.3.1", "5.3.2", "6.1", "6.2", "6.3", "6.4", *(f"7.{n}" for n in range(1, 12)), "8",
    ]  # fmt: skip
    for one in every:
        assert bool(one.tests) == (one.level != criteria.TEXT)
        assert all(any(case.quick for case in test.cases) for test in one.tests[:1]), one.section


def test_every_run_is_one_that_its_scenario_takes() -> None:
    asked = runs.questions(criteria.read(), ["vegas"], ["bbr", "reno"], quick=False)
    wanted = runs.runs_of(asked)
    assert len(runs.compiled(wanted)) == len(wanted) == len(set(wanted))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"met": "0.9"}, "'0.9' is no bound"),
        ({"unmet": "> 2"}, "test t: met and unmet are on the same side"),
        ({"measure": "speed"}, "unknown measure 'speed'"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"case": [{"name": "a"}, {"name": "a"}]}, "two cases have one name"),
    ],
)
def test_a_bad_test_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**change)


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('section = "1"\n')
    with pytest.raises(UsageError, match="x.toml: 'title' is missing"):
        criteria.read(tmp_path)
    (tmp_path / "x.toml").write_text("section = \n")
    with pytest.raises(UsageError, match="x.toml: "):
        criteria.read(tmp_path)


def test_sections_are_chosen() -> None:
    every = criteria.read()
    assert [one.section for one in criteria.chosen(every, ["5.2", "8"])] == [
        "5.2", "5.2.1", "5.2.2", "5.2.3", "8",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="--only 9: no criterion"):
        criteria.chosen(every, ["9"])


# --- questions and cards ----------------------------------------------------------------------


def test_questions() -> None:
    asked = runs.questions(small(), ["vegas"], ["bbr", "reno"], quick=False)
    assert [one.name for one in asked] == [
        "short, beside bbr", "short, beside reno", "long, beside bbr", "long, beside reno",
    ]  # fmt: skip
    assert asked[0].commands(["--engine", "uml"]) == [
        "scripts/lab run satellite-shared --engine uml --cc vegas+bbr,reno+bbr --seed 1,2 "
        "--duration 10 --set delay=20ms --set queue=30kB"
    ]
    assert len(runs.runs_of(asked)) == 2 * 2 * 4
    (only,) = runs.questions(small(), ["vegas"], ["bbr", "reno"], quick=True)
    assert (only.name, only.seeds) == ("short, beside bbr", (1,))
    assert runs.left_out(small(), ["bbr", "reno"]) == {
        "5.9": ["beside (short, beside reno)", "beside (long, beside bbr)",
                "beside (long, beside reno)"]
    }  # fmt: skip


def test_a_failed_run_says_why() -> None:
    (one,) = runs.questions(small(), ["vegas"], ["bbr", "reno"], quick=True)
    found = one.answered({(one.own, 1): RECORD}, {(one.than["reno+bbr"], 1): "it\ncrashed"})
    assert (found.verdict, found.why) == (UNSHOWN, "a run failed: it\\ncrashed")


def test_a_card() -> None:
    card = a_card()
    assert card["criteria"][0]["verdicts"] == {"vegas": UNMET, "star": MET}
    assert card["criteria"][1]["verdicts"] == {"vegas": "text", "star": "text"}
    assert cards.failed(card, "must") == [("vegas", "5.9")]
    assert text.lost(card) == [
        "vegas: not met 5.9; not shown nothing", "star: not met nothing; not shown nothing",
    ]  # fmt: skip
    page = text.markdown(card)
    assert "| 5.9 | C | must | NOT MET | met |\n" in page
    assert "| 5.9 | vegas | beside, short, beside bbr | 0.5 (0.4 to 0.6) | >= 0.9 |" in page
    assert "| star |" not in page.split("## Not met")[1]
    assert "Without a text of the author: 9." in page
    assert all(len(line) <= 120 for line in page.splitlines() if not line.startswith("|"))
    assert json.loads(cards.as_json(card)) == card
    assert re.search(r"^5\.9 +C +must +NOT MET +met$", text.summary(card), re.M)


def test_cards_are_merged(tmp_path: Path) -> None:
    one, two = a_card(["vegas"]), a_card(["star"])
    assert cards.merged([one, two]) == a_card() | {"command": "c; c"}
    with pytest.raises(UsageError, match="two cards have vegas"):
        cards.merged([one, a_card(["vegas"])])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("kernel", "7"), ("beside", ["cubic"]), ("board", WHOLE["board"]),
        ("criteria 0 level", "should"), ("criteria 0 tests 0 met", ">= 0.8"),
        ("criteria 0 tests 0 cells star cases 0 case", "x"),
    ],
)  # fmt: skip
def test_cards_that_ask_for_other_things_are_not_merged(path: str, value: Any) -> None:
    other = json.loads(_changed(path, value, a_card(["star"])))
    with pytest.raises(UsageError, match="other criteria"):
        cards.merged([a_card(["vegas"]), other])


def test_all_texts_are_in_a_merged_card() -> None:
    one, two = a_card(["vegas"]), a_card(["star"])
    one["criteria"][1]["texts"], two["criteria"][1]["texts"] = ["a", "b"], ["b", "c"]
    assert cards.merged([one, two])["criteria"][1]["texts"] == ["a", "b", "c"]


def _changed(path: str, value: Any, card: cards.Card | None = None) -> str:
    """A card as JSON in which the value at this place is another one; ... removes it."""
    card = json.loads(cards.as_json(card or a_card()))
    *above, last = path.split()
    place = card
    for key in above:
        place = place[int(key) if key.isdigit() else key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(card)


CASE = "criteria 0 tests 0 cells vegas cases 0"


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.name)
def test_a_card_of_this_repository_is_what_it_says(path: Path) -> None:
    """Its page is made of its figures, its answers follow from these, its criteria are today's."""
    card = cards.read(path)
    if path.parent.name == "judge":
        page = path.with_suffix(".md").read_text(encoding="utf-8")
        assert text.markdown(card, ["card.svg"]) == page
    every = {one.section: one for one in criteria.read()}
    assert [one["section"] for one in card["criteria"]] == [*every]
    for one in card["criteria"]:
        tests = [[t.name, str(t.met), str(t.unmet), t.source] for t in every[one["section"]].tests]
        assert [[t["name"], t["met"], t["unmet"], t["source"]] for t in one["tests"]] == tests
        for test, cc in itertools.product(one["tests"], card["algorithms"]):
            cases = test["cells"][cc]["cases"]
            assert [met(test, case) for case in cases] == [case["verdict"] == MET for case in cases]


def met(test: dict[str, Any], case: dict[str, Any]) -> bool:
    """Whether the value, or its whole interval, is on the good side, as the figures are written."""
    values = [case["value"]] if case["low"] is None else [case["low"], case["high"]]
    sign, number = test["met"].split()
    return None not in values and all(Bound(sign, float(number)).holds(v) for v in values)


@pytest.mark.parametrize(
    "content",
    [
        "{}", "[]", "", "[" * 100_000, '{"algorithms": ["vegas"], "board": null, "grounds": null}',
        _changed("format", 1), _changed("format", ...), _changed("board", ...),
        _changed("board", {"rows": [{}]}),
        _changed("grounds", ...), _changed("grounds", {"rows": 1}),
        _changed("criteria", 5), _changed("algorithms", []),
        _changed("algorithms", "vegas"), _changed("algorithms", ["vegas", "vegas"]),
        _changed("algorithms", ["vegas", "reno"]), _changed("made", "a\x1b[2J"),
        _changed("criteria 0 verdicts vegas", "great"), _changed("criteria 0 level", "maybe"),
        _changed("criteria 0 texts", [5]), _changed("criteria 0 tests 0 met", "much"),
        _changed(f"{CASE} value", "1"), _changed(f"{CASE} low", float("nan")),
        _changed(f"{CASE} high", float("inf")), _changed(f"{CASE} than", ...),
        _changed(f"{CASE} high", None), _changed("more", 1), _changed("left_out", {"\x1b": []}),
        _changed("board within_s", None, WHOLE), _changed("board rows 0 link_s", None, WHOLE),
        _changed("board rows 0 times star high", None, WHOLE),
        _changed("board rows 0 published", {"x": None}, WHOLE),
        _changed("grounds rows 0 values star low", None, WHOLE),
    ],
)  # fmt: skip
def test_what_is_no_card_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text(content)
    with pytest.raises(UsageError, match=r"no.json: not a card"):
        cards.read(tmp_path / "no.json")


def test_a_card_is_read(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(cards.as_json(a_card()))
    assert cards.read(tmp_path / "card.json") == a_card()


def test_numbers_that_json_lacks() -> None:
    assert cards.significant(float("inf")) is None
    assert cards.significant(123456.0) == 123500.0


# --- the scoreboard ---------------------------------------------------------------------------


def test_what_a_link_allows() -> None:
    """69 061 frames of 1514 B at 10 Mbit/s, 1 % of them twice, and one and a half round trips."""
    first, second = board.read().rows[:2]
    assert board.read().link_s(first) == pytest.approx(0.9 + 69_061 * 1514 * 8 / 10e6)
    assert board.read().link_s(second) == pytest.approx(0.9 + 69_061 / 0.99 * 1514 * 8 / 10e6)


def test_a_scoreboard() -> None:
    """Means with their intervals; who does not finish, and who failed, is told."""
    geo = board.read()
    records: dict[Any, Any] = {run: {"whole_s": 90.0} for run in geo.runs(["star"])}
    for number, run in enumerate(geo.runs(["cubic"])):
        records[run] = {"whole_s": None if number < 3 else 20.0 + number}
    filled = board.filled(geo, ["star", "cubic", "bbr"], records, ["--engine", "uml"])
    rows = board.table(filled, ["star", "cubic", "bbr"])
    assert rows[1] == [
        "10/2 Mbit/s", "84.5", "90.0", "> 600", "failed", "picoquic, BBR 81; draft's aim 85",
    ]  # fmt: skip
    # 23, 24, 25: deviation 1, t(0.975, 2) / sqrt(3) = 2.48
    assert rows[2][3] == "24.0 ± 2.5"
    assert len(geo.runs(["star"])) == 8 * 3 and len(board.read(quick=True).runs(["star"])) == 8


# --- grounds ----------------------------------------------------------------------------------


def test_grounds_are_paths_that_the_lab_takes() -> None:
    """Equal each time, without files of one machine; a random path has a seed of its own."""
    whole, quick = grounds.read(), grounds.read(quick=True)
    assert whole == grounds.read() and len(runs.compiled(whole.runs(["vegas"]))) == 6 * 3 + 8
    assert len(quick.runs(["vegas"])) == 6 + 2
    assert not any("/" in text for row in whole.rows for text in row.run.settings)
    assert all(row.name.startswith("random ") for row in whole.rows[6:])


def test_what_counts_on_a_ground() -> None:
    """Of flows beside others those of the algorithm; no limit where more than that was carried."""
    shared = {"total_goodput_bps": 9e6, "limit_bps": 10e6, "groups": {"fast": {"goodput_bps": 4e6}}}
    found = grounds.read(quick=True)
    filled = grounds.filled(found, ["a"], dict.fromkeys(found.runs(["a"]), shared), [])
    assert (filled["rows"][0]["values"]["a"]["value"], filled["rows"][0]["limit"]) == (4, 10)
    more = {"total_goodput_bps": 12e6, "limit_bps": 10e6}
    filled = grounds.filled(found, ["a"], dict.fromkeys(found.runs(["a"]), more), [])
    assert (filled["rows"][0]["values"]["a"]["value"], filled["rows"][0]["limit"]) == (12, None)


def test_a_table_of_grounds(tmp_path: Path) -> None:
    found = grounds.read(quick=True)
    records: dict[Any, Any] = {
        (run, seed): {"total_goodput_bps": 2e6, "limit_bps": 4e6}
        for run, seed in found.runs(["star"])
    }
    filled = grounds.filled(found, ["star", "cubic"], records, ["--engine", "uml"])
    head, first, *_ = grounds.table(filled, ["star", "cubic"])
    assert head == ["path", "limit", "star", "cubic"]
    assert first == ["satellite, 10 Mbit/s, 500 ms", "4", "2", "failed"]
    card = a_card(["vegas", "star"]) | {"grounds": None}
    filled = grounds.filled(found, ["vegas", "star"], records, [])
    (tmp_path / "card.json").write_text(cards.as_json(card | {"grounds": filled}))
    assert cards.read(tmp_path / "card.json")["grounds"] == filled
    one, two = (
        a_card([cc]) | {"grounds": grounds.filled(found, [cc], records, [])}
        for cc in ("vegas", "star")
    )
    merged = cards.merged([one, two])["grounds"]
    assert grounds.table(merged, ["vegas", "star"]) == grounds.table(filled, ["vegas", "star"])
    assert "| satellite, 10 Mbit/s, 500 ms | 4 | failed | 2 |" in text.markdown(
        card | {"grounds": filled}
    )
