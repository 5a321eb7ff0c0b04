"""The simulated table put together: script, motion, camera, light and art from one `SimSpec`.

Out: frames of a calibrated camera, BGR uint8, and what they were made from. Lengths mm in the table frame.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pitwatch.capture.frame import Frame
from pitwatch.chips import CASINO
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import casino_design
from pitwatch.sim.director import Director
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, Light, spoil
from pitwatch.sim.render import Renderer
from pitwatch.sim.script import random_script
from pitwatch.sim.spec import SimSpec, mounted_camera
from pitwatch.sim.truth import Truth
from pitwatch.table.camera import Camera
from pitwatch.table.layout import template

__all__ = ["Stage", "direct"]

_BACKS = ((40, 70, 150), (165, 25, 40), (30, 30, 38), (90, 45, 120), (150, 80, 25))  # RGB


def direct(spec: SimSpec) -> Director:
    """What is played at this table. Raises UserError when no rounds can be made for this seed."""
    layout = template(spec.seats)
    script = random_script(spec.rounds, layout, spec.seed, spec.misplays)
    return Director(script, layout, spec.seed, pace=spec.pace, distractions=spec.distractions)


class Stage:
    """One simulated table, ready to be filmed.

    camera, layout: what a watcher is told too. truth: what it is not. paced: frames are to be handed over
    when their time has come.
    """

    def __init__(self, spec: SimSpec) -> None:
        """Raises UserError when no rounds can be made for this seed."""
        self.spec = spec
        self.live = bool(spec.realtime)
        self.paced = bool(spec.realtime or spec.paced)
        self.skipped = 0
        self.width, self.height = spec.width, spec.height
        self.layout = template(spec.seats)
        self.camera = mounted_camera(self.layout, spec.width, spec.height)
        self._director = direct(spec)
        self._rng = np.random.default_rng([spec.seed, 23])
        self._lens = Lens(blur=0.5, noise=spec.noise)
        design = casino_design(np.random.default_rng([spec.seed, 3]))
        # a house buys cards whose backs stand out from its felt and are printed all over
        back, style = _BACKS[spec.seed % len(_BACKS)], (0, 6, 1, 2)[spec.seed % 4]
        deck = Deck(replace(design, back=back, back_style=style))
        self._art = draw_felt(self.layout, spec.seed), deck, chip_art(CASINO, spec.seed)
        self._renderer = Renderer(self.camera, *self._art, Light())
        self._closed = False

    @property
    def truth(self) -> Truth:
        """What the frames are made from."""
        return self._director.truth

    @property
    def frames(self) -> int:
        """How many frames there will be."""
        return int(self._director.duration * self.spec.fps) + 1

    def frame(self, index: int) -> Frame:
        """Frame `index` of `frames`."""
        t = index / self.spec.fps
        image = self._renderer.frame(self._director.scene(t))
        return Frame(t, spoil(image, self._lens, self._rng), index)

    def before(self, camera: Camera) -> Stage:
        """The same table, played before another camera; `camera` stays what a watcher is told."""
        other = copy.copy(self)
        other._renderer = Renderer(camera, *self._art, Light())
        return other

    def __iter__(self) -> Iterator[Frame]:
        for index in range(self.frames):
            if self._closed:
                return
            yield self.frame(index)

    def close(self) -> None:
        """Iterating ends."""
        self._closed = True
