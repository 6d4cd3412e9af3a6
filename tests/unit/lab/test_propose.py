# SPDX-License-Identifier: GPL-2.0
"""What `lab tune` proposes for a described path, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apogee_lab.base import UsageError
from apogee_lab.commands.main import main
from apogee_lab.host import propose
from apogee_lab.host.tune import path_of


def proposed(rate: str, rtt: str, loss: float, shared: bool) -> str:
    return propose.propose(path_of(rate, rtt), loss, shared).algorithm


def test_windows_are_those_of_the_rfc() -> None:
    """RFC 9438, table 1: 1 Gbit/s of 1500 octets and 0.1 s, loss against mean window."""
    for loss, packets in {
        1e-2: 12,
        1e-3: 38,
        1e-4: 187,
        1e-5: 1054,
        1e-6: 5926,
        1e-8: 187_400,
    }.items():
        assert propose.cubic_window(loss, 0.1) == pytest.approx(packets, rel=0.03)


@pytest.mark.parametrize(
    ("rate", "rtt", "loss", "shared", "wanted"),
    [
        ("10mbit", "500ms", 0.012, False, "star"),
        ("10mbit", "500ms", 0.012, True, "star"),
        ("10mbit", "500ms", 0.0, False, "star"),
        ("10mbit", "500ms", 0.0, True, "cubic"),
        ("10mbit", "20ms", 1e-4, False, "cubic"),
        ("1gbit", "50ms", 0.0, True, "hstcp_gentle"),
        ("9600bit", "1ms", 0.4, False, "cubic"),
    ],
)
def test_a_path_has_its_algorithm(
    rate: str, rtt: str, loss: float, shared: bool, wanted: str
) -> None:
    assert proposed(rate, rtt, loss, shared) == wanted


def test_as_json_with_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    words = "tune --rate 10mbit --rtt 500ms --loss 1.2% --shared --json"
    assert main(words.split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["algorithm"], told["module"], told["qdisc"]) == ("star", "tcp_star", "fq")
    assert told["cubic_share"] == pytest.approx(0.04, abs=0.01), "measured: 0.5 of 10 Mbit/s"
    assert told["beware"]
    assert told["sysctl"]["net.ipv4.tcp_sack"] == "1"
    assert {"section", "title", "level", "verdict", "figure"} == set(told["card"][0])


def test_the_card_is_the_whole_one_with_figures_of_what_is_not_met(root: Path) -> None:
    """`--quick` leaves out queues in which star does worse."""
    name, verdicts = propose.card_of("star")
    assert name == "docs/results/judge/star/card.json"
    whole = json.loads((root / name).read_text())
    told = {one["section"]: one["verdict"] for one in verdicts}
    for criterion in whole["criteria"]:
        verdict = criterion["verdicts"].get("star", "text")
        assert told.get(criterion["section"], "text") == verdict
    assert {one["section"] for one in verdicts if one["figure"]} == {
        section for section, verdict in told.items() if verdict == "not met"
    }
    assert propose.card_of("hstcp_gentle")[0] == "docs/results/judge/card.json"


def test_only_a_described_path_has_a_proposal(capsys: pytest.CaptureFixture[str]) -> None:
    words = "tune --rate 10mbit --rtt 500ms".split()
    assert main(words) == 0
    assert "Proposed" not in capsys.readouterr().out
    assert main([*words, "--loss", "0.0 %", "--shared"]) == 0
    told = capsys.readouterr().out
    assert "# Proposed: cubic. " in told
    assert f"#   scripts/lab {' '.join(words)} --loss 0% --shared\n" in told
    for more in ("--apply --shared", "--loss 50%", "--loss x"):
        assert main([*words, *more.split()]) == 2
    assert propose.card_of("unheard") == ("", [])
    with pytest.raises(UsageError):
        propose.loss_of("-1%")
