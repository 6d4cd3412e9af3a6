# SPDX-License-Identifier: GPL-2.0
"""What the stack does when peers, paths and devices play by a script; README.md says how."""

from __future__ import annotations

#: The project's algorithms, and those they are compared with.
OURS = ("star", "j", "hstcp_gentle", "compound_plus", "compound")
PEERS = ("reno", "cubic", "bbr")
ALGORITHMS = (*PEERS, *OURS)
