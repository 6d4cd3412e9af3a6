# SPDX-License-Identifier: GPL-2.0
"""The model: a discrete-event simulation of flows through one bottleneck, in C.

It runs the project's modules for long paths (tcp_star.c and others), and the kernel's own tcp_bbr.c
and tcp_cubic.c, against headers that stand in for the kernel's. simulation.h says what is emulated.
"""
