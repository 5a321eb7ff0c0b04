"""Run the audit over case files that end in the findings to make: `python -m pitwatch.game.cases PATH...`.

In: table-event files whose last line is `{"note", "expect": [...]}`, or folders of them. Out: how many come
out right; a finding matches when every key that the case states agrees, and nothing else may be found.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pitwatch.errors import UserError
from pitwatch.game.audit import Audit
from pitwatch.game.findings import Finding
from pitwatch.game.log import read_log

__all__ = ["case_files", "check_case", "main"]


def case_files(paths: Iterable[str | Path]) -> list[Path]:
    """The case files named, and those in the folders named. Raises UserError when one is not there."""
    out: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            out += sorted(path.glob("*.jsonl"))
        elif path.exists():
            out.append(path)
        else:
            raise UserError(f"{path} is not there; name a case file or a folder of them")
    return out


def check_case(path: Path) -> list[str]:
    """What is wrong with a case's findings, one sentence each; none when they come out exactly.

    Raises UserError when the file cannot be read or ends without its expected findings.
    """
    header, events, trailer = read_log(path)
    if trailer is None:
        raise UserError(f"{path} does not end in a line with 'expect'; it is no case file")
    audit = Audit(header)
    said = [s for e in events for s in audit.feed(e)] + audit.finish()
    found = [s.to_json() for s in said if isinstance(s, Finding)]
    wrong = []
    for want in trailer["expect"]:
        match = next((f for f in found if _agrees(want, f)), None)
        if match is None:
            wrong.append(f"missed {_brief(want)}")
        else:
            found.remove(match)
    return wrong + [f"extra {_brief(f)}" for f in found]


def _agrees(want: dict[str, Any], found: dict[str, Any]) -> bool:
    return all(found.get(k) == v for k, v in want.items())


def _brief(f: dict[str, Any]) -> str:
    return " ".join(
        str(f[k]) for k in ("kind", "seat", "hand", "expected", "observed") if f.get(k) is not None
    )


def main(argv: list[str] | None = None) -> int:
    """Exit status 0 when every case comes out right, 1 when not, 2 when a path is missing or unreadable."""
    say = sys.stdout.write
    try:
        files = case_files(sys.argv[1:] if argv is None else argv)
        results = {f: check_case(f) for f in files}
    except UserError as e:
        sys.stderr.write(f"{e}\n")
        return 2
    for path, wrong in results.items():
        if wrong:
            say(f"{path}: {'; '.join(wrong)}\n")
    right = sum(not w for w in results.values())
    say(f"{right} of {len(results)} cases come out right\n")
    return 0 if right == len(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
