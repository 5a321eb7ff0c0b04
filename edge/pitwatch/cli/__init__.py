"""The command line: `pitwatch watch`, `demo`, `sim`, `audit`, `replay`, `eval`, `calibrate`, `models`.

Exit status: 0 done; 1 `audit` made findings; 2 bad input, said in one sentence; 70 an internal error.
"""

from __future__ import annotations

from pitwatch.cli.main import main

__all__ = ["main"]
