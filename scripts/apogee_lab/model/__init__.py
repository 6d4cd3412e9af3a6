# SPDX-License-Identifier: GPL-2.0
"""The model: a discrete-event simulation of flows through one bottleneck, in C.

It runs the project's modules for long paths (tcp_star.c and others), and the kernel's own tcp_bbr.c
and tcp_cubic.c, against headers that stand in for the kernel's. world.h says what is emulated.

Files of C take from those below them only: simulation.c is the loop; options.c and report.c read
and print; sender.c and receiver.c are the hosts, output.c is what a sender sends and when,
estimates.c what it measures; transfers.c is the application, path.c what is between the hosts,
events.c the queue of events; world.c is the state of all. peers.c has parts of the stack that
modules call.
"""
