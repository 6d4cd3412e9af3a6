# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.planted [NAME…]``: plant faults, and record which tests see them.

--at COMMIT       the tree that they are planted in, with its own tests (default: HEAD)
--record FILE     records, a line per call of pytest; a call that is in it is not made again
--most COST       ask units, guests (and units, the default), or deep (all)
--tables          only write the tables anew
--whole           only print a row for each fault
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from apogee_lab.base import LabError
from apogee_lab.runs.interrupt import interrupted_by
from tests import BUILD, ROOT
from tests.planted import faults, table
from tests.planted.copy import Copy
from tests.planted.faults import Fault
from tests.planted.run import COSTS, Run, read


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m tests.planted")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--at", default="HEAD", metavar="COMMIT")
    parser.add_argument("--record", type=Path, default=table.AFTER, metavar="FILE")
    parser.add_argument("--most", choices=COSTS, default="guests")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--whole", action="store_true")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    options = _options(words)
    known = {fault.name: fault for fault in faults.read()}
    unknown = [name for name in options.names if name not in known]
    try:
        if unknown:
            raise LabError(f"no fault {unknown[0]}; faults.toml has the names")
        if options.whole:
            print(table.whole(faults.read(), read(table.BEFORE), read(table.AFTER)), end="")
            return 0
        if not options.tables:
            _plant([known[name] for name in options.names or known], options)
        table.write()
    except LabError as error:
        print(f"planted: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        table.write()
        print(f"planted: stopped; {options.record} has what was asked", file=sys.stderr)
        return 130
    return 0


def _plant(wanted: list[Fault], options: argparse.Namespace) -> None:
    with interrupted_by(signal.SIGINT, signal.SIGTERM):
        run = Run(Copy(ROOT, options.at, BUILD / "planted" / "tree"), options.record)
        run.plant(wanted, options.most)


if __name__ == "__main__":
    sys.exit(main())
