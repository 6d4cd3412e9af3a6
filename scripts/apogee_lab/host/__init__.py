# SPDX-License-Identifier: GPL-2.0
"""This machine: missing packages, network settings, logs of its paths.

In: what is installed, ``/proc/sys``, logs of ping and irtt. Out: advice (doctor.py, propose.py), a
file for sysctl.d (tune.py), traces (rttlogs.py). Only sysctls.py changes the machine: after it was
asked to, and so that it can be undone.
"""
