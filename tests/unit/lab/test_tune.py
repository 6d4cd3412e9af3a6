# SPDX-License-Identifier: GPL-2.0
"""`lab tune`: sizes against values computed by hand, bad input, writing and restoring sysctls.

The sysctls are files in a temporary folder that replaces /proc/sys.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.commands import main
from apogee_lab.host import sysctls, tune

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
PROFILE = Path("profiles") / "apogee-satellite.conf"

#: A host's initial values: Debian 12's defaults.
BEFORE = {
    "net.core.rmem_max": "212992",
    "net.core.wmem_max": "212992",
    "net.ipv4.tcp_rmem": "4096\t131072\t6291456",
    "net.ipv4.tcp_wmem": "4096\t16384\t4194304",
    "net.ipv4.tcp_moderate_rcvbuf": "1",
    "net.ipv4.tcp_adv_win_scale": "1",
    "net.ipv4.tcp_window_scaling": "1",
    "net.ipv4.tcp_sack": "1",
    "net.ipv4.tcp_dsack": "1",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_no_metrics_save": "0",
    "net.core.default_qdisc": "pfifo_fast",
}
#: 100 Mbit/s and 600 ms: 7.5 MB, four times that in a window, eight times in a buffer.
PATH = ("--rate", "100mbit", "--rtt", "600ms")
CHANGED = {
    "net.core.rmem_max": "30000000",
    "net.core.wmem_max": "30000000",
    "net.ipv4.tcp_rmem": "4096 6291456 60000000",
    "net.ipv4.tcp_wmem": "4096 16384 60000000",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.core.default_qdisc": "fq",
}


def values(rate: str, rtt: str) -> dict[str, str]:
    """The sysctls printed for a path."""
    text = tune.profile(tune.path_of(rate, rtt))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split(" = ") for line in lines)  # type: ignore[misc]


def told(rate: str, rtt: str) -> str:
    """The profile as one line."""
    text = tune.profile(tune.path_of(rate, rtt))
    return " ".join(line.removeprefix("# ") for line in text.splitlines())


def status_of(*argv: str) -> int:
    try:
        return main.main(["tune", *argv])
    except SystemExit as leaving:
        return int(leaving.code or 0)


# --- sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "rtt", "product", "by_hand", "receive", "send", "queue", "flow"),
    [
        # 9600 x 0.001 / 8 = 1.2: all stays as the kernel has it
        ("9.6kbit", "1ms", 2, 212_992, (131_072, 6_291_456), 4_194_304, 1000, 100),
        # 10e6 x 0.5 / 8; four of it; first twice; 8 x are 5 000 000; 416.7 packets
        ("10mbit", "500ms", 625_000, 2_500_000, (1_250_000, 6_291_456), 5_000_000, 1000, 417),
        # 1e9 x 0.07 / 8 = 8.75e6; 5833.3 packets
        ("1gbit", "70ms", 8_750_000, 35_000_000, (6_291_456, 70_000_000), 70_000_000, 5834, 5834),
        # 100e9 x 10 / 8; the largest window, 65535 x 16384, and twice that; 715816.9 packets
        (
            "100gbit", "10s", 125_000_000_000, 1_073_725_440, (6_291_456, 2_147_450_880),
            2_147_450_880, 715_817, 715_817,
        ),
    ],
)  # fmt: skip
def test_sizes(
    rate: str, rtt: str, product: int, by_hand: int, receive: tuple[int, int], send: int,
    queue: int, flow: int,
) -> None:  # fmt: skip
    found = values(rate, rtt)
    assert found["net.core.rmem_max"] == found["net.core.wmem_max"] == str(by_hand)
    assert found["net.ipv4.tcp_rmem"] == f"4096 {receive[0]} {receive[1]}"
    assert found["net.ipv4.tcp_wmem"] == f"4096 16384 {send}"
    text = tune.profile(tune.path_of(rate, rtt))
    assert f"/ 8 = {product} bytes." in text
    assert f"txqueuelen {queue}\n" in text
    assert f"fq limit {max(queue, 10_000)} flow_limit {flow}\n" in text


def test_no_size_passes_what_a_sysctl_holds() -> None:
    for rate in ("9.6kbit", "1mbit", "2.5gbit", "100gbit"):
        for rtt in ("1ms", "1.234567s", "10s"):
            for value in values(rate, rtt).values():
                numbers = [int(word) for word in value.split() if word.isdigit()]
                assert all(0 <= number < 2**31 for number in numbers), (rate, rtt)


def test_the_end_of_windows_is_told() -> None:
    """TCP's window ends at 65535 x 2^14 bytes: 8 x that / 10 s = 858.98 Mbit/s, 117 windows."""
    assert "RFC 7323" not in told("1gbit", "70ms")
    one = told("100gbit", "10s")
    assert "less than P. A flow reaches 858mbit at the most, 117 flows fill" in one
    # 5e9 x 0.5 / 8 = 312.5 MB: one fits, four do not
    assert "less than 4 P." in told("5gbit", "500ms")


def test_every_setting_has_its_reason() -> None:
    lines = tune.profile(tune.path_of("10mbit", "500ms")).splitlines()
    for at, line in enumerate(lines):
        if line and not line.startswith("#"):
            assert lines[at - 1].startswith("# "), line


def test_the_profile_is_what_tune_prints(root: Path, capsys: Capture) -> None:
    assert status_of("--rate", "10mbit", "--rtt", "500ms") == 0
    assert capsys.readouterr().out == (root / PROFILE).read_text()


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "as in --rate 10mbit --rtt 500ms"),
        ("--rate 10mbit", "as in --rate 10mbit --rtt 500ms"),
        ("--rate 9599bit --rtt 1s", "9.6kbit to 100gbit"),
        ("--rate 100.1gbit --rtt 1s", "9.6kbit to 100gbit"),
        ("--rate 0 --rtt 1s", "9.6kbit to 100gbit"),
        ("--rate 10 --rtt 1s", "is not a rate"),
        ("--rate 1mbit --rtt 0.9ms", "1ms to 10s"),
        ("--rate 1mbit --rtt 10.1s", "1ms to 10s"),
        ("--rate 1mbit --rtt fast", "is not a time"),
        ("--rate 1mbit --rtt 1e999s", "too large"),
        ("--rate x\ny --rtt 1s", "is not a rate"),
        ("--rate 1mbit --rtt 1s --yes", "--apply or --restore"),
        ("--restore --rate 1mbit", "takes neither"),
        ("--restore --apply", "not allowed with"),
    ],
)
def test_bad_input_is_one_line(words: str, told: str, capsys: Capture) -> None:
    assert status_of(*(words.split(" ") if words else ())) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert told in said.err


# --- writing and restoring --------------------------------------------------------------------


@pytest.fixture
def host(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A folder with a host's sysctls as files; the state file is elsewhere."""
    proc = tmp_path / "sys"
    for key, value in BEFORE.items():
        file = proc / key.replace(".", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value + "\n")
    monkeypatch.setattr(sysctls, "PROC_SYS", proc)
    monkeypatch.setenv("APOGEE_STATE", str(tmp_path / "lib" / "state.json"))
    return proc


def now(host: Path) -> dict[str, str]:
    """The host's current sysctls."""
    return {key: " ".join((host / key.replace(".", "/")).read_text().split()) for key in BEFORE}


def untouched(host: Path) -> bool:
    return now(host) == UNTOUCHED and not sysctls.state_file().exists()


UNTOUCHED = {key: " ".join(value.split()) for key, value in BEFORE.items()}


def answer(monkeypatch: Patch, text: str) -> None:
    """Replace standard input by a terminal with this text."""
    typed = io.StringIO(text)
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", typed)


def test_apply_tells_asks_writes_and_remembers(
    host: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    answer(monkeypatch, "y\n")
    assert status_of(*PATH, "--apply") == 0
    assert now(host) == UNTOUCHED | CHANGED
    said = capsys.readouterr().out
    for key, value in CHANGED.items():
        assert f"  {key}: {UNTOUCHED[key]} -> {value}\n" in said
    assert said.count("->") == len(CHANGED)
    state = json.loads(sysctls.state_file().read_text())
    assert state == {k: {"old": UNTOUCHED[k], "new": v} for k, v in CHANGED.items()}


def test_restore_puts_all_back(host: Path, monkeypatch: Patch) -> None:
    assert status_of(*PATH, "--apply", "--yes") == 0
    answer(monkeypatch, "yes\n")
    assert status_of("--restore") == 0
    assert untouched(host)
    assert status_of("--restore", "--yes") == 2


def test_applied_twice_the_first_old_values_count(host: Path) -> None:
    assert status_of(*PATH, "--apply", "--yes") == 0
    assert status_of("--rate", "1gbit", "--rtt", "600ms", "--apply", "--yes") == 0
    assert now(host)["net.core.rmem_max"] == "300000000"
    assert status_of("--restore", "--yes") == 0
    assert now(host) == UNTOUCHED


def test_old_values_end_with_the_boot(host: Path) -> None:
    """Values saved before a reboot are not restored over those set at boot."""
    assert status_of(*PATH, "--apply", "--yes") == 0
    booted = {"net.core.rmem_max": "8000000", "net.core.default_qdisc": "fq_codel"}
    for key, value in (BEFORE | booted).items():
        (host / key.replace(".", "/")).write_text(value)
    assert status_of(*PATH, "--apply", "--yes") == 0
    assert now(host) == UNTOUCHED | CHANGED
    assert status_of("--restore", "--yes") == 0
    assert now(host) == UNTOUCHED | booted


def test_nothing_to_change(host: Path, capsys: Capture) -> None:
    assert status_of(*PATH, "--apply", "--yes") == 0
    state = sysctls.state_file().read_text()
    capsys.readouterr()
    assert status_of(*PATH, "--apply") == 0
    assert capsys.readouterr().out.startswith("nothing to change")
    assert sysctls.state_file().read_text() == state


def test_larger_sizes_stay(host: Path) -> None:
    larger = {"net.ipv4.tcp_rmem": "8192 100000 99000000", "net.core.wmem_max": "77000000"}
    for key, value in larger.items():
        (host / key.replace(".", "/")).write_text(value)
    assert status_of(*PATH, "--apply", "--yes") == 0
    assert now(host)["net.ipv4.tcp_rmem"] == "8192 6291456 99000000"
    assert now(host)["net.core.wmem_max"] == "77000000"


@pytest.mark.parametrize("typed", ["n\n", "\n", "", "perhaps\n"])
def test_no_means_no(typed: str, host: Path, capsys: Capture, monkeypatch: Patch) -> None:
    answer(monkeypatch, typed)
    assert status_of(*PATH, "--apply") == 1
    assert untouched(host)
    assert "nothing was changed" in capsys.readouterr().out


def test_without_a_terminal_it_refuses(host: Path, capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert status_of(*PATH, "--apply") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert untouched(host)


def test_one_refused_and_all_is_as_before(host: Path, capsys: Capture, monkeypatch: Patch) -> None:
    """If the kernel refuses a value (no such queue), the values already written are restored."""
    real = sysctls._write

    def refusing(proc: Path, key: str, value: str) -> None:
        if value == "fq":
            raise LabError(f"{key} cannot be set to 'fq': No such file or directory")
        real(proc, key, value)

    monkeypatch.setattr(sysctls, "_write", refusing)
    assert status_of(*PATH, "--apply", "--yes") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert untouched(host)


def test_what_others_changed_since_stays(host: Path, capsys: Capture) -> None:
    assert status_of(*PATH, "--apply", "--yes") == 0
    (host / "net/core/default_qdisc").write_text("cake\n")
    capsys.readouterr()
    assert status_of("--restore", "--yes") == 0
    assert now(host) == UNTOUCHED | {"net.core.default_qdisc": "cake"}
    assert "net.core.default_qdisc was changed by someone else" in capsys.readouterr().out


def test_a_sysctl_that_is_not_there(host: Path, capsys: Capture) -> None:
    (host / "net/core/rmem_max").unlink()
    assert status_of(*PATH, "--apply", "--yes") == 2
    assert "net.core.rmem_max cannot be read" in capsys.readouterr().err
    assert not sysctls.state_file().exists()


def test_not_writable_is_told_before_anything(
    host: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    refused = str(host / "net/core/default_qdisc")
    monkeypatch.setattr(sysctls.os, "access", lambda path, _: str(path) != refused)
    assert status_of(*PATH, "--apply", "--yes") == 2
    assert "run as root" in capsys.readouterr().err
    assert now(host) == UNTOUCHED


def test_a_damaged_state_file(host: Path, capsys: Capture) -> None:
    assert status_of(*PATH, "--apply", "--yes") == 0
    applied = now(host)
    sysctls.state_file().write_text('{"net.core.rmem_max": 3}')
    capsys.readouterr()
    for argv in (("--restore", "--yes"), ("--rate", "1gbit", "--rtt", "1s", "--apply", "--yes")):
        assert status_of(*argv) == 2
        said = capsys.readouterr().err
        assert "damaged" in said and said.count("\n") == 1
        assert now(host) == applied
