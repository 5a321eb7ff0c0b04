"""The entry point: runs a command and turns every error into one sentence.

In: the command line. Out: an exit status; a traceback goes into the log file, never to the screen.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pitwatch.errors import UserError

__all__ = ["log_file", "main", "start_log"]

INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h


def main() -> None:
    """Run the command that was asked for; never returns."""
    sys.exit(_status())


def _status() -> int:
    from pitwatch.cli.commands import app

    try:
        app(prog_name="pitwatch")
    except UserError as e:
        print(f"pitwatch: {e}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # whoever read the output has gone; the interpreter's own flush at exit would complain again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else 0 if e.code is None else 2
    except Exception as e:
        print(f"pitwatch: {_logged(e)}", file=sys.stderr)  # noqa: T201
        return INTERNAL_ERROR
    return 0


def _logged(error: Exception) -> str:
    import logging

    name = type(error).__name__
    try:
        path = start_log()
        logging.getLogger("pitwatch").error("internal error", exc_info=error)
    except OSError:
        return f"internal error ({name}: {error}), and the log file cannot be written"
    return f"internal error ({name}), details in {path}"


def _state_folder() -> Path:
    """Where pitwatch keeps what is not the user's own: systemd's folder, or the user's."""
    if folder := os.environ.get("STATE_DIRECTORY"):
        return Path(folder.split(":")[0])
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "pitwatch"


def log_file() -> Path:
    """The log file."""
    return _state_folder() / "pitwatch.log"


def start_log() -> Path:
    """Send what all rooms log to the log file; its path. Raises OSError when it cannot be written."""
    import logging
    import logging.handlers

    path = log_file()
    root = logging.getLogger()
    if not any(isinstance(h, logging.handlers.RotatingFileHandler) for h in root.handlers):
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=2_000_000, backupCount=2, encoding="utf-8"
        )
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        root.addHandler(handler)
        logging.getLogger("pitwatch").setLevel(logging.INFO)
        logging.captureWarnings(True)
    return path
