"""What takes letters: a mail server, or a folder in development."""

import asyncio
import pathlib
from dataclasses import dataclass
from typing import Protocol

from store.core.clock import clock

KEPT = 500
"""Letters that a folder holds; the oldest go first."""


class MailError(Exception):
    """A letter was not taken; the message says why, for whoever runs the installation."""


class Deferred(MailError):
    """Not now: it is worth trying again."""


class Refused(MailError):
    """Never: trying again changes nothing."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message as it travels. `needs_utf8`: the recipient's address can be written in no other way."""

    message_id: str
    sender: str
    recipient: str
    data: bytes
    needs_utf8: bool = False


class Mailer(Protocol):
    """Takes letters."""

    async def send(self, letter: Letter) -> None:
        """Hand over one letter. Raises Deferred or Refused when it is not taken."""

    async def aclose(self) -> None:
        """Let go of what is held."""


class Folder:
    """Keeps letters as files, the newest last by name. A letter that is sent again replaces itself."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    async def send(self, letter: Letter) -> None:
        """Keep one letter."""
        await asyncio.to_thread(self._keep, letter)

    def _keep(self, letter: Letter) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = letter.message_id.strip("<>").partition("@")[0]
        path = self.folder / f"{clock.now():%Y%m%dT%H%M%S}-{name}.eml"
        for before in self.folder.glob(f"*-{name}.eml"):
            before.unlink(missing_ok=True)
        partial = path.with_suffix(".part")
        partial.write_bytes(letter.data)
        partial.rename(path)
        for old in sorted(self.folder.glob("*.eml"))[:-KEPT]:
            old.unlink(missing_ok=True)

    async def aclose(self) -> None:
        """Nothing is held."""
