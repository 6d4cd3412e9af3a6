# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.deep.kernels``: what the deep tests boot, built before the first is timed."""

from __future__ import annotations

from apogee_lab import modules
from apogee_lab.kernels import qemu_kernel, uml_kernel
from tests.deep.test_tcp_smp import KERNELS

if __name__ == "__main__":
    for name in uml_kernel.BUILDABLE:
        modules.build(uml_kernel.kernel(name))
    for name in KERNELS:
        modules.build(qemu_kernel.kernel(name))
