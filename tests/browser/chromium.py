"""A real Chromium, driven over its DevTools pipe; no driver program and no open port needed."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
INTO_PLACE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """The program, None where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if path := shutil.which(name):
            return path
    return None


class Chromium:
    """One browser with one page."""

    def __init__(self, width: int = 1600, height: int = 900) -> None:
        program = find_chromium()
        assert program is not None
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # the browser reads commands at descriptor 3 and writes answers at 4; two above 9 cannot be in the way
        ends = [fcntl.fcntl(d, fcntl.F_DUPFD, 10) for d in (to_browser, from_browser)]
        folder, size = f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}"
        command = [program, *FLAGS, folder, size, "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", INTO_PLACE, *map(str, ends), *command],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for descriptor in (to_browser, from_browser, *ends):
            os.close(descriptor)
        self._answers: Queue[dict[str, Any]] = Queue()
        self.messages: list[str] = []  # errors and warnings of the page
        self._reader = threading.Thread(target=self._receive, daemon=True)
        self._reader.start()
        self._id = 0
        self._session: str | None = None
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.resize(width, height)

    def _receive(self) -> None:
        buffer = b""
        while chunk := os.read(self._read, 1 << 20):
            buffer += chunk
            *complete, buffer = buffer.split(b"\0")
            for text in complete:
                message = json.loads(text)
                if "id" in message:
                    self._answers.put(message)
                elif message["method"] == "Runtime.exceptionThrown":
                    details = message["params"]["exceptionDetails"]
                    self.messages.append(details.get("exception", {}).get("description", details["text"]))
                elif message["method"] == "Log.entryAdded":
                    entry = message["params"]["entry"]
                    if entry["level"] in ("error", "warning"):
                        self.messages.append(f"{entry['text']} {entry.get('url', '')}")

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._id += 1
        message: dict[str, Any] = {"id": self._id, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        # a busy machine takes long to start a browser
        deadline = time.monotonic() + 120
        while True:
            try:
                answer = self._answers.get(timeout=max(0.1, deadline - time.monotonic()))
            except Empty:
                raise TimeoutError(f"Chromium did not answer {method}") from None
            if answer["id"] == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def resize(self, width: int, height: int, dark: bool = False) -> None:
        """Give the page this size in CSS pixels, and a colour scheme."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str) -> None:
        """Go to a page, and wait until it is loaded."""
        self._call("Page.navigate", url=url)
        there = f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'"
        self.wait_for(there, timeout=240)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def wait_for(self, script: str, timeout: float = 10.0) -> Any:
        """Wait until an expression is true; its value."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if value := self.evaluate(script):
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {timeout} s: {script}; the page said {self.messages}")

    def press(self, key: str, code: int) -> None:
        """Press and release one key, like ("Tab", 9)."""
        text = {"Enter": "\r", " ": " "}.get(key)
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self._call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **extra
            )

    def touch(self, on: bool = True) -> None:
        """Whether the page is on a screen that is touched."""
        self._call("Emulation.setTouchEmulationEnabled", enabled=on, maxTouchPoints=5 if on else 1)

    def tap(self, x: float, y: float) -> None:
        """A finger at a place of the screen, CSS pixels."""
        self._call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 6) -> None:
        """A finger that is laid on a place, moved and lifted."""
        for _ in self.dragging(start, end, steps):
            pass

    def dragging(
        self, start: tuple[float, float], end: tuple[float, float], steps: int = 6
    ) -> Iterator[tuple[float, float]]:
        """The same, given back before each step, and at the end before the finger is lifted."""
        self._call(
            "Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": start[0], "y": start[1]}]
        )
        for i in range(1, steps + 1):
            x, y = (a + (b - a) * i / steps for a, b in zip(start, end, strict=True))
            self._call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y}])
            yield x, y
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Write the visible part, or the whole page, as PNG."""
        shot = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        """End the browser and remove its folder."""
        self._session = None
        try:
            self._call("Browser.close")
        except (TimeoutError, OSError):
            self._process.kill()
        self._process.wait(timeout=15)
        os.close(self._write)
        self._reader.join(timeout=5)
        os.close(self._read)
        self._folder.cleanup()

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
