# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.storm``: make the records and the tables of docs/storms.md anew."""

from __future__ import annotations

import json
import sys

from tests import BUILD
from tests.storm import table
from tests.storm.play import play
from tests.storm.storms import ALGORITHMS, STORMS


def main(arguments: list[str]) -> int:
    if arguments:
        print("usage: python3 -m tests.storm", file=sys.stderr)
        return 2
    records = []
    for cc in ALGORITHMS:
        print(cc, file=sys.stderr)
        records += play(BUILD / "storm" / cc, list(STORMS), [cc])
    table.RECORDS.write_text("".join(json.dumps(r) + "\n" for r in records))
    table.write(table.PAGE, table.by_key(records))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
