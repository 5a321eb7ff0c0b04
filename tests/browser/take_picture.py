"""Takes the README's picture of the page: `python -m tests.browser.take_picture URL OUT.jpg [seconds]`.

Waits until a finding with its pictures is shown and hands are on the table, at most so many seconds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from tests.browser.chromium import Chromium

READY = """
document.querySelectorAll('#findings > li .pictures img').length > 1
&& [...document.querySelectorAll('#findings > li:first-child img')].every((i) => i.naturalWidth > 0)
&& document.querySelectorAll('#hands tbody tr').length > 3
"""


def main(url: str, out: str, seconds: str = "600") -> None:
    with Chromium(1440, 810) as browser, tempfile.TemporaryDirectory() as folder:
        browser.open(url)
        browser.wait_for(READY, float(seconds))
        time.sleep(1)
        shot = Path(folder, "page.png")
        browser.screenshot(shot)
        Image.open(shot).convert("RGB").save(out, quality=86, subsampling=0, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
