"""A headless browser, driven by its own protocol over pipes: JSON ended by a zero byte."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60.0  # seconds for one answer, on a machine that is busy
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--enable-features=IsolateSandboxedIframes",  # as it is usual; see `within`
    "--no-sandbox",  # needs rights that a container does not have; only our own pages are opened
)


def browser_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@final
class Browser:
    """One page of a browser: `log` has console and errors, `requests` all requested addresses."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._rest = b""
        self._number = 0
        self._session = ""
        self.log: list[str] = []
        self.requests: list[str] = []
        self._target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._attach(self._target)

    def _attach(self, target: str) -> None:
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._outgoing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._incoming], [], [], max(end - time.monotonic(), 0.0))
            assert ready, f"the browser did not answer within {PATIENCE:g} s"
            more = os.read(self._incoming, 1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        given = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.log.append(" ".join(str(one.get("value")) for one in given["args"]))
            case "Runtime.exceptionThrown":
                details = given["exceptionDetails"]
                thrown = details.get("exception", {}).get("description", "")
                self.log.append(f"{details['text']} {thrown}")
            case "Log.entryAdded":
                self.log.append(given["entry"]["text"])
            case "Page.javascriptDialogOpening":
                self.log.append(f"dialog: {given['message']}")
            case "Network.requestWillBeSent":
                self.requests.append(given["request"]["url"][:200])

    # ------------------------------------------------------------------------------- a page

    def open(self, path: Path, ready: str, fragment: str = "") -> None:
        self.log, self.requests = [], []
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.as_uri() + fragment)
        self.wait(ready)

    def wait(self, expression: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < end, f"{expression} did not come true; said: {self.log}"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """Return the value of an expression in the page, with promises resolved."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    @contextmanager
    def within(self) -> Iterator[None]:
        """Use the first sandboxed frame of the page, a process of its own, in place of the page."""
        end, session = time.monotonic() + PATIENCE, self._session
        found: list[str] = []
        while not found:
            assert time.monotonic() < end, "the page has no frame in a process of its own"
            known = self.call("Target.getTargets")["targetInfos"]
            found = [one["targetId"] for one in known if one.get("parentId") == self._target]
        try:
            self._attach(found[0])
            yield
        finally:
            self._session = session

    def resize(self, width: int, height: int, ratio: float = 1.0) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme: str) -> None:
        """Set the colour scheme of the reader's system: light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def press(self, key: str, code: str = "", text: str = "", number: int = 0) -> None:
        given = {"key": key, "code": code or key, "windowsVirtualKeyCode": number}
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **given, **down)
        self.call("Input.dispatchKeyEvent", **given, type="keyUp")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send a mouse event: mouseMoved, mousePressed or mouseReleased."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        # Pages hear of moves when the next picture is due.
        self.value("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def picture(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def browser(program: str) -> Iterator[Browser]:
    """Yield a browser with its own folder, and end it afterwards."""
    # The browser reads commands from 3 and answers on 4, which a shell can make of 0 and 1.
    shell = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        arguments = [*FLAGS, f"--user-data-dir={folder}", "about:blank"]
        process = subprocess.Popen(
            ["/bin/sh", "-c", shell, program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Browser(process.stdout.fileno(), process.stdin.fileno())
        finally:
            process.stdin.close()  # it ends when nobody speaks to it any more
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
