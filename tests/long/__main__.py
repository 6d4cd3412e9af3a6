# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.long radio|shake|tcp [--hours N] [--rate RATE]``: days of virtual time.

Prints what was sampled hour by hour; exit status 1 if goodput drifts, memory leaks or octets are
damaged.
"""

from __future__ import annotations

import sys

from tests.long import radio, run, shake, tcp

LONGS = {"radio": radio.LONG, "shake": shake.LONG, "tcp": tcp.LONG}

if __name__ == "__main__":
    name, *argv = sys.argv[1:] or [""]
    if name not in LONGS:
        print(f"usage: python3 -m tests.long {'|'.join(LONGS)} [OPTION...]", file=sys.stderr)
        sys.exit(2)
    sys.exit(run.main(name, LONGS[name], argv))
