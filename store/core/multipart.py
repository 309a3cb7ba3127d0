"""Forms with files, read in memory: an uploaded file never touches a disk, not even under no name."""

from collections.abc import AsyncIterator

from starlette.datastructures import FormData, Headers
from starlette.formparsers import MultiPartException, MultiPartParser


class _InMemory(MultiPartParser):
    """Starlette's own lets what is larger than 1 MB roll over into a temporary file."""

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
    """The fields and files of a body that is in memory already. Raises Starlette's `MultiPartException` for what is no form.

    `max_part_size` is of a field, in bytes; a file may be as large as the body.
    """
    limits = {"max_files": max_files, "max_fields": max_fields, "max_part_size": max_part_size}
    try:
        return await _InMemory(headers, raw, **limits).parse()
    except UnicodeError:  # of encodings that Python names and does not decode
        raise MultiPartException("Its charset cannot be read.") from None
