"""Files that only their owner reads, such as keys."""

import contextlib
import secrets
from pathlib import Path


def write_once(file: Path, content: bytes) -> None:
    """Create a file that only its owner reads. One that exists stays as it is; nobody ever sees a part of it."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    draft.touch(mode=0o600, exist_ok=False)
    try:
        draft.write_bytes(content)
        with contextlib.suppress(FileExistsError):
            file.hardlink_to(draft)
    finally:
        draft.unlink()
