"""What `watch` and `demo` share: broker, page, display and signals around one `Monitor`.

In: options of the command line. Out: a `Running` context whose `watch` runs until the source ends or a
signal comes, and leaves nothing unsaid or unsent that can be helped.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from pitwatch.capture.frame import FrameSource
from pitwatch.game.log import Header
from pitwatch.journal import Journal
from pitwatch.monitor.board import BoardState, FindingShown
from pitwatch.monitor.hub import Hub
from pitwatch.monitor.pipeline import Listener, Monitor, Summary
from pitwatch.monitor.terminal import display_for
from pitwatch.mqtt import EmbeddedBroker, Publisher
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.table.resolve import resolve
from pitwatch.vision.limits import LimitedEyes
from pitwatch.vision.watcher import Eyes

__all__ = ["Desk", "stopping"]

_SEND_TIMEOUT = 8.0  # seconds at the end for what the broker has not acknowledged yet


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """While open, Ctrl-C and SIGTERM call `stop`; a second Ctrl-C ends at once."""
    asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked = True
        stop()

    before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Desk:
    """Journal, broker, publisher, page and display of one watch; use as a context.

    console: where the display goes. url: the broker's address as a user would give it, None without one.
    page_url: None without a page. stopped: whether a signal ended the watch.
    """

    def __init__(
        self,
        header: Header,
        site: str,
        journal: Path,
        *,
        mqtt: str | None,
        ca_file: Path | None = None,
        page: bool = False,
        port: int | None = None,
        console: Console | None = None,
    ) -> None:
        """mqtt: the broker's URL, None for an embedded one, "off" for none.

        Raises UserError naming the journal, the broker's URL or the port, and the remedy.
        """
        self._header, self._site = header, site
        self.console = console or Console(highlight=False)
        self.page_url: str | None = None
        self.url: str | None = None
        self.stopped = False
        self._publisher: Publisher | None = None
        self._listeners: list[Listener] = []
        self._monitor: Monitor | None = None
        self._unjudged: list[str] = []
        with ExitStack() as stack:
            self.journal = stack.enter_context(Journal(journal, site, header.table))
            hub = Hub(self.journal.evidence)
            self._listeners.append(_OnPage(hub))
            if mqtt != "off":
                # told of an embedded broker's version, it need not find it out
                broker = stack.enter_context(EmbeddedBroker()).address if mqtt is None else mqtt
                self._publisher = Publisher(
                    self.journal,
                    broker,
                    site,
                    header.table,
                    ca_file=ca_file,
                    health=self._health,
                    still=hub.picture,
                )
                self.url = str(self._publisher.broker)
                stack.callback(self._publisher.close)
                stack.callback(self._send_the_rest)
            if page:
                self._serve(stack, hub, port)
            self._stack = stack.pop_all()

    def _serve(self, stack: ExitStack, hub: Hub, port: int | None) -> None:
        # the page comes with the demo extra only
        from pitwatch.monitor.page import PageServer

        self.page_url = stack.enter_context(PageServer(hub, port=port)).url

    def subscribe_line(self) -> str | None:
        """The command with which a second terminal sees the findings, None without a broker."""
        if self._publisher is None:
            return None
        broker = self._publisher.broker
        port = "" if broker.port == 1883 else f" -p {broker.port}"
        topic = f"pitwatch/{self._site}/{self._header.table}/findings"
        return f"mosquitto_sub -h {broker.host}{port} -v -t '{topic}'"

    def watch(
        self,
        camera: Camera,
        layout: Layout,
        source: FrameSource,
        eyes: Eyes,
        *,
        listeners: Sequence[Listener] = (),
        keep_record: bool = False,
        reference: NDArray[np.uint8] | None = None,
    ) -> Summary:
        """Watch until the source ends or a signal comes."""
        limited = LimitedEyes(eyes, layout, resolve(camera, layout))
        with display_for(self.console) as display:
            self._monitor = Monitor(
                self._header,
                self._site,
                camera,
                layout,
                source,
                limited,
                self.journal,
                publisher=self._publisher,
                listeners=[display, *self._listeners, *listeners],
                keep_record=keep_record,
                reference=reference,
            )
            self._unjudged = list(limited.sentences)
            for sentence in filter(None, [self.journal.notice, *limited.sentences]):
                display.notice(sentence)
            with stopping(self._stop):
                return self._monitor.run()

    def _send_the_rest(self) -> None:
        # what a broker that is away does not get now, it gets with the next start
        if self._publisher is not None and self._publisher.connected:
            self._publisher.flush(_SEND_TIMEOUT)

    def _stop(self) -> None:
        self.stopped = True
        if self._monitor is not None:
            self._monitor.stop()

    def _health(self) -> dict[str, object]:
        header = self._header.to_json()
        if self._monitor is None:
            return {"header": header}
        h = self._monitor.health()
        return {
            "header": header,
            "frames": h.frames,
            "fps": h.fps,
            "ms_per_frame": h.ms_per_frame,
            "late": h.late,
            "skipped": h.skipped,
            "hands_judged": h.hands_judged,
            "hands_total": h.hands_total,
            "camera": h.camera,
            "judging": h.judging,
            "notice": h.notice,
            "unjudged": self._unjudged,
        }

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


class _OnPage(Listener):
    """Passes on what the watch says to where the page and the publisher find it."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def state(self, state: BoardState, picture: NDArray[np.uint8]) -> None:
        self._hub.show(state, picture)

    def finding(self, finding: FindingShown) -> None:
        self._hub.add_finding(finding)
