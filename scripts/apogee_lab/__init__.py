# SPDX-License-Identifier: GPL-2.0
"""The Apogee lab: scenarios, engines, measures, tables and figures behind ``scripts/lab``.

In: a command line. Out: records, tables, figures; kept runs in ``build/runs``, kernels and images
in the cache. docs/extending.md lists the rooms and what is added where. Imports point down that
list: tests/unit/lab/test_rooms.py reads it. The package needs no installation and must not import
numpy or matplotlib where a verb can do without.
"""
