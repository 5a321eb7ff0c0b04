"""`pitwatch setup`: serves the wizard until Ctrl-C, or restores a backup and goes on with it.

In: options of the command line. Out: the page's address, and with `--network` the code that opens it.
"""

from __future__ import annotations

import contextlib
import time
from datetime import datetime
from pathlib import Path

from rich.console import Console

from pitwatch.cli.main import start_log
from pitwatch.errors import UserError
from pitwatch.setup.backup import restore_backup
from pitwatch.setup.progress import Store

__all__ = ["set_up"]


def set_up(folder: Path, source: str | None, restore: Path | None, network: bool, port: int | None) -> None:
    """Serve the page. Raises UserError for a folder, backup, source or port that will not do."""
    console = Console(highlight=False)
    store = Store(folder)
    if restore is not None:
        names = restore_backup(restore, store)
        progress = store.read()
        store.write(progress.model_copy(update={"restored": restore.name, "step": "camera", "finish": None}))
        console.print(
            f"Restored {len(names)} files into {folder}: the page goes on from there.", soft_wrap=True
        )
    try:
        from pitwatch.setup.page import bound, make_app, server
    except ModuleNotFoundError as e:
        raise UserError(
            f"the wizard needs '{e.name}', which is not installed; `pip install 'pitwatch[setup]'`"
        ) from None
    from pitwatch.setup.access import Access, own_addresses
    from pitwatch.setup.wizard import Wizard

    start_log()

    def tell(code: str) -> None:
        console.print(f"Code for one more phone or laptop: [bold]{code}[/]")

    access = Access(network, tell)
    sock = bound("0.0.0.0" if network else "127.0.0.1", port)
    wizard = None
    try:
        wizard = Wizard(store, lambda: datetime.now().astimezone(), time.monotonic)
        if source is not None:
            wizard.choose(source)
        number = sock.getsockname()[1]
        console.print(f"Setting up a table in {folder.resolve()}", soft_wrap=True)
        console.print(f"Page: http://127.0.0.1:{number}", soft_wrap=True)
        if network:
            for address in own_addresses():
                console.print(f"From a phone: http://{address}:{number}", soft_wrap=True)
            console.print(f"Code for one phone or laptop: [bold]{access.code}[/]")
        console.print("Ctrl-C ends it; what was done is kept.")
        # the server passes Ctrl-C on once it has stopped
        with contextlib.suppress(KeyboardInterrupt):
            server(make_app(wizard, access)).run(sockets=[sock])
    finally:
        if wizard is not None:
            wizard.close()
        sock.close()
    if wizard.progress.finish is not None:
        table = store.path("table.toml")
        console.print(f"Watch this table with: pitwatch watch --table {table} --page", soft_wrap=True)
