"""`pitwatch eval`: how well cards, chips and rounds are read, against pictures whose truth is known."""

from pitwatch.evaluate.report import run_eval

__all__ = ["run_eval"]
