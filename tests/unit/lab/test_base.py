# SPDX-License-Identifier: GPL-2.0
"""What all rooms of the lab share: files written whole, programs that end with the lab."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import resource
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from apogee_lab import base
from apogee_lab.base import LAB, LabError, cache_dir, call, compiled, if_free, locked, write_whole
from tests.patience import wait_for


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large: '.*/file'"):
            write_whole(path, "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


def test_what_a_killed_writer_left_is_used_again(tmp_path: Path) -> None:
    code = "import os, pathlib; pathlib.Path.replace = lambda *_: os.kill(os.getpid(), 9)\n"
    code += "from apogee_lab.base import write_whole as w; w(pathlib.Path('file'), 'half')"
    env = {**os.environ, "PYTHONPATH": str(LAB.parent)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, check=False)
        assert done.returncode == -signal.SIGKILL
    assert [each.read_text() for each in tmp_path.iterdir()] == ["half"]
    write_whole(tmp_path / "file", "new")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "new"


def test_two_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, "a")

    def write(letter: str) -> None:
        for size in range(200):
            write_whole(path, letter * (1 + 100 * size))

    with ThreadPoolExecutor() as pool:
        writers = [pool.submit(write, letter) for letter in "abc"]
        while not all(writer.done() for writer in writers):
            assert len(set(path.read_text())) == 1
        for writer in writers:
            writer.result()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_tree_that_cannot_be_copied_has_one_reason(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "link").symlink_to("nowhere")
    with pytest.raises(shutil.Error) as failure:
        shutil.copytree(tmp_path / "from", tmp_path / "to")
    assert base.reason(failure.value).endswith(f"No such file or directory: '{tmp_path}/from/link'")
    assert base.reason(OSError(errno.ENOSPC, "full")) == "full"


def test_space(tmp_path: Path) -> None:
    base.need_space(tmp_path, 0)
    with pytest.raises(LabError, match=r"MB of space are needed, \d+ are left$"):
        base.need_space(tmp_path, 10**12)


@pytest.mark.parametrize(
    ("own", "caches", "home", "folder"),
    [
        ("/a", "/b", "/c", "/a"),
        ("", "/b", "/c", "/b/apogee"),
        (None, "/b", "/c", "/b/apogee"),
        (None, "b", "/c", "/c/.cache/apogee"),  # XDG: a relative path is ignored
        (None, "", "/c", "/c/.cache/apogee"),
        (None, None, "/c", "/c/.cache/apogee"),
        (None, None, None, "/home/of/passwd/.cache/apogee"),
        (None, None, "", "/home/of/passwd/.cache/apogee"),
    ],
)
def test_the_cache_is_the_users(
    own: str, caches: str, home: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = pwd.struct_passwd(("a", "x", 1, 1, "", "/home/of/passwd", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", {os.getuid(): found}.__getitem__)
    for name, text in {"APOGEE_CACHE": own, "XDG_CACHE_HOME": caches, "HOME": home}.items():
        monkeypatch.setenv(name, text or "")
        if text is None:
            monkeypatch.delenv(name)
    assert str(cache_dir()) == folder
    if not home:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
        with pytest.raises(LabError, match="no home for the cache: set APOGEE_CACHE"):
            cache_dir()


@pytest.mark.parametrize(("words", "said"), [("waiting", "waiting"), ("", "name.lock")])
def test_a_lock_waits_and_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    said: str,
) -> None:
    """Also if the lock's file is removed meanwhile, which only its holder does."""
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path))
    monkeypatch.setattr(base, "PATIENCE_S", 60 if words else 0.01)
    order = []

    def second() -> None:
        with locked("name", words):
            order.append("second")

    with ThreadPoolExecutor() as pool, locked("name"):
        waiting = pool.submit(second)
        wait_for(lambda: said in capsys.readouterr().err)
        order.append("first")
        (tmp_path / "name.lock").unlink()
        with if_free(tmp_path) as free:
            assert free
    waiting.result()
    assert order == ["first", "second"]
    with locked("name"), if_free(tmp_path / "name.lock") as free:
        assert not free


def test_who_is_alone_may_write(tmp_path: Path) -> None:
    """Else NFS gives no such lock. Folders are locked there for one machine, whoever reads them."""
    for path in (tmp_path / "file", tmp_path):
        path.touch()
        with if_free(path) as free:
            (handle,) = (fd for fd in Path("/proc/self/fd").iterdir() if fd.resolve() == path)
            flags = fcntl.fcntl(int(handle.name), fcntl.F_GETFL)
            assert (free, bool(flags & os.O_RDWR)) == (True, path.is_file())
    program = shutil.copy(base.find_program("sleep", "coreutils"), tmp_path)
    with subprocess.Popen([program, "600"]) as running:
        with if_free(Path(program)) as free:
            assert not free
        running.kill()


def test_what_is_removed_meanwhile_is_not_held(tmp_path: Path) -> None:
    """clean-cache had the lock that a process waited for, and removed the file."""
    there = tmp_path / "complete"
    there.touch()
    with ThreadPoolExecutor() as pool:
        with if_free(there) as free:
            assert free
            waiting = pool.submit(base.hold, there)
            wait_for(lambda: open_here(there) == 2)
            there.unlink()
        for held in (waiting.result, lambda: base.hold(there)):
            with pytest.raises(LabError, match="another process has removed it: begin again"):
                held()


def open_here(path: Path) -> int:
    """How many descriptors of this process are of a file."""
    names = (link for link in Path("/proc/self/fd").iterdir() if link.is_symlink())
    return [os.readlink(name) for name in names].count(str(path))


def test_a_program_is_of_its_sources_flags_and_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 3; }\n")
    first = compiled("a", [source], "", [])
    assert subprocess.run([first], check=False).returncode == 3
    found = [first, compiled("a", [source], "", ["-s"])]
    with monkeypatch.context() as patch:
        patch.setattr(base, "version_of", lambda program: f"{program} 99")
        found.append(compiled("a", [source], "", []))
        patch.setattr(base, "version_of", lambda _: "")
        assert compiled("a", [source], "", []) in found, "without a compiler: what is there"
        patch.setattr(base, "find_program", missing)
        with pytest.raises(LabError, match="^gcc is not installed"):
            compiled("a", [source], "", ["-O3"])
        for path in found:  # as of a build that was killed
            path.rename(path.with_name(path.name + ".part"))
        with pytest.raises(LabError, match="^gcc is not installed"):
            compiled("a", [source], "", [])
    for path in found:
        path.with_name(path.name + ".part").rename(path)
    source.write_text("int main(void) { return 4; }\n")
    found.append(compiled("a", [source], "", []))
    assert len({*found}) == 4
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == sorted(
        ["a.lock", *(path.name for path in found)]
    )


def test_programs_that_were_not_used_for_longest_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(base, "PROGRAMS_KEPT", 2)
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 3; }\n")
    others = [tmp_path / "cache" / f"a-{n:012x}-{n:012x}" for n in range(3)]
    others[0].parent.mkdir()
    for age, path in enumerate(others):
        path.touch()
        os.utime(path, (1e9 - age, 1e9 - age))
    strange = tmp_path / "cache" / "a-letter"
    strange.touch()
    with others[2].open() as used:
        fcntl.flock(used, fcntl.LOCK_SH)
        made = compiled("a", [source], "", [])
    there = {*(tmp_path / "cache").glob("a-*")}
    assert there == {made, others[0], others[2], strange}


def test_a_program_is_the_same_for_all_working_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / "cache"))
    found = set()
    for tree in (tmp_path / "one", tmp_path / "two"):
        (tree / "include").mkdir(parents=True)
        (tree / "a.c").write_text("int main(void) { return 3; }\n")
        monkeypatch.setattr(base, "repo_root", lambda tree=tree: tree)
        found.add(compiled("a", [tree / "a.c"], "", [f"-I{tree}", f"-I{tree}/include"]))
    assert len(found) == 1


def missing(name: str, package: str) -> Path:
    """Replaces find_program."""
    raise LabError(f"{name} is not installed: apt-get install {package}")


def test_a_cache_that_no_kernel_can_be_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APOGEE_CACHE", "/ü")
    assert cache_dir() == Path("/ü")
    for name in ("/a b", "/a:b", "/a\tb"):
        monkeypatch.setenv("APOGEE_CACHE", name)
        with pytest.raises(LabError, match="set APOGEE_CACHE to another one"):
            cache_dir()


def test_one_line() -> None:
    assert base.one_line("a\nb\x1b[1m ü") == "a\\nb\\x1b[1m ü"
    assert base.one_line("1" * 5000).endswith("1 … " + "1" * 200)


def test_a_missing_program_or_folder_is_named() -> None:
    with pytest.raises(LabError, match=r"^looking: no-such-program is not installed"):
        call(["no-such-program"], "looking")
    with pytest.raises(LabError, match="^looking: true: there is no folder /none to run it in$"):
        call(["true"], "looking", cwd=Path("/none"))


def test_a_program_ends_with_the_lab(tmp_path: Path, root: Path) -> None:
    """Even if the lab is killed while it waits for it, and with what make has started below it."""
    pids = tmp_path / "pids"
    (tmp_path / "Makefile").write_text(
        f"all:\n\t$(MAKE) below\nbelow:\n\techo $$$$ $$PPID >{pids}; exec sleep 3600\n"
    )
    code = "import sys; from apogee_lab.base import call; call(['make', '-C', sys.argv[1]], 'make')"
    lab = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(root / "scripts")},
    )
    wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    wait_for(lambda: not any(Path("/proc", pid).exists() for pid in pids.read_text().split()))
