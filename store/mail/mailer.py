"""The destinations of mail: a mail server, or a folder in development."""

import asyncio
import pathlib
from dataclasses import dataclass
from typing import Protocol

from store.core.clock import clock

MAX_FILES = 500
"""Maximum number of messages in a folder; the oldest are deleted first."""


class MailError(Exception):
    """A message was not accepted; the text says why, for the operator."""


class MailDeferred(MailError):
    """A temporary failure: the message should be tried again."""


class MailRefused(MailError):
    """A permanent failure: another try is useless."""


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A message in transport. `needs_utf8`: the recipient's address cannot be written in ASCII."""

    message_id: str
    sender: str
    recipient: str
    data: bytes
    needs_utf8: bool = False


class Mailer(Protocol):
    """Sends messages."""

    async def send(self, message: MailMessage) -> None:
        """Send one message. Raises MailDeferred or MailRefused if it is not accepted."""

    async def aclose(self) -> None:
        """Release connections and other resources."""


class FolderMailer:
    """Stores messages as files, the newest last by name. A message that is sent again replaces its file."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    async def send(self, message: MailMessage) -> None:
        await asyncio.to_thread(self._write_file, message)

    def _write_file(self, message: MailMessage) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = message.message_id.strip("<>").partition("@")[0]
        path = self.folder / f"{clock.now():%Y%m%dT%H%M%S}-{name}.eml"
        for before in self.folder.glob(f"*-{name}.eml"):
            before.unlink(missing_ok=True)
        partial = path.with_suffix(".part")
        partial.write_bytes(message.data)
        partial.rename(path)
        for old in sorted(self.folder.glob("*.eml"))[:-MAX_FILES]:
            old.unlink(missing_ok=True)

    async def aclose(self) -> None:
        """There is nothing to close."""
