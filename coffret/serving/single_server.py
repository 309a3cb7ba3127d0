"""Allows one server per data directory with demo data: a second one would rewrite the shops' addresses."""

import contextlib
import fcntl
import os
import pathlib
import time
from collections.abc import Iterator
from typing import TextIO
from urllib.parse import urlsplit

from coffret.command_error import CommandError
from store.core.settings import Settings

LOCK_FILE_NAME = "serving"
"""A file in the data directory.

The running server holds a lock on it, which ends with the process. It names the server.
"""


@contextlib.contextmanager
def data_directory_lock(settings: Settings) -> Iterator[TextIO | None]:
    """Lock the data directory during the block. Yields the file for `write_lock_file`.

    Raises CommandError that names the process that holds the lock. Without demo data no row depends on a server's port:
    several servers may share a directory, and None is yielded.
    """
    if not settings.demo:
        yield None
        return
    path = settings.data_dir / LOCK_FILE_NAME
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = path.open("a+")
    except OSError as error:
        raise CommandError(f"The data directory cannot be used: {error}. Set COFFRET_DATA_DIR.") from error
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(already_running_message(path, settings)) from None
        write_lock_file(held, str(os.getpid()))
        try:
            yield held
        finally:
            held.truncate(0)


def running_server_port(settings: Settings) -> int | None:
    """The port of the server that holds the lock; None if there is none, or if it has no port yet."""
    path = settings.data_dir / LOCK_FILE_NAME
    try:
        with path.open() as held:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return urlsplit(path.read_text().partition(" ")[2]).port
    return None


def write_lock_file(held: TextIO | None, said: str) -> None:
    """Write which server holds the directory: the process id, and its URL as soon as it is known."""
    if held is not None:
        held.truncate(0)
        held.write(said)
        held.flush()


def already_running_message(path: pathlib.Path, settings: Settings) -> str:
    """The error message about the server that holds the directory, with the ways to proceed."""
    for _ in range(20):  # a server that has just locked the file has not written its id yet
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
