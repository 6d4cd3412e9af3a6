# SPDX-License-Identifier: GPL-2.0
"""The one list of congestion controls and of the modules that carry them."""

from __future__ import annotations

#: Modules that carry another algorithm beside the one they are named after.
_CARRIED_BY = {"compound": "tcp_compound_plus"}


def module_of(cc: str) -> str:
    """The module that carries a congestion control."""
    return _CARRIED_BY.get(cc, f"tcp_{cc}")


# The project's own algorithms and the modules that carry them; "constant" is the tests' oracle.
OWN_MODULES = {
    cc: module_of(cc)
    for cc in ("star", "hstcp_gentle", "compound_plus", "compound", "j", "constant")
}
# Algorithms that Linux has carried; which of them a kernel offers is up to the kernel.
STOCK = (
    "reno cubic bbr hybla westwood highspeed scalable vegas illinois htcp veno bic yeah lp nv cdg"
).split()


def known_controls() -> list[str]:
    """Every name that ``--cc`` may hold, our own first."""
    return [*OWN_MODULES, *STOCK]
