"""One server for the demo data: a second one would rewrite the addresses that the first has given to the shops."""

import contextlib
import fcntl
import os
import pathlib
import time
from collections.abc import Iterator
from typing import TextIO
from urllib.parse import urlsplit

from coffret.commands.command_error import CommandError
from store.core.settings import Settings

NAME = "serving"
"""The file in the data directory that a server holds locked, however it ends. It says who does."""


@contextlib.contextmanager
def alone(settings: Settings) -> Iterator[TextIO | None]:
    """Hold the data directory while the block runs. Answers the file that `tell` writes to.

    CommandError names the process that holds it. Without demo data nothing in the database follows a server's port, so any
    number of them may share a directory; for them there is no file.
    """
    if not settings.demo:
        yield None
        return
    path = settings.data_dir / NAME
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = path.open("a+")
    except OSError as error:
        raise CommandError(f"The data directory cannot be used: {error}. Set COFFRET_DATA_DIR.") from error
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(occupied(path, settings)) from None
        tell(held, str(os.getpid()))
        try:
            yield held
        finally:
            held.truncate(0)


def served_at(settings: Settings) -> int | None:
    """The port of the server that holds the data directory; None where none does, or before it has one."""
    path = settings.data_dir / NAME
    try:
        with path.open() as held:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return urlsplit(path.read_text().partition(" ")[2]).port
    return None


def tell(held: TextIO | None, said: str) -> None:
    """Say who holds the directory: the process, and its address as soon as it has one."""
    if held is not None:
        held.truncate(0)
        held.write(said)
        held.flush()


def occupied(path: pathlib.Path, settings: Settings) -> str:
    """What to say about the process that holds the directory, and the ways out."""
    for _ in range(20):  # who has only just taken it has yet to say so
        if said := path.read_text():
            break
        time.sleep(0.05)
    pid, _, address = said.partition(" ")
    who = f"process {pid or 'unknown'}" + (f" at {address}" if address else "")
    other = f"{settings.data_dir}-2"
    port = settings.port + 1 if 0 < settings.port < 65535 else 8001
    return (
        f"Coffret is running on the data in {settings.data_dir} already: {who}. "
        f"Use that one; or stop it{f': kill {pid}' if pid else ''}; "
        f"or give this one data and a port of its own: COFFRET_DATA_DIR={other} PORT={port}"
    )
