# SPDX-License-Identifier: GPL-2.0
"""The man pages tell what there is: every parameter, setting and option, and no others."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from apogee_lab.commands import main
from apogee_lab.engines import registry
from tests import ROOT

MAN = ROOT / "man"
MODULES = sorted(path.stem for path in ROOT.glob("tcp_*.c"))
DEVICES = sorted(path.parent.name for path in ROOT.glob("*/Kbuild"))
PAGES = ["lab.1", "apogee-bpf.8", "shake-quick.8", *(f"{one}.8" for one in MODULES + DEVICES)]
#: name, least, most, default
Parameter = tuple[str, int, int, int]


def test_every_page_is_here() -> None:
    assert {page.name for page in MAN.iterdir()} == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_well_formed(page: str) -> None:
    command = ["mandoc", "-T", "lint", "-W", "warning", str(MAN / page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def sections(page: Path, macro: str) -> dict[str, str]:
    """The text below each heading, by the heading."""
    parts = re.split(rf"^\.{macro} (.+)$", page.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SSCOP, SHAKE = (sections(MAN / f"{device}.8", "SH") for device in ("sscop", "shake"))


# --- modules ----------------------------------------------------------------------------------


def enumerators() -> dict[str, int]:
    """Numbers by the names that the sources' enumerations give them."""
    found: dict[str, int] = {}
    for path in [*ROOT.glob("tcp_*.c"), *ROOT.glob("include/apogee/*.h")]:
        for body in re.findall(r"\benum \w+ \{([^}]*)\}", path.read_text()):
            value = -1
            for item in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(","):
                name, _, given = (word.strip() for word in item.partition("="))
                value = int(given, 0) if given.isdigit() else value + 1
                found[name] = value
    return found


def declared(module: str) -> Iterator[Parameter]:
    """The APOGEE_PARAM lines of a module."""
    text = (ROOT / f"{module}.c").read_text()
    names = enumerators()
    form = r'^APOGEE_PARAM\((\w+), \w+, (\w+), (\w+),\s+".*\(default (\d+)\)"\);$'
    for name, *bounds, default in re.findall(form, text, re.M):
        low, high = (int(word) if word.isdigit() else names[word] for word in bounds)
        yield name, low, high, int(default)


@pytest.mark.parametrize("module", MODULES)
def test_parameters(module: str) -> None:
    wanted = list(declared(module))
    assert len(wanted) == (ROOT / f"{module}.c").read_text().count("APOGEE_PARAM(")
    text = sections(MAN / f"{module}.8", "SH")["PARAMETERS"]
    form = r'^\.TP\n\.BR (\w+) " \((\d+) to (\d+), default (\d+)\)"$'
    found = [(name, *map(int, rest)) for name, *rest in re.findall(form, text, re.M)]
    assert found == wanted
    assert text.count(".TP") == len(found)


@pytest.mark.parametrize("module", MODULES)
def test_defaults_are_those_of_the_variables(module: str) -> None:
    """What a description says, and so the page, is what the variable begins with."""
    text, names = (ROOT / f"{module}.c").read_text(), enumerators()
    for name, _, _, default in declared(module):
        variable = r"^static unsigned int (\w+) __read_mostly(?: = (\w+))?;"
        found = re.search(rf"{variable}\nAPOGEE_PARAM\({name}, \1,", text, re.M)
        assert found, name
        given = found[2] or "0"
        assert default == (int(given) if given.isdigit() else names[given])


@pytest.mark.parametrize("module", MODULES)
def test_tracepoints(module: str) -> None:
    """Every event with all of its fields, and no others."""
    path = ROOT / "include" / "trace" / f"{module}.h"
    header = path.read_text() if path.exists() else ""
    wanted = {
        f"{module}:{event[0]}": set(re.findall(r"__field\(\w+, (\w+)\)", event[1]))
        for event in re.findall(r"TRACE_EVENT\((\w+),(.*?)TP_fast_assign", header, re.S)
    }
    text = sections(MAN / f"{module}.8", "SH")["WATCHING"].partition(".SS Tracepoints")[2]
    found = {}
    for block in text.partition("\n.PP")[0].split(".TP\n")[1:]:
        name = re.match(r"\.B (\S+)", block)
        assert name
        found[name[1]] = set(re.findall(r"^\.IR? (\w+)(?: [,)]+)?$", block, re.M))
    assert found == wanted


def test_names_of_the_congestion_controls() -> None:
    for module in MODULES:
        text = (ROOT / f"{module}.c").read_text()
        description = sections(MAN / f"{module}.8", "SH")["DESCRIPTION"]
        for name in re.findall(r'\.name\s+= "(\w+)"', text):
            assert re.search(rf"^\.BR? {name}\b", description, re.M), name


# --- sscop ------------------------------------------------------------------------------------

_UNITS = {"us": 1, "ms": 1000, "s": 1_000_000}


def quantity(text: str) -> int:
    """A number, a time in us, or a word that stands for 0."""
    match = re.fullmatch(r"(\d+)(us|ms|s)?", text)
    return int(match[1]) * _UNITS.get(match[2] or "us", 1) if match else 0


def settings_init(device: str) -> str:
    """The function that gives a device its defaults."""
    source = (ROOT / device / "settings.c").read_text()
    return re.findall(rf"{device}_settings_init.*?\n}}\n", source, re.S)[0]


def block(source: str, head: str) -> str:
    """What stands in the braces behind a head, of a structure or an array."""
    return re.findall(rf"{head}.*?\{{(.*?)^\}}", source, re.S | re.M)[0]


def constants() -> dict[str, int]:
    """Numbers that sscop's headers define."""
    found = {}
    form = r"^#define (SSCOP_\w+) \(?(\d+)U?(?: << (\d+))?\)?(?:\s|$)"
    for header in (ROOT / "sscop").rglob("*.h"):
        for name, number, shift in re.findall(form, header.read_text(), re.M):
            found[name] = int(number) << int(shift or 0)
    return found


@pytest.fixture(scope="module")
def words() -> dict[str, tuple[str, int, int]]:
    """ip's words: name in JSON, least, most."""
    text = (ROOT / "sscop" / "iproute2" / "link_sscop.c").read_text()
    text = text.replace("MAX_U32", str(2**32 - 1))
    form = r'^\t\{"([\w-]+)", "(\w+)", \w+, \w+, (\d+), (\d+)\},'
    return {word: (key, int(a), int(b)) for word, key, a, b in re.findall(form, text, re.M)}


def test_settings_of_sscop(words: dict[str, tuple[str, int, int]]) -> None:
    """Each word of ip, with its range and the device's default."""
    form = r'^\.TP\n\.BR ([\w-]+) " \S+ \((?:(\w+) to (\w+), )?default (\S+)\)"$'
    text = SSCOP["SETTINGS"].partition("\n.SS")[0]
    found = re.findall(form, text, re.M)
    assert text.count(".TP") == len(found)
    assert [one[0] for one in found] == list(words)
    begins = settings_init("sscop")
    given = {name: quantity(text) for name, text in re.findall(r"\.(\w+) = (\w+),", begins)}
    given["ustat"] = ".ustat = true," in begins
    for word, least, most, default in found:
        key, *bounds = words[word]
        if least:
            assert [quantity(least), quantity(most)] == bounds, word
        started = given.get(key.removesuffix("_us"), 0)
        assert (default == "on" if word == "ustat" else quantity(default)) == started, word


def test_ranges_of_sscop_are_the_kernels(words: dict[str, tuple[str, int, int]]) -> None:
    has = constants()
    assert words["segment"][1:] == (has["SSCOP_SEGMENT_MIN"], has["SSCOP_PAYLOAD_MAX"])
    assert words["window"][1:] == (1, has["SSCOP_WINDOW_MAX"])
    assert words["poll-time"][1:] == (has["SSCOP_POLL_TIME_MIN"], has["SSCOP_POLL_TIME_MAX"])
    assert words["poll-idle"][1:] == (has["SSCOP_POLL_IDLE_MIN"], has["SSCOP_POLL_TIME_MAX"])
    assert words["backlog"][1:] == (has["SSCOP_BACKLOG_MIN"], has["SSCOP_BACKLOG_MAX"])
    assert words["small"][1:] == (0, has["SSCOP_SMALL_MAX"])
    assert words["persist"][1:] == (has["SSCOP_PERSIST_MIN"], has["SSCOP_PERSIST_MAX"])


def test_statistics_of_sscop() -> None:
    """Every counter of the protocol and of the device, in the order of ethtool."""
    source = (ROOT / "sscop" / "ethtool.c").read_text()
    counts = block((ROOT / "sscop/core/sscop.h").read_text(), "struct sscop_counts ")
    wanted = re.findall(r"^\tu64 (\w+);", counts, re.M)
    assert re.findall(r"\bCOUNT\((\w+)\)", source)[1:] == wanted
    classes = re.findall(r"\bCLASS_COUNT\((\w+), SSCOP_\w+, (\w+)\)", source)
    wanted += [f"{name}_{field}" for name, field in classes]
    wanted += [f"dropped_{name}" for name in re.findall(r"\bDROPPED\((\w+), SSCOP", source)]
    wanted += re.findall(r'"(\w+)"', block(source, "device_names"))
    headings = re.findall(r"^\.TP\n\.BR? (.+)$", SSCOP["STATISTICS"], re.M)
    assert sorted(re.findall(r"\w+", " ".join(headings))) == sorted(wanted)
    assert len(wanted) == len(set(wanted))


# --- shake ------------------------------------------------------------------------------------


def rows(array: str) -> dict[str, str]:
    """The words of an array of the plug-in, with what their rows say after the kind."""
    source = (ROOT / "shake" / "iproute2" / "link_shake.c").read_text()
    body = block(source, rf"struct word {array}\[\] = ")
    return dict(re.findall(r'^\t\{"([\w-]+)", (?:"\w+"|NULL), (.*)', body, re.M))


def test_settings_of_shake() -> None:
    """Each word of ip, with its range, and the device's default."""
    form = r'^\.TP\n\.BR ([\w-]+) " \S+(?: \((?:(\w+) to (\w+), )?default (\S+)\))?"$'
    text, *_ = SHAKE["SETTINGS"].partition("\n.SS")
    found = re.findall(form, text, re.M)
    given = rows("words")
    assert [one[0] for one in found] == [word for word in given if word not in ("path", "peer")]
    for word, least, most, _ in found:
        if least and not given[word].startswith("NAME"):
            numbers = given[word].replace("MAX_U32", str(2**32 - 1)).replace("U,", ",")
            wanted = f", {quantity(least)}, {quantity(most)}, "
            assert wanted in numbers, word
    begins = settings_init("shake")
    defaults = {one[0]: one[3] for one in found}
    for word, text in (("id", r"\.id = (\w+)"), ("theta", r"\.theta = (\w+)"),
                       ("threshold", r"\.threshold = (\w+)"),
                       ("keepalive", r"\.keepalive = (\d+) \* USEC_PER_SEC")):  # fmt: skip
        number = re.search(text, begins)
        assert number and number[1] == defaults[word].removesuffix("s"), word
    assert ".auth = true" in begins and defaults["auth"] == "on"
    assert "SHAKE_RAH" in begins and defaults["scheduler"] == "rah"
    assert "SHAKE_ACK_AUTO" in begins and defaults["ack"] == "auto"


@pytest.mark.parametrize(("section", "array"), [("Paths", "path_words"), ("Peers", "peer_words")])
def test_words_of_shakes_paths_and_peers(section: str, array: str) -> None:
    text = sections(MAN / "shake.8", "SS")[section].partition("\n.SH")[0]
    assert re.findall(r"^\.TP\n\.BI? ([\w-]+)", text, re.M) == [*rows(array)]


def test_statistics_of_shake() -> None:
    """Every counter, in any order."""
    source = (ROOT / "shake" / "ethtool.c").read_text()
    wanted = re.findall(r'^\t\[SHAKE_\w+\] = "(\w+)",', source, re.M)
    wanted += [f"flows_{name}" for name in re.findall(r"^\tFLOWS\((\w+)\)", source, re.M)]
    header = (ROOT / "shake/core/shake_holes.h").read_text()
    members = re.findall(r"^\tu64 (\w+);", block(header, "struct shake_flow_counts "), re.M)
    assert re.findall(r"^\tFLOWS\((\w+)\)", source, re.M) == members
    headings = re.findall(r"^\.TP\n\.BR? (.+)$", SHAKE["STATISTICS"], re.M)
    assert sorted(re.findall(r"\w+", " ".join(headings))) == sorted(wanted)
    paths = SHAKE["STATISTICS"].partition("path1_srtt_us")[2]
    names = re.findall(r'^\tPATH_U\d\d\("(\w+)"', source, re.M)
    told = re.findall(r"\w+", " ".join(re.findall(r"^\.BR? (.+)$", paths, re.M)))
    assert told == names


@pytest.mark.parametrize("device", DEVICES)
def test_files_of_devices(device: str) -> None:
    source = (ROOT / device / "sysfs.c").read_text()
    files = re.findall(r"^\t&(?:dev_attr|number|setting)_(\w+)\.(?:attr\.)?attr,$", source, re.M)
    told = sections(MAN / f"{device}.8", "SH")["SYSFS"]
    assert files == re.findall(r"^\.IR? ([a-z_]+)(?: ,)?(?: \.)?$", told, re.M)


# --- the lab ----------------------------------------------------------------------------------


def verbs(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """Each verb with its options, written as in `--set KEY=VALUE`."""
    deeper = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for action in deeper:
        for word, found in action.choices.items():
            yield from verbs(found, f"{name} {word}".strip())
    if not deeper:
        yield name, {written(a) for a in parser._actions if a.option_strings and a.dest != "help"}


def written(action: argparse.Action) -> str:
    """An option with what it takes."""
    option = action.option_strings[-1]
    if action.nargs == 0:
        return option
    takes = action.metavar or "|".join(action.choices or [action.dest.upper()])
    return f"{option} {takes}"


def test_verbs_and_options() -> None:
    found = {}
    for heading, text in sections(MAN / "lab.1", "SS").items():
        text = text.partition("\n.SH")[0].replace(r"\-", "-")
        options = re.findall(r'^\.TP\n\.BI? (--[\w-]+)(?: "( .+)")?$', text, re.M)
        assert text.count(".TP") == len(options), heading
        for verb in heading.replace(r"\-", "-").split(", "):
            name = " ".join(word for word in verb.split() if re.fullmatch("[a-z-]+", word))
            found[name] = {option + takes for option, takes in options}
    assert found == dict(verbs(main.build_parser()))


def test_defaults_and_engines_of_the_lab() -> None:
    text = sections(MAN / "lab.1", "SS")["run SCENARIO"]
    assert f"Congestion controls ({main.DEFAULT_CC});" in text
    assert f"Seconds of one run ({main.DEFAULT_DURATION_S:g})." in text
    engine = text.partition("ENGINE")[2].partition(".TP")[0]
    assert tuple(re.findall(r"^\.BR? (\w+)", engine, re.M)) == registry.ENGINES


def test_environment() -> None:
    """Every variable that the lab's Python reads for a user."""
    told = set(re.findall(r"^\.B (APOGEE_\w+)$", (MAN / "lab.1").read_text(), re.M))
    read = set()
    for path in (ROOT / "scripts" / "apogee_lab").rglob("*.py"):
        read |= set(re.findall(r'environ(?:\.get\(|\[)"(APOGEE_\w+)"', path.read_text()))
    assert told == read
