"""Multipart forms parsed in memory: uploaded files are never written to disk, not even as temporary files."""

from collections.abc import AsyncIterator

from starlette.datastructures import FormData, Headers
from starlette.formparsers import MultiPartException, MultiPartParser


class _InMemory(MultiPartParser):
    """Starlette's parser moves files above 1 MB to temporary files; this one holds them in memory."""

    def __init__(self, headers: Headers, raw: bytes, *, max_files: int, max_fields: int, max_part_size: int) -> None:
        async def stream() -> AsyncIterator[bytes]:
            yield raw

        super().__init__(
            headers,
            stream(),  # type: ignore[arg-type]  # asks for a generator, and only iterates
            max_files=max_files,
            max_fields=max_fields,
            max_part_size=max_part_size,
        )
        self.spool_max_size = len(raw) + 1


async def read_multipart(
    headers: Headers, raw: bytes, *, max_files: int, max_fields: int, max_part_size: int
) -> FormData:
    """The fields and files of a body that is already in memory. Raises Starlette's `MultiPartException` if it is
    malformed.

    `max_part_size` limits a field, in bytes; a file may be as large as the body.
    """
    limits = {"max_files": max_files, "max_fields": max_fields, "max_part_size": max_part_size}
    try:
        return await _InMemory(headers, raw, **limits).parse()
    except UnicodeError:  # Python knows the encoding's name and cannot decode it
        raise MultiPartException("Its charset cannot be read.") from None
