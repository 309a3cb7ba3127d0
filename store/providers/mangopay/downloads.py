"""Files that the provider offers at addresses of their own, which need no token."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO, cast

import httpx

from store.providers.errors import TransientError

LARGEST_FILE = 1024 * 1024 * 1024
"""Bytes: some millions of movements."""
DOWNLOAD_TIMEOUT = 900.0
"""Seconds for a whole file."""


@asynccontextmanager
async def downloaded(http: httpx.AsyncClient, url: str) -> AsyncIterator[TextIO]:
    """A file, loaded to the disk as it arrives, to be read as text. Raises `TransientError`."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as text:
        file = cast("TextIO", text)
        try:
            async with asyncio.timeout(DOWNLOAD_TIMEOUT), http.stream("GET", url, auth=None) as response:
                if response.status_code != httpx.codes.OK:
                    raise TransientError(f"The provider answered {response.status_code} instead of a file.")
                size = 0
                async for piece in response.aiter_bytes():
                    size += len(piece)
                    if size > LARGEST_FILE:
                        raise TransientError("A file of the provider is too large.")
                    text.buffer.write(piece)
        except (httpx.RequestError, httpx.InvalidURL, TimeoutError) as error:
            raise TransientError(f"A file of the provider could not be loaded: {type(error).__name__}.") from error
        file.seek(0)
        yield file
