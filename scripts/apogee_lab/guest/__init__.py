# SPDX-License-Identifier: GPL-2.0
"""Programs that run inside a guest, and its root file system.

image.py packs archives of a kernel's modules, programs of the host, ``flow`` (the traffic tool, in
C) and a first process: ``init`` with its parts. In: a kernel, files of the run. Out: cpio archives
in the cache, named after all that is in them. Equal contents have to give equal bytes. What the
init files say on the console (``apogee: …``) is what engines wait for.
"""
