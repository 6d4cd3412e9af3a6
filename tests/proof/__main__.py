# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.proof [NAME...]``: prove, and print what is not proven."""

from __future__ import annotations

import resource
import shutil
import sys

from tests import BUILD
from tests.proof import ProofError, claims, contracts, unproven_contracts, unproven_interval


def spent() -> float:
    """CPU time of all that was run, in s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(names: list[str]) -> int:
    known = [*claims(), *contracts()]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(
            f"tests.proof: no proof named {unknown[0]}; known: {' '.join(known)}", file=sys.stderr
        )
        return 2
    if not shutil.which("frama-c"):
        print("tests.proof: frama-c is missing; scripts/setup deep installs it", file=sys.stderr)
        return 1
    folder = BUILD / "proof"
    folder.mkdir(parents=True, exist_ok=True)
    status = 0
    for name in names or known:
        begin = spent()
        try:
            left = (
                unproven_interval(name, folder)
                if name in claims()
                else unproven_contracts([name], folder)
            )
        except ProofError as error:
            print(f"tests.proof: {name}: {error}", file=sys.stderr)
            return 1
        print(f"{name}\t{spent() - begin:.1f} s\t{'; '.join(left) or 'proven'}", flush=True)
        status |= bool(left)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
