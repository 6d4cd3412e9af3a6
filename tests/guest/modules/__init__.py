# SPDX-License-Identifier: GPL-2.0
"""Each module in a real kernel: its algorithm, its parameters, its device, and how it ends.

Tests boot guests of engine uml or qemu with the modules as built from this tree, and compare with
calculated values. The C files are programs that run in the guest. scripted.py and its neighbours
without ``test_`` are what the tests share. Bounds hold for any seed and any machine.
"""
