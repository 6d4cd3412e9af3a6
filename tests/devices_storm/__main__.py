# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.devices_storm``: make the records and tables of docs/storms-devices.md anew.

With names of devices only theirs; the others' records stay.
"""

from __future__ import annotations

import json
import sys
from itertools import chain

from tests import BUILD
from tests.devices_storm import bounds, silence, table
from tests.devices_storm.play import Record, play
from tests.devices_storm.storms import EACH, STORMS, WITH_EACH


def _played(device: str) -> list[Record]:
    out = BUILD / "devices-storm"
    each = [play(device, WITH_EACH, out / f"{device}-{cc}", cc) for cc in EACH]
    return [
        *play(device, tuple(STORMS[device]), out / device),
        *chain.from_iterable(each),
        *silence.play(device, tuple(silence.SILENCES[device]), out / f"{device}-silence"),
    ]


def main(devices: list[str]) -> int:
    if not set(devices) <= set(STORMS):
        print("usage: python3 -m tests.devices_storm [sscop] [shake]", file=sys.stderr)
        return 2
    kept = table.RECORDS.read_text().splitlines() if devices else []
    known = [json.loads(line) for line in kept]
    records: list[Record] = []
    for device in STORMS:
        if devices and device not in devices:
            records += [r for r in known if r["device"] == device]
        else:
            records += _played(device)
    table.RECORDS.write_text("".join(json.dumps(r) + "\n" for r in records))
    table.write(table.PAGE, records)
    print("\n".join(bounds.wrong(records)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
