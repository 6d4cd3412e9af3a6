# SPDX-License-Identifier: GPL-2.0
"""Headers of every kernel that a suite lists today, of each flavour, to compile modules against.

They are kept below ``listed`` of the cache until the next is asked for.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from ..base import cache_dir, call, locked
from . import apt, foreign_headers, toolchain
from .kernel import Kernel, numbers

#: Debian's architecture -> flavours of its kernels.
FLAVOURS = {arch: (arch, f"cloud-{arch}", f"rt-{arch}") for arch in ("amd64", "arm64")}

Asked = tuple[str, str, str]  # suite, architecture, release


@lru_cache
def _options(suite: str, arch: str) -> list[str]:
    return apt.updated_apt(suite, arch)


def releases(suite: str, arch: str) -> list[str]:
    """Releases with headers that the suite and its updates list, newest first, flavours beside
    each other. Each suite lists its own: that of a release is not repeated for its backports."""
    names = "|".join(FLAVOURS[arch])
    options = _options(suite, arch)
    search = f"^linux-headers-[0-9]+\\.[0-9]+\\.[0-9]+[^ ]*[0-9]-({names})$"
    text = call(["apt-cache", *options, "search", "--names-only", search], f"kernels of {suite}")
    found = re.findall(r"^(linux-headers-\S+)", text, re.M)
    policy = call(["apt-cache", *options, "madison", *found], f"kernels of {suite}")
    where = rf"{suite}(?:-security|-updates)?/"
    own = set(re.findall(rf"^ *linux-headers-(\S+) .* {where}", policy, re.M))
    return sorted(own, key=lambda release: (*(-n for n in numbers(release)[:4]), release))


def flavour(release: str) -> str:
    """The flavour in a release's name: ``rt-arm64``."""
    names = (name for names in FLAVOURS.values() for name in names)
    return max((name for name in names if release.endswith(f"-{name}")), key=len)


def _fetch(suite: str, arch: str, release: str) -> Kernel:
    """A kernel, headers only."""
    k = Kernel(release, cache_dir() / "listed" / release)
    with locked("kernels", apt.WAITING):
        print(f"fetching headers of {release} ({suite})", file=sys.stderr, flush=True)
        native = _options(suite, "amd64")
        foreign_headers.unpack(k, suite, arch, _options(suite, arch), native)
    toolchain.hold_equipped(k)
    return k


def each(wanted: Sequence[Asked]) -> Iterator[tuple[Asked, Future[Kernel]]]:
    """These kernels, headers only. While one is in use the next is fetched, and the one before
    removed, which takes a disk that discards longer than to fetch."""
    with ThreadPoolExecutor(1) as pool:
        coming = [pool.submit(_fetch, *one) for one in wanted[:1]]
        for one, after in zip(wanted, [*wanted[1:], None], strict=True):
            if after:
                coming.append(pool.submit(_fetch, *after))
            try:
                yield one, coming.pop(0)
            finally:
                folder = cache_dir() / "listed" / one[2]
                pool.submit(shutil.rmtree, folder, ignore_errors=True)
