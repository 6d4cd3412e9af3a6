# SPDX-License-Identifier: GPL-2.0
"""The kernels of engine ``qemu``: Debian's, and those that look for faults."""

from __future__ import annotations

from . import checked_kernel, debian
from .kernel import DEFAULT_KERNEL, Kernel, unknown


def kernels() -> list[str]:
    """Names that select a kernel."""
    return [*debian.kernels(), *checked_kernel.kernels()]


def kernel(name: str = DEFAULT_KERNEL) -> Kernel:
    """The kernel of this name, fetched or built if the cache has none."""
    for kind in (checked_kernel, debian):
        if name in kind.kernels():
            return kind.kernel(name)
    raise unknown(name, kernels())
