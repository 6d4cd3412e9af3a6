# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.hostile``: make the records and the tables of docs/hostile.md anew."""

from __future__ import annotations

import json
import sys

from tests import BUILD
from tests.hostile import table
from tests.hostile.attacks import ALGORITHMS, ATTACKS, PATHS
from tests.hostile.play import play


def main(arguments: list[str]) -> int:
    if arguments:
        print("usage: python3 -m tests.hostile", file=sys.stderr)
        return 2
    records = []
    for path in PATHS:
        for cc in ALGORITHMS:
            print(f"{path} {cc}", file=sys.stderr)
            records += play(BUILD, BUILD / "hostile" / f"{path}.{cc}", path, [cc], ATTACKS)
    table.RECORDS.write_text("".join(json.dumps(r) + "\n" for r in records))
    table.write(table.PAGE, table.by_key(records))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
