"""The file store: pictures and documents under keys, in a folder, in S3 or in what else `obstore` speaks to."""

import asyncio
import contextlib
import datetime as dt
import os
import pathlib
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Self

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, MemoryStore, ObjectStore, from_url

from store.core.outages import unavailable
from store.core.settings import Settings

WHAT = "The file store"
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
"""Names with slashes between, none of which begins with a dot: no key leads out of the store."""
LONGEST_KEY = 512
PATIENCE = "30s"
"""For one request to a store that is elsewhere; a picture of 10 MiB is the largest thing sent."""
CONNECTING = "5s"
RETRIES = 2


class UnusableStore(ValueError):
    """What `FILES_URL` names cannot be opened; the message says why and holds no secret."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is kept: its key, its size in bytes, and when it was last written by the store's own clock."""

    key: str
    size: int
    changed_on: dt.datetime


class FileStore:
    """Files by key. A file is there wholly or not at all; writing a key again replaces what it held.

    What was put lasts, whatever becomes of the machine afterwards. Every method raises Unavailable where the store cannot be reached or does not let us in, and ValueError for what is no key.
    """

    def __init__(self, store: ObjectStore, place: str, *, folder: pathlib.Path | None = None) -> None:
        self._store = store
        self._folder = folder
        self.place = place
        """Where the files are, in words for people; without secrets."""

    @classmethod
    def in_memory(cls) -> Self:
        """A store that is gone with the process: for tests."""
        return cls(MemoryStore(), "memory")

    @classmethod
    def in_folder(cls, folder: pathlib.Path) -> Self:
        """A store in a folder, which is made where it is missing. UnusableStore where it cannot be made."""
        place = folder.expanduser().resolve()
        with _opening():
            return cls(LocalStore(place, mkdir=True), str(place), folder=place)

    async def put(self, key: str, content: bytes, content_type: str, *, lasting: bool = True) -> None:
        """Keep bytes under a key. Their type is told to stores that keep one, for whoever reads the bucket otherwise.

        `lasting=False` is quicker in a folder, for what can be made again: a power cut may lose it, or leave a part of it.
        """
        attributes: Any = {"Content-Type": content_type} if self._folder is None else None
        with _asking():
            await obstore.put_async(self._store, _good(key), content, attributes=attributes, use_multipart=False)
            if lasting and self._folder is not None:
                await asyncio.to_thread(_settle, self._folder / key, self._folder)

    async def get(self, key: str) -> bytes | None:
        """What a key holds; None where there is no such file."""
        with _asking():
            try:
                found = await obstore.get_async(self._store, _good(key))
                return (await found.bytes_async()).to_bytes()
            except FileNotFoundError:
                return None

    async def delete(self, *keys: str) -> None:
        """Let go of files; those that are not there are no error."""
        with _asking():
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    await obstore.delete_async(self._store, _good(key))

    async def kept(self, folder: str) -> AsyncIterator[StoredFile]:
        """Every file below a folder of keys, such as `media`, in no particular order."""
        with _asking():
            async for several in obstore.list(self._store, prefix=_good(folder)):
                for one in several:
                    yield StoredFile(one["path"], one["size"], one["last_modified"])


def open_store(settings: Settings) -> FileStore:
    """The store that the settings name. It is not asked anything yet, except that a folder is made.

    UnusableStore for an address that names none.
    """
    url = settings.files_url
    if not url:
        return FileStore.in_folder(settings.data_dir / "files")
    if url.startswith("file://"):
        return FileStore.in_folder(pathlib.Path(url.removeprefix("file://")))
    options: dict[str, Any] = {
        "endpoint": settings.files_endpoint,
        "region": settings.files_region,
        "access_key_id": settings.files_access_key_id.get_secret_value(),
        "secret_access_key": settings.files_secret_access_key.get_secret_value(),
    }
    with _opening():
        store = from_url(
            url,
            client_options={
                "timeout": PATIENCE,
                "connect_timeout": CONNECTING,
                "allow_http": settings.files_endpoint.startswith("http://"),
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": dt.timedelta(seconds=30)},
            **{name: value for name, value in options.items() if value},
        )
    return FileStore(store, url)


def _settle(file: pathlib.Path, root: pathlib.Path) -> None:
    """Have the disk itself keep a file, and its name in each folder on the way: `obstore` leaves both to the system's memory."""
    for path in (file, *(folder for folder in file.parents if folder.is_relative_to(root))):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _good(key: str) -> str:
    if len(key) > LONGEST_KEY or not KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key of a file.")
    return key


@contextlib.contextmanager
def _asking() -> Iterator[None]:
    """Tell what the store cannot do as an outage; the caller has dealt with a file that is not there."""
    try:
        yield
    except (BaseError, OSError) as error:
        raise unavailable(WHAT, error) from error


@contextlib.contextmanager
def _opening() -> Iterator[None]:
    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise UnusableStore(str(error).partition("\n")[0]) from error
