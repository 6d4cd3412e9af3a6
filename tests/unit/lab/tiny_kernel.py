# SPDX-License-Identifier: GPL-2.0
"""A source package of a few objects that is built like a kernel's, and a process that builds it.

``python3 -m tests.unit.lab.tiny_kernel FOLDER`` builds it in the cache; FOLDER is a Tiny's.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from apogee_lab.base import LabError
from apogee_lab.kernels import apt, built
from apogee_lab.kernels.recipe import BuiltKernel, Recipe
from tests import ROOT

NAMES = ("a", "b", "c", "d", "e")
#: An object waits while a file of its name is in HERE, and fails while NAME.broken is there.
MAKEFILE = """
objects := $(patsubst %.c,%.o,$(sort $(wildcard ?.c)))
linux: $(objects)
	$(CC) -nostdlib -shared -Wl,--build-id=none -o $@ $^
%.o: %.c
	@echo '  CC      $@'
	@echo $@ >>$(HERE)/compiled
	@while [ -e $(HERE)/$@ ]; do sleep 0.02; done
	@[ ! -e $(HERE)/$@.broken ]
	@$(CC) -c -o $@ $<
allnoconfig:
	@cp $(KCONFIG_ALLCONFIG) .config
	@mkdir -p include/config && echo 6.9.1-tiny >include/config/kernel.release
modules:
modules_install:
	@mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.9.1-tiny
"""


class Tiny:
    """A folder with the package, the configuration, and what the build says and waits for."""

    def __init__(self, here: Path) -> None:
        self.here = here
        config = here / "config"
        make = ("ARCH=tiny", "CC=gcc-12", f"HERE={here}")
        self.recipe = Recipe(
            "tiny", "bookworm", "tiny", BuiltKernel, make, "linux", (config,),
            patches=(("a.c", ("return 1", "return 2")),),
        )  # fmt: skip

    def package(self, version: str) -> Path:
        """The source package of this version."""
        return self.here / f"linux-source-6.9_{version}_all.deb"

    def write(self, version: str = "6.9.1-1") -> None:
        """Make the package."""
        (self.here / "config").write_text("CONFIG_TINY=y\n")
        top = self.here / version
        source = top / "linux-source-6.9"
        source.mkdir(parents=True)
        (source / "Makefile").write_text(MAKEFILE)
        for name in NAMES:
            (source / f"{name}.c").write_text(f"int {name}(void)\n{{\n\treturn 1;\n}}\n")
        tree = top / "deb"
        (tree / "usr" / "src").mkdir(parents=True)
        archive = tree / "usr" / "src" / "linux-source-6.9.tar.xz"
        subprocess.run(["tar", "-C", top, "-cJf", archive, "linux-source-6.9"], check=True)
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN" / "control").write_text(
            f"Package: linux-source-6.9\nVersion: {version}\nArchitecture: all\n"
            "Maintainer: a <a@b>\nDescription: test\n"
        )
        deb = self.package(version)
        subprocess.run(["dpkg-deb", "-b", tree, deb], check=True, capture_output=True)

    def compiled(self) -> list[str]:
        """The objects whose compilation was begun, in order."""
        log = self.here / "compiled"
        return log.read_text().split() if log.exists() else []

    def build(self) -> BuiltKernel:
        """The kernel, built if the cache has none."""
        found = built.find([self.recipe], "tiny")
        assert found
        return found

    def start(self, *before: str) -> subprocess.Popen[str]:
        """Build it in a process, the first of a session of its own, with words before it."""
        return subprocess.Popen(
            [*before, sys.executable, "-m", "tests.unit.lab.tiny_kernel", self.here],
            cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip


if __name__ == "__main__":
    made = Tiny(Path(sys.argv[1]))
    apt.source = lambda _: made.package("6.9.1-1")
    try:
        made.build()
    except LabError as error:
        sys.exit(str(error))
