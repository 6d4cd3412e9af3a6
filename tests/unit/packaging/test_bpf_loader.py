# SPDX-License-Identifier: GPL-2.0
"""apogee-bpf under sanitizers among things that are not as it wishes: files, pins, objects, routes.

Its folders are below one of the test, and ip(8) is a script; nothing of this machine is changed.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from apogee_lab import bpf
from tests.bpf import minimum

Run = subprocess.CompletedProcess[str]


class Loader:
    """The program, its folder of pins, that of objects, and an ip that answers from a file."""

    def __init__(self, root: Path, top: Path) -> None:
        self.pins, self.objects = top / "fs" / "apogee", top / "objects"
        self.found = top / "found"
        self.routes, self.asked, self.bin = top / "routes", top / "asked", top / "bin"
        for folder in (self.pins.parent, self.objects, self.bin):
            folder.mkdir()
        built = bpf.loader().parent
        self.program = top / "apogee-bpf"
        macros = [f'-DBPF_FS="{self.pins.parent}"', f'-DOBJECTS="{self.objects}"', '-DVERSION="0"']
        checks = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        files = [p for p in (root / "bpf").glob("*.c") if not p.name.endswith(".bpf.c")]
        command = ["gcc", *checks, *macros, f"-I{built}", *files, "-o", self.program,
                   "-lbpf", "-lelf", "-lcap"]  # fmt: skip
        subprocess.run(command, check=True)
        self.ip("")

    def ip(self, routes: str, script: str = "") -> None:
        """What ip shows; changes are noted."""
        self.routes.write_text(routes)
        self.asked.write_text("")
        (self.bin / "ip").write_text(
            f"#!/bin/sh\n{script}\n"
            f'case "$*" in *" show "*) [ "$2$5" != -6dev ] || exit 0; cat {self.routes} ;;\n'
            '*" get "*) echo "$5 via 192.0.2.1 dev up src 192.0.2.2 uid 0"; echo "    cache" ;;\n'
            f'*) echo "$@" >>{self.asked} ;; esac\n'
        )
        (self.bin / "ip").chmod(0o755)

    def run(self, *words: str | Path, **options: object) -> Run:
        # Lists of algorithms live until the program ends.
        env = os.environ | {"PATH": f"{self.bin}:/usr/bin:/bin"}
        env |= {
            "ASAN_OPTIONS": f"detect_leaks=0:log_path={self.found}",
            "UBSAN_OPTIONS": f"log_path={self.found}",
        }
        return subprocess.run(
            [self.program, *words], capture_output=True, text=True, errors="replace", check=False,
            env=env, timeout=60, **options,  # type: ignore[call-overload]
        )  # fmt: skip

    def refused(self, *words: str | Path, **options: object) -> str:
        """The one line that it says."""
        done = self.run(*words, **options)
        assert done.returncode in (1, 64), done
        assert done.stderr.startswith("apogee-bpf: ") and done.stderr.count("\n") == 1, done
        return done.stderr.removeprefix("apogee-bpf: ").rstrip("\n")


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Loader:
    return Loader(root, tmp_path_factory.mktemp("loader"))


@pytest.fixture
def loader(built: Loader) -> Iterator[Loader]:
    """In the end no sanitizer may have found anything in this program, only in its libraries."""
    built.ip("")
    for folder in (built.pins, *built.objects.iterdir()):
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.exists():
            subprocess.run(["rm", "-r", folder], check=True)
    yield built
    for report in built.found.parent.glob("found.*"):
        text = report.read_text(errors="replace")
        assert "runtime error" not in text, text
        first = re.search(r"^ +#0 .*", text, re.M)
        assert first and not re.search(r"/bpf/[\w-]+\.[ch]:", first[0]), text
        report.unlink()


# --- files ------------------------------------------------------------------------------------


def test_a_file_that_may_be_missing(loader: Loader, tmp_path: Path) -> None:
    """As the unit's: what an administrator has removed lists nothing. Any other is told."""
    for name in ("none.conf", "none.d", "none/none.conf"):
        done = loader.run("load", "--file", f"-{tmp_path}/{name}")
        assert (done.returncode, done.stderr) == (0, "")
        assert loader.refused("load", "--file", tmp_path / name).endswith(
            "No such file or directory"
        )
    (tmp_path / "bad.conf").write_text("none\n")
    assert ":1: unknown algorithm none" in loader.refused("load", "--file", f"-{tmp_path}/bad.conf")
    (tmp_path / "file").touch()
    assert loader.refused("load", "--file", f"-{tmp_path}/file/x").endswith("Not a directory")


def test_what_is_no_file_in_a_folder(loader: Loader, tmp_path: Path) -> None:
    """It would be waited for."""
    os.mkfifo(tmp_path / "a.conf")
    assert loader.refused("load", "--file", tmp_path) == f"{tmp_path}/a.conf: no file"
    (tmp_path / "a.conf").unlink()
    (tmp_path / "a.conf").symlink_to("/none")
    assert loader.refused("load", "--file", tmp_path).endswith("a.conf: No such file or directory")
    (tmp_path / "a.conf").unlink()
    (tmp_path / "a.conf").mkdir()
    assert loader.refused("load", "--file", tmp_path).endswith("a.conf: Is a directory")


def test_a_line_is_one_line_whatever_is_in_it(loader: Loader, tmp_path: Path) -> None:
    """Names and paths with line feeds and escape sequences."""
    strange = "a\n\x1b[2Jb\x7f"
    assert loader.refused("show", strange) == "unknown algorithm a??[2Jb?; see apogee-bpf list"
    assert loader.refused("load", "--file", tmp_path / strange).endswith(
        "/a??[2Jb?: No such file or directory"
    )
    assert loader.refused("show", f"./{strange}").endswith("No such file or directory")
    assert loader.refused("choose", "192.0.2.0/24", strange) == "a??[2Jb? is not loaded"
    (tmp_path / "b.conf").write_bytes(b"\x1b[31m star\n")
    assert "?[31m" in loader.refused("load", "--file", tmp_path / "b.conf")


@pytest.mark.parametrize(
    "name",
    [
        "x" * 300,
        "/" * 3000,
        "x/" * 2000 + "y",
        "../../star",
        "star/",
        "/",
        ".o",
        ".o:",
        ":",
        "-",
        "",
    ],
)
def test_names_that_are_none(loader: Loader, name: str) -> None:
    for verb in ("show", "unload", "status"):
        if name != "-" and not (verb == "status" and not name):
            loader.refused(verb, "--", name)


def test_files_of_random_octets(loader: Loader, tmp_path: Path) -> None:
    chance, path = random.Random(1), tmp_path / "any.conf"
    words = [
        b"star",
        b"aen=0",
        b" ",
        b"\t",
        b"\n",
        b"\r",
        b"#",
        b"=",
        b"\0",
        b"\xef\xbb\xbf",
        b"./x.o",
        b"x.o:",
        b"-",
    ]
    for _ in range(60):
        data = b"".join(chance.choice(words) for _ in range(chance.randrange(40)))
        path.write_bytes(data)
        done = loader.run("load", "--file", path)
        assert done.returncode in (0, 1) and done.stderr.count("\n") == done.returncode, (
            data,
            done,
        )


# --- pins -------------------------------------------------------------------------------------


def test_what_a_stranger_pinned_is_nothing(loader: Loader) -> None:
    """A removal of the package would fail by it."""
    for name in ("+mine", "+", "+../x", "star", "+" + "x" * 200):
        (loader.pins / name).mkdir(parents=True)
        (loader.pins / name / "ops").touch()
    loader.pins.chmod(0o777)
    assert loader.run("status").stdout == "nothing is loaded; see apogee-bpf list\n"
    assert loader.run("status", "--json").stdout == "[]\n"
    done = loader.run("unload", "--all")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len([*loader.pins.iterdir()]) == 5


def test_pins_that_are_no_folder(loader: Loader, tmp_path: Path) -> None:
    (tmp_path / "+mine").mkdir()
    (tmp_path / "+mine" / "ops").touch()
    for make in (lambda: loader.pins.symlink_to(tmp_path), loader.pins.touch):
        make()
        assert loader.run("status").stdout == "nothing is loaded; see apogee-bpf list\n"
        assert loader.run("unload", "--all").returncode == 0
        loader.pins.unlink()
    assert (tmp_path / "+mine" / "ops").exists()


def test_json_is_whole_if_something_cannot_be_read(loader: Loader) -> None:
    """Pins that are left of what is no longer registered, among others."""
    for name in ("+a", "+b", "+c"):
        (loader.pins / name).mkdir(parents=True)
        (loader.pins / name / "ops").touch()
    loader.pins.chmod(0o700)
    done = loader.run("status", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (1, [])
    assert sorted(done.stderr.splitlines()) == [
        f"apogee-bpf: {name} is not loaded" for name in "abc"
    ]


def test_an_object_has_no_records(loader: Loader) -> None:
    """Nor parameters; by its name alone it is as it was loaded."""
    (loader.pins / "+reno").mkdir(parents=True)
    (loader.pins / "+reno" / "ops").touch()
    loader.pins.chmod(0o700)
    assert loader.refused("trace", "reno") == "reno has no records: it is another's object"
    assert loader.refused("trace") == "nothing is loaded"
    assert loader.refused("set", "reno", "a=1").startswith("unknown parameter a")


# --- objects ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole() -> bytes:
    return minimum.build()


def test_broken_objects_of_the_folder_leave_the_others(loader: Loader, whole: bytes) -> None:
    (loader.objects / "b.bpf.o").write_bytes(whole)
    (loader.objects / "a.bpf.o").write_bytes(whole[:1000])
    (loader.objects / "c.o").mkdir()
    os.mkfifo(loader.objects / "d.o")
    (loader.objects / "e.o").symlink_to("/none")
    done = loader.run("list", "--json")
    assert json.loads(done.stdout)[-1]["name"] == "bpf_minimum"
    assert (done.returncode, done.stderr.count("\n")) == (1, 4)
    shown = loader.run("show", "bpf_minimum")
    assert (shown.returncode, shown.stdout) == (0, "bpf_minimum, as bpf_minimum\n")


def test_changed_objects_never_crash_it(loader: Loader, whole: bytes, tmp_path: Path) -> None:
    """Words of the file's tables, of its types and names; a line for each that is refused."""
    chance, path = random.Random(50), tmp_path / "mine.bpf.o"
    refused = 0
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 2, 8])):
            at = chance.randrange(len(data) - 4) & ~3
            data[at : at + 4] = chance.choice(
                [b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", chance.randbytes(4)]
            )
        path.write_bytes(data)
        done = loader.run("show", path)
        assert done.returncode in (0, 64), done
        assert done.stderr.count("\n") == (1 if done.returncode else 0), done
        refused += done.returncode != 0
    assert 0 < refused < 60


def test_a_machine_without_memory_or_processes_is_one_line(
    loader: Loader, whole: bytes, tmp_path: Path
) -> None:
    """The program itself, as sanitizers want much of both."""
    path, program = tmp_path / "mine.bpf.o", bpf.loader()
    path.write_bytes(whole + bytes(8 << 20))
    refused = 0
    for limit in range(6 << 20, 40 << 20, 4 << 20):
        done = subprocess.run(
            [program, "show", path], capture_output=True, text=True, check=False,
            preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )  # fmt: skip
        if "error while loading shared" in done.stderr or done.returncode < 0:
            continue
        assert done.stderr.count("\n") == (1 if done.returncode else 0), (limit, done)
        refused += done.returncode != 0
    assert refused


# --- routes -----------------------------------------------------------------------------------

REPLACE = "-4 route replace"


#: What ip shows behind the prefix, and what it is told instead.
ROUTES = {
    "via 192.0.2.1 dev up": "via 192.0.2.1 dev up congctl reno",
    # what it has is replaced, locked or not
    "dev up congctl cubic mtu lock 1400": "dev up mtu lock 1400 congctl reno",
    "dev up congctl lock cubic": "dev up congctl reno",
    # of several next hops it is said before the first
    r"metric 9 \	nexthop via 192.0.2.1 dev a weight 1 \	nexthop dev b weight 2 dead ":
        "metric 9 congctl reno nexthop via 192.0.2.1 dev a weight 1 nexthop dev b weight 2",
    # what tells of a state is not part of it
    "dev up linkdown offload rt_trap trap onlink": "dev up onlink congctl reno",
    "dev lo error -113 metric 5": "dev lo metric 5 congctl reno",
    # a router's route still ends when the router said
    "dev up proto ra expires 1799sec pref medium":
        "dev up proto ra expires 1799 pref medium congctl reno",
}  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_is_changed_in_nothing_else(loader: Loader, route: str) -> None:
    changed = f"10.0.0.0/8 {ROUTES[route]}"
    loader.ip(f"10.0.0.0/8 {route}\n")
    done = loader.run("choose", "10.0.0.0/8", "reno")
    assert (done.returncode, done.stderr) == (0, "")
    assert loader.asked.read_text() == f"{REPLACE} {changed}\n"
    loader.ip(f"10.0.0.0/8 {route}\n")
    assert loader.run("choose", "10.0.0.0/8", "none").returncode == 0
    assert loader.asked.read_text() == f"{REPLACE} {changed.replace(' congctl reno', '')}\n"


def test_many_and_long_routes(loader: Loader) -> None:
    """As of a router of the Internet; one that is too long is refused, and none is cut."""
    rest = "via 192.0.2.1 proto bird metric 32 mtu 1400 advmss 1360 hoplimit 64 initcwnd 10"
    rest += " rtt 100ms rttvar 50ms quickack 1"
    many = [f"10.{i >> 8}.{i & 255}.0/24 {rest}" for i in range(600)]
    assert sum(map(len, many)) > 1 << 16
    loader.ip("\n".join(many) + "\n", '[ "$3" != replace ] || { echo x >>"$0.n"; exit 0; }')
    done = loader.run("choose", "dev", "up", "reno")
    assert (done.returncode, done.stderr) == (0, "")
    assert len((loader.bin / "ip.n").read_text().split()) == 600
    hops = "".join(rf"\	nexthop via 192.0.2.{i} dev up weight 1 " for i in range(1, 40))
    loader.ip(f"10.0.0.0/8 {hops}\n")
    said = loader.refused("choose", "10.0.0.0/8", "reno")
    assert said == "choose: a route of more than 60 words: set congctl by hand"
    assert loader.asked.read_text() == ""


def test_prefixes_that_overlap(loader: Loader) -> None:
    """The narrower one gets a route of its own; the wider one's is left alone."""
    assert loader.run("choose", "10.1.0.0/16", "reno").returncode == 0
    assert loader.run("choose", "2001:db8::/32", "reno").returncode == 0
    assert loader.asked.read_text().splitlines() == [
        f"{REPLACE} 10.1.0.0/16 via 192.0.2.1 dev up congctl reno",
        "-6 route replace 2001:db8::/32 via 192.0.2.1 dev up congctl reno",
    ]


def test_the_default_is_that_of_both_families(loader: Loader) -> None:
    loader.ip("default via 192.0.2.1 dev up\n")
    assert loader.run("choose", "default", "reno").returncode == 0
    lines = loader.asked.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["-4", "-6"]
    loader.ip("")
    assert loader.refused("choose", "default", "reno") == "choose: there is no route: default"
    assert loader.refused("choose", "dev", "up", "reno") == "choose: no route leaves by up"


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("kill -9 $$", "ip: has not run to its end"),
        ("exec 1>&-; kill -9 $$", "ip: has not run to its end"),
    ],
)
def test_an_ip_that_fails_is_told(loader: Loader, script: str, line: str) -> None:
    loader.ip("10.0.0.0/8 dev up\n", script)
    assert loader.refused("choose", "10.0.0.0/8", "reno") == line
    (loader.bin / "ip").unlink()
    done = subprocess.run(
        [loader.program, "choose", "10.0.0.0/8", "reno"], capture_output=True, text=True,
        check=False, env={"PATH": str(loader.bin), "ASAN_OPTIONS": "detect_leaks=0"},
    )  # fmt: skip
    told = "apogee-bpf: ip: No such file or directory: apt-get install iproute2\n"
    assert done.stderr == told
