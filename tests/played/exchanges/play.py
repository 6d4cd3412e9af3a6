# SPDX-License-Identifier: GPL-2.0
"""Plays scripts in a guest, for several algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from apogee_lab.engines import qemu, uml
from apogee_lab.kernels.kernel import DEFAULT_KERNEL
from tests.guest.runs import compiled
from tests.played import guest
from tests.played.exchanges.compare import EQUAL_S
from tests.played.exchanges.expected import EXACT_S, text_of
from tests.played.exchanges.log import Log, read

HERE = Path(__file__).resolve().parent
LIBRARIES = ("sodium", "crypto")  # of the program

Logs = dict[tuple[str, str], Log]  # of a script and an algorithm


@dataclass(frozen=True)
class Guest:
    """An engine's kernel, its scripts, and within what times are those of a script, or equal.

    ``rests`` are periods between exchanges: where computing takes time, the kernel has to take away
    the namespace of the one before, which would delay what the peer sends.
    """

    engine: ModuleType
    kernel: str
    folder: Path
    exact_s: float
    equal_s: float
    rests: int = 1

    def names(self) -> list[str]:
        """Its exchanges."""
        return sorted(path.stem for path in self.folder.glob("*.pkt"))

    def path(self, name: str) -> Path:
        """An exchange's script."""
        return self.folder / f"{name}.pkt"


#: Computing takes no time.
UML = Guest(uml, DEFAULT_KERNEL, HERE / "scripts", EXACT_S, EQUAL_S)
#: A stock kernel, which has AccECN, MD5 and TCP-AO. An instruction takes 1 ns: the last of what the
#: scripts send at once leaves up to 1.2 ms after the line. Two runs differ by 3 us with other
#: random numbers, by 50 us after other exchanges, an algorithm that does what reno does by 19 us.
STOCK = Guest(qemu, "trixie-backports", HERE / "stock", 0.002, 0.00095, rests=2)


def play(out: Path, scripts: Sequence[str], algorithms: Sequence[str], of: Guest = UML) -> Logs:
    """Play a guest's scripts for the algorithms in one guest."""
    return play_texts(out, {name: text_of(of.path(name)) for name in scripts}, algorithms, of)


def play_texts(
    out: Path, texts: Mapping[str, str], algorithms: Sequence[str], of: Guest = UML
) -> Logs:
    """The same with the scripts' texts, by their names."""
    program = compiled(HERE / "exchange.c", *sorted(HERE.glob("[!e]*.c")), libraries=LIBRARIES)
    command = f"exchange $OUT {of.rests} {','.join(algorithms)} {' '.join(texts)}"
    files = {f"lab/pkt/{name}": text.encode() for name, text in texts.items()}
    guest.play(
        f"chmod +x /bin/exchange\nmodprobe tun\ncd /lab/pkt && {command}", out, algorithms,
        engine=of.engine, kernel=of.kernel, files=files | {"bin/exchange": program},
    )  # fmt: skip
    for name, text in texts.items():
        (out / f"{name}.pkt").write_text(text)
    return {
        (name, cc): read((out / f"{name}.{cc}").read_text()) for name in texts for cc in algorithms
    }
