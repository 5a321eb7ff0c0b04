from __future__ import annotations

from pitwatch.monitor.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def run(pace: Pace, clock: Clock, seconds: float, fps: float, step: int) -> list[str]:
    """Watch every `step`-th frame of a source of `fps`."""
    said = []
    for i in range(0, int(seconds * fps), step):
        clock.now = 100.0 + i / fps
        if sentence := pace.frame(i, 50.0 + i / fps, 0.05):
            said.append(sentence)
    return said


def test_a_watch_that_keeps_up_says_nothing() -> None:
    clock = Clock()
    pace = Pace(live=True, clock=clock)
    assert run(pace, clock, 30, 15.0, 1) == []
    assert pace.late == 0
    assert abs(pace.fps - 15) < 0.1
    assert abs(pace.ms_per_frame - 50) < 1e-9


def test_a_watch_that_falls_behind_says_so_once_with_both_rates() -> None:
    clock = Clock()
    pace = Pace(live=True, clock=clock)
    said = run(pace, clock, 60, 15.0, 3)
    assert len(said) == 1
    assert "5.0 of 15.0 pictures a second" in said[0]
    assert "--fps" in said[0]
    assert pace.late == 2 * (pace.frames - 1)


def test_a_file_is_never_late() -> None:
    clock = Clock()
    pace = Pace(live=False, clock=clock)
    assert run(pace, clock, 60, 15.0, 3) == []
    assert pace.late == 0


def test_unreadable_frames_are_not_counted_as_late_ones() -> None:
    pace = Pace(live=True, clock=Clock())
    pace.frame(0, 0.0, 0.01, skipped=0)
    pace.frame(4, 0.4, 0.01, skipped=2)
    assert pace.late == 1


def test_before_the_first_frame_there_are_no_figures() -> None:
    pace = Pace(live=True)
    assert (pace.fps, pace.mean_fps, pace.ms_per_frame) == (0.0, 0.0, 0.0)
