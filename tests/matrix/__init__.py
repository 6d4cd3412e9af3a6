# SPDX-License-Identifier: GPL-2.0
"""The kernel matrix: ``make matrix``, or ``python3 -m tests.matrix [booted|listed] [SUITE...]``.

``booted``: each suite of ``kernel.SUITES`` has a row of its own and one per foreign architecture.
For this machine's architecture the modules are built with W=1, checked by sparse, and loaded by
that very kernel in a guest, where each algorithm and a link of type sscop move data and ``answers``
computes what the unit tests computed in user space. Another guest has the algorithms as BPF
programs (bpf), and those of ``tests/asked`` compute the same (bpf answers). For other architectures
the modules are compiled and checked; one that a suite does not carry today has a row that says so.

``listed``: all releases that the suites and sid list, with each flavour, are compiled and checked,
but for those whose headers and tools have the same octets as another's; the newest and the oldest
of each come first, stock flavours before others. Exit status 1 if a cell fails. The rows are kept
in build/matrix.jsonl, from which a run that was stopped goes on; ``page`` takes them over into
docs/results/matrix.jsonl, and all that this has into docs/kernels.md.
"""
