# SPDX-License-Identifier: GPL-2.0
"""Error messages when the kernel refuses a module, as quoted in docs/install.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apogee_lab.base import call, find_program
from apogee_lab.engines import qemu
from apogee_lab.kernels import debian
from apogee_lab.kernels.kernel import Kernel
from apogee_lab.modules import module_file

pytestmark = pytest.mark.guest

SCRIPT = """
release=$(uname -r)
insmod /lib/modules/$release/updates/tcp_star.ko 2>$OUT/unsigned; echo $? >>$OUT/unsigned
dmesg -c >$OUT/unsigned.dmesg
insmod /lab/stranger.ko 2>$OUT/stranger; echo $? >>$OUT/stranger
dmesg -c >$OUT/stranger.dmesg
sysctl -w net.ipv4.tcp_congestion_control=star 2>$OUT/sysctl; echo $? >>$OUT/sysctl
modprobe tcp_vegas 2>$OUT/stock; echo $? >>$OUT/stock
"""
FILES = ("unsigned", "unsigned.dmesg", "stranger", "stranger.dmesg", "sysctl", "stock")


def _signed_by_a_stranger(kernel: Kernel, tmp_path: Path) -> bytes:
    """The module, signed by a key that the kernel does not know, as DKMS does without a MOK."""
    key, cert, signed = (tmp_path / name for name in ("key.pem", "cert.der", "signed.ko"))
    request = "req -new -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=stranger -outform DER"
    openssl = find_program("openssl", "openssl")
    call([openssl, *request.split(), "-keyout", key, "-out", cert], "openssl")
    signer = next(kernel.headers.parent.parent.glob("lib/linux-kbuild-*/scripts/sign-file"))
    module = module_file("tcp_star", kernel)
    call([signer, "sha256", key, cert, module, signed], "sign-file")
    return signed.read_bytes()


def test_kernel_refuses_a_module_that_it_cannot_verify(
    stock_modules: Path, build: Path, tmp_path: Path
) -> None:
    kernel = debian.kernel()
    out = build / "tests" / "secure-boot"
    qemu.run_script(
        SCRIPT,
        out=out,
        signed_only=True,
        modules=["tcp_star"],
        files={"lab/stranger.ko": _signed_by_a_stranger(kernel, tmp_path)},
    )
    told = {name: (out / name).read_text() for name in FILES}
    assert "Key was rejected by service" in told["unsigned"]
    assert re.search("oading of unsigned module is rejected", told["unsigned.dmesg"])
    assert "Key was rejected by service" in told["stranger"]
    assert re.search("oading of module with unavailable key is rejected", told["stranger.dmesg"])
    assert told["sysctl"].endswith("1\n"), "the algorithm cannot be chosen either"
    assert told["stock"] == "0\n", "the distribution's own modules load"


#: Debian's kernel locks itself down under Secure Boot; the results' disk needs its driver before.
LOCKED = """
modprobe virtio_pci
modprobe virtio_blk
mount -t securityfs none /sys/kernel/security
insmod /lab/other.ko 2>$OUT/other; echo $? >>$OUT/other
echo integrity >/sys/kernel/security/lockdown
insmod /lib/modules/$(uname -r)/updates/tcp_star.ko 2>$OUT/unsigned; echo $? >>$OUT/unsigned
"""

#: An entry of a module's symbol versions; the CRC precedes the name.
LAYOUT = b"module_layout".ljust(56, b"\0")


def test_another_kernels_module_and_a_locked_down_kernel(stock_modules: Path, build: Path) -> None:
    kernel = debian.kernel()
    module = module_file("tcp_star", kernel).read_bytes()
    at = module.index(LAYOUT)
    other = module[: at - 8] + bytes(8) + module[at:]
    out = build / "tests" / "lockdown"
    qemu.run_script(LOCKED, out=out, modules=["tcp_star"], files={"lab/other.ko": other})
    log = (out / "dmesg.txt").read_text()
    assert "invalid module format" in (out / "other").read_text().lower()
    assert "tcp_star: disagrees about version of symbol module_layout" in log
    assert "Operation not permitted" in (out / "unsigned").read_text()
    assert "Lockdown: insmod: unsigned module loading is restricted" in log
