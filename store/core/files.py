"""The file store: pictures and documents by key, in a folder, in S3 or in another store that `obstore` supports."""

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

from store.core.settings import Settings
from store.core.telemetry.outages import report_unavailable

WHAT = "The file store"
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
"""Names separated by slashes. No name begins with a dot, so no key leads out of the store."""
MAX_KEY_LENGTH = 512
REQUEST_TIMEOUT = "30s"
"""The time limit of one request to a remote store; the largest upload is a picture of 10 MiB."""
CONNECT_TIMEOUT = "5s"
RETRIES = 2


class UnusableStore(ValueError):
    """The store that `FILES_URL` names cannot be opened. The message says why and contains no secret."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A stored file: its key, its size in bytes, and the time of its last write by the store's clock."""

    key: str
    size: int
    changed_on: dt.datetime


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is read in pieces: its size in bytes, and its content, which can be read once."""

    size: int
    chunks: AsyncIterator[bytes]


class FileStore:
    """Files by key. Writes are atomic, and writing to an existing key replaces its content.

    A completed `put` is durable, unless `lasting` is false. Every method raises Unavailable if the store cannot be
    reached or refuses access, and ValueError for an invalid key.
    """

    def __init__(self, store: ObjectStore, place: str, *, folder: pathlib.Path | None = None) -> None:
        self._store = store
        self._folder = folder
        self.place = place
        """Where the files are, for people; contains no secrets."""

    @classmethod
    def in_memory(cls) -> Self:
        """A store in memory, for tests."""
        return cls(MemoryStore(), "memory")

    @classmethod
    def in_folder(cls, folder: pathlib.Path) -> Self:
        """A store in a folder, which is created if it is missing. UnusableStore if that fails."""
        place = folder.expanduser().resolve()
        with _translate_open_errors():
            return cls(LocalStore(place, mkdir=True), str(place), folder=place)

    async def put(self, key: str, content: bytes, content_type: str, *, lasting: bool = True) -> None:
        """Store bytes under a key. The content type is stored too, where the store supports it.

        `lasting=False` is faster in a folder. It is for content that can be generated again: a power failure may lose
        or truncate it.
        """
        attributes: Any = {"Content-Type": content_type} if self._folder is None else None
        with _translate_errors():
            await obstore.put_async(self._store, _checked_key(key), content, attributes=attributes, use_multipart=False)
            if lasting and self._folder is not None:
                await asyncio.to_thread(_sync_to_disk, self._folder / key, self._folder)

    async def put_file(self, key: str, path: pathlib.Path, content_type: str) -> None:
        """Store a file of the disk under a key, in pieces, as `put` stores bytes."""
        attributes: Any = {"Content-Type": content_type} if self._folder is None else None
        with _translate_errors():
            await obstore.put_async(self._store, _checked_key(key), path, attributes=attributes)
            if self._folder is not None:
                await asyncio.to_thread(_sync_to_disk, self._folder / key, self._folder)

    async def open(self, key: str) -> OpenFile | None:
        """A file to be read in pieces; None if the key does not exist."""
        with _translate_errors():
            try:
                result = await obstore.get_async(self._store, _checked_key(key))
            except FileNotFoundError:
                return None
            return OpenFile(result.meta["size"], _chunks_of(result))

    async def get(self, key: str) -> bytes | None:
        """The content of a file; None if the key does not exist."""
        with _translate_errors():
            try:
                result = await obstore.get_async(self._store, _checked_key(key))
                return (await result.bytes_async()).to_bytes()
            except FileNotFoundError:
                return None

    async def delete(self, *keys: str) -> None:
        """Delete files; missing ones are ignored."""
        with _translate_errors():
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    await obstore.delete_async(self._store, _checked_key(key))

    async def list_files(self, folder: str) -> AsyncIterator[StoredFile]:
        """All files below a folder such as `media`, in no particular order."""
        with _translate_errors():
            async for several in obstore.list(self._store, prefix=_checked_key(folder)):
                for one in several:
                    yield StoredFile(one["path"], one["size"], one["last_modified"])


def open_store(settings: Settings) -> FileStore:
    """The store that the settings name. It sends no request; a missing local folder is created.

    UnusableStore if the address is invalid.
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
    with _translate_open_errors():
        store = from_url(
            url,
            client_options={
                "timeout": REQUEST_TIMEOUT,
                "connect_timeout": CONNECT_TIMEOUT,
                "allow_http": settings.files_endpoint.startswith("http://"),
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": dt.timedelta(seconds=30)},
            **{name: value for name, value in options.items() if value},
        )
    return FileStore(store, url)


def _sync_to_disk(file: pathlib.Path, root: pathlib.Path) -> None:
    """Flush a file and the folders above it to the disk: `obstore` leaves both in the system's cache."""
    for path in (file, *(folder for folder in file.parents if folder.is_relative_to(root))):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


async def _chunks_of(result: Any) -> AsyncIterator[bytes]:
    with _translate_errors():
        async for chunk in result.stream():
            yield bytes(chunk)


def _checked_key(key: str) -> str:
    if len(key) > MAX_KEY_LENGTH or not KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key of a file.")
    return key


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    """Report errors of the store as an outage. The caller handles missing files itself."""
    try:
        yield
    except (BaseError, OSError) as error:
        raise report_unavailable(WHAT, error) from error


@contextlib.contextmanager
def _translate_open_errors() -> Iterator[None]:
    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise UnusableStore(str(error).partition("\n")[0]) from error
