# SPDX-License-Identifier: GPL-2.0
"""The page of lab judge in a headless Chromium: it renders, asks for nothing, takes a keyboard, can
be read in light, dark and on paper, and has the JSON's numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from apogee_lab.judge import page, text
from tests.judge.browser import Browser, opened
from tests.judge.cards import a_card

#: So many that the matrix is wider than most screens.
CCS = ("vegas", "star", "bbr", "cubic", "reno", "hybla", "westwood", "illinois", "scalable")
TAB, ENTER = ("Tab", 9), ("Enter", 13)
#: Small text has this contrast by WCAG 2.2, 1.4.3 (AA).
CONTRAST = 4.5

#: The least contrast of all text that is seen, and where it is.
LEAST = """(() => {
  const parts = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => c / 255)
      .map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const found = parts(getComputedStyle(e).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  let least = [99, ""];
  for (const e of document.querySelectorAll("body *:not(script)")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const svg = e instanceof SVGElement;
    const a = light(parts(svg ? style.fill : style.color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 200)];
  }
  return least;
})()"""

#: Every figure in the tables of cases, as they are written.
FIGURES = """[...document.querySelectorAll("section > details .wide tbody tr")].map(
  (row) => [...row.children].map((cell) => cell.textContent.trim()))"""


@pytest.fixture(scope="module")
def card() -> dict[str, Any]:
    """A card with a text of its author that a page must not take for its own."""
    made = a_card(CCS) | {"left_out": {"5.9": ["beside (long)"]}}
    made["criteria"][1]["texts"] = ["</script><script>alert(1)</script> & so on"]
    made["criteria"][0]["tests"][0]["title"] = "</script> <b>What</b> is left"
    return made


@pytest.fixture(scope="module")
def browser(card: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("page")
    (folder / "card.html").write_text(page.html(card, page.library()))
    with opened(folder / "card.html", folder / "profile") as found:
        yield found


def drawn(browser: Browser) -> int:
    return browser.ask("document.querySelectorAll('.plot .points path').length")


def test_a_cell_unfolds_by_keyboard(browser: Browser, card: dict[str, Any]) -> None:
    """Tab comes to the first cell, Enter unfolds it to plots and figures, and folds it again."""
    assert drawn(browser) == 0
    focused = "document.activeElement.className"
    for _ in range(4):
        browser.press(*TAB)
        if browser.ask(focused) == "cell":
            break
    assert browser.ask(focused) == "cell"
    browser.press(*ENTER)
    browser.ask("new Promise((done) => setTimeout(done, 300))")
    cases = card["criteria"][0]["tests"][0]["cells"]["vegas"]["cases"]
    assert drawn(browser) == len(CCS) * len(cases)
    assert browser.ask("document.querySelector('tr.panel details').open")
    assert browser.ask("document.activeElement.tagName") == "SUMMARY"
    assert browser.ask("document.querySelectorAll('a.cell[aria-expanded=true]').length") == 1
    browser.ask("document.querySelector('a.cell').click()")
    assert browser.ask("document.querySelectorAll('tr.panel').length") == 0
    assert browser.ask("document.querySelectorAll('section > details').length") == 2 * len(CCS)


def test_plots_show_and_magnify(browser: Browser) -> None:
    """The pointer is told of a value, and a plot can be zoomed."""
    browser.ask("document.querySelectorAll('section > details')[0].open = true")
    browser.ask("new Promise((done) => setTimeout(done, 300))")
    browser.ask(
        "Plotly.Fx.hover(document.querySelector('.plot'), [{curveNumber: 8, pointNumber: 0}])"
    )
    told = browser.ask("document.querySelector('.hovertext').textContent")
    assert "vegas: not met" in told and "0.5" in told
    browser.ask("Plotly.Fx.unhover(document.querySelector('.plot'))")
    assert browser.ask("document.querySelector('.plot').layout.dragmode") in (None, "zoom")


def test_the_figures_are_those_of_the_json(browser: Browser, card: dict[str, Any]) -> None:
    expected = [
        [case["case"], text.SHORT[case["verdict"]], text.figure(case), text.measured(test, case)]
        for one in card["criteria"]
        for cc in card["algorithms"]
        for test in one["tests"]
        for case in test["cells"][cc]["cases"]
    ]
    assert browser.ask(FIGURES) == expected
    plotted = browser.ask("card")
    for one in card["criteria"]:
        for test in one["tests"]:
            for cc, cell in test["cells"].items():
                shown = plotted[f"{one['section']} {test['name']}"]["cells"][cc]
                assert [(s["value"], s["low"], s["high"]) for s in shown] == [
                    (c["value"], c["low"], c["high"]) for c in cell["cases"]
                ]


@pytest.mark.parametrize("how", [{}, {"dark": True}, {"paper": True}, {"width": 380}])
def test_it_can_be_read(browser: Browser, how: dict[str, Any]) -> None:
    """In light, in dark, on paper and on a phone, where nothing but tables is wider than the
    screen."""
    browser.emulate(**how)
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    browser.ask("new Promise((done) => setTimeout(done, 300))")
    ratio, where = browser.ask(LEAST)
    assert ratio >= CONTRAST, where
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.ask(wide) <= 0


def test_it_asks_for_nothing_and_complains_of_nothing(browser: Browser) -> None:
    asked = [url for url in browser.asked if not url.startswith("data:")]
    assert len(asked) == 1 and asked[0].startswith("file://")
    assert browser.errors == []
    assert browser.ask("document.querySelector('pre.text').textContent").startswith("</script>")


def test_equal_cards_give_equal_pages(card: dict[str, Any]) -> None:
    again = json.loads(json.dumps(card))
    assert page.html(card, "") == page.html(again, "")
