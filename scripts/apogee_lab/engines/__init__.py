# SPDX-License-Identifier: GPL-2.0
"""Engines run a guest script somewhere and bring back a folder of raw results.

In: a plan's script, modules, archives of a root file system. Out: what the script left in $OUT, and
the kernel's log with its verdict (log.py). registry.py has the protocol; supervise.py starts,
bounds and ends what qemu.py and uml.py run, host.py is the machine's own kernel. An engine knows no
scenario. Equal commands have to give equal bytes with qemu and uml: the C files here serve that.
"""

from __future__ import annotations
