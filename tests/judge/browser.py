# SPDX-License-Identifier: GPL-2.0
"""A headless Chromium that a test drives through a pair of pipes, by its DevTools protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = ("chromium-headless-shell", "chromium")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip


def program() -> str:
    """The browser's path."""
    return next(path for name in PROGRAMS if (path := shutil.which(name)))


class Browser:
    """A page. ``asked`` are the requests that it makes, ``errors`` what its console says."""

    def __init__(self, profile: Path) -> None:
        self.asked: list[str] = []
        self.errors: list[str] = []
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()

        def pipes() -> None:
            """The browser reads 3 and writes 4."""
            os.dup2(os.dup(theirs_in), 3)
            os.dup2(os.dup(theirs_out), 4)

        self._process = subprocess.Popen(
            [program(), *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=pipes, close_fds=False,  # noqa: PLW1509 - nothing else runs here
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._count, self._left, self._session = 0, b"", ""
        pages = self._call("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._process.terminate()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _call(self, method: str, **params: Any) -> Any:
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return next(m for m in self._messages() if m.get("id") == self._count)["result"]

    def _messages(self) -> Iterator[dict[str, Any]]:
        """What the browser says, until nobody listens any more."""
        while True:
            while b"\0" not in self._left:
                got = os.read(self._in, 1 << 20)
                assert got, "the browser has ended"
                self._left += got
            whole, self._left = self._left.split(b"\0", 1)
            message = json.loads(whole)
            self._note(message)
            yield message

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.asked.append(params["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(params["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning"):
                self.errors.append(json.dumps(params["args"])[:500])
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.errors.append(params["entry"]["text"])

    def open(self, page: Path) -> None:
        """Load a file and wait for it."""
        self._call("Page.navigate", url=page.as_uri())
        next(m for m in self._messages() if m.get("method") == "Page.loadEventFired")

    def ask(self, script: str) -> Any:
        """The value of an expression, or of what a function's promise gives."""
        got = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press a key and let it go."""
        text = "\r" if key == "Enter" else ""
        for kind in ("keyDown", "keyUp"):
            self._call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=code, **({"text": text} if text else {}),
            )  # fmt: skip

    def emulate(self, dark: bool = False, paper: bool = False, width: int = 1200) -> None:
        """A scheme of colours, a medium, and the width of the screen."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call(
            "Emulation.setEmulatedMedia", media="print" if paper else "screen", features=[scheme]
        )
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip


@contextmanager
def opened(page: Path, profile: Path) -> Iterator[Browser]:
    """A browser that shows this file."""
    with Browser(profile) as browser:
        browser.emulate()
        browser.open(page)
        yield browser
