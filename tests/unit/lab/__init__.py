# SPDX-License-Identifier: GPL-2.0
"""The lab without a guest: parameters, scripts, measures, tables, the command line, kept runs.

raw_folders.py and its neighbours without ``test_`` make up raw results and kernels. Nothing here
boots a guest or changes the machine; test_rooms.py and test_heads.py ask for the shape of the tree.
"""
