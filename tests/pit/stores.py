"""Real stores for the pit's tests: a SQLite file, and a PostgreSQL cluster of the test run's own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mqtt.brokers import absent, free_port


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
        found = str(versions[-1]) if versions else None
    if found is None:
        absent(f"{name} is not installed; run: apt-get install postgresql")
    assert found is not None
    return os.path.realpath(found)


@contextmanager
def postgres() -> Iterator[str]:
    """A cluster in a folder of its own, without a password and durable enough for a test; its URL."""
    initdb, server = _program("initdb"), _program("pg_ctl")
    folder = Path(tempfile.mkdtemp(prefix="pitwatch-postgres-"))
    # it does not run as root
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid() == 0:
        try:
            shutil.chown(folder, user)
        except LookupError:
            absent("there is no user postgres; run: apt-get install postgresql")
    as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if os.geteuid() == 0 else []
    data, port = folder / "data", free_port()

    def run(*words: str) -> None:
        done = subprocess.run([*as_user, *words], capture_output=True, text=True, cwd=folder, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off"
    try:
        run(initdb, "-D", str(data), "-U", "pit", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        run(server, "-D", str(data), "-w", "-t", "90", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://pit@127.0.0.1:{port}/postgres"
        finally:
            run(server, "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
