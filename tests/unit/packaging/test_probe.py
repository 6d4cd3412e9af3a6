# SPDX-License-Identifier: GPL-2.0
"""What kernels have is asked of their headers, whatever their version."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

#: Just enough of the headers for the parts that are looked at here.
HEADERS = {
    "linux/hrtimer.h": "",
    "linux/skbuff.h": "",
    "net/rtnetlink.h": "",
    "net/tcp.h": "struct sock;\n",
    "net/udp_tunnel.h": """struct net; struct socket; struct udp_tunnel_sock_cfg;
void setup_udp_tunnel_sock(struct net *, struct socket *, struct udp_tunnel_sock_cfg *);
void udp_tunnel_sock_release(struct socket *);
""",
}


@pytest.fixture
def include(tmp_path: Path) -> Path:
    folder = tmp_path / "include"
    for name, text in HEADERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def found(root: Path, include: Path, compiler: str = "gcc") -> list[str]:
    script, kept = root / "include" / "compat" / "probe.sh", include.parent / "kept"
    words = ["sh", script, kept, compiler, "-nostdinc", f"-I{include}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [word.removeprefix("-DAPOGEE_HAS_") for word in done.stdout.split()]


def test_a_kernel_is_asked_and_its_answer_kept(root: Path, include: Path) -> None:
    """Linux 7.2 has what a test of the version took for 7.3's. A header that changes is asked."""
    assert found(root, include) == []
    tunnel = include / "net" / "udp_tunnel.h"
    tunnel.write_text(tunnel.read_text().replace("struct socket *", "struct sock *"))
    (include / "net" / "gso.h").touch()
    for _ in range(2):
        assert found(root, include) == ["TUNNEL_SOCK", "GSO_H"]
    kept = include.parent / "kept"
    kept.write_text(kept.read_text().replace("GSO_H", "TOLD"))
    assert found(root, include) == ["TUNNEL_SOCK", "TOLD"], "the file is what is printed"


def test_a_header_that_comes_or_goes_is_asked_anew(root: Path, include: Path) -> None:
    """As the headers of a kernel that is upgraded in place. So is one whose content changes."""
    newer, hex_h = include / "net" / "gso.h", include / "linux" / "hex.h"
    assert found(root, include) == []
    newer.touch()
    assert found(root, include) == ["GSO_H"]
    hex_h.write_text("#error not yet\n")
    assert found(root, include) == ["GSO_H"]
    hex_h.write_text("")
    newer.unlink()
    assert found(root, include) == ["HEX_H"]


def test_what_does_not_compile_at_all_is_no_answer(root: Path, include: Path) -> None:
    """The build says why; nothing is kept."""
    (include / "net" / "tcp.h").write_text("#error no\n")
    assert found(root, include) == found(root, include, "no-such-gcc") == []
    assert not (include.parent / "kept").exists()


def test_no_header_asks_for_a_version(root: Path) -> None:
    for path in (root / "include" / "compat").iterdir():
        assert "LINUX_VERSION_CODE" not in path.read_text(), path
