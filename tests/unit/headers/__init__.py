# SPDX-License-Identifier: GPL-2.0
"""The functions of include/apogee, called from Python by ctypes.

The fixture ``apogee`` compiles the headers as they are, with sanitizers where a test asks for them.
Values are calculated here in whole numbers or fractions, never taken from what a function said.
What these tests call is kept and asked again in kernels and in BPF (tests/asked).
"""
