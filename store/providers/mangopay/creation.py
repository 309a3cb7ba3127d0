"""Creating calls: what is sent, what comes of it, and a body that is streamed."""

import datetime as dt
from collections.abc import AsyncIterable
from dataclasses import dataclass
from typing import Generic

from store.providers.keys import IdempotencyKey
from store.providers.mangopay.objects import Json, W


@dataclass(frozen=True, slots=True)
class CreationResult(Generic[W]):
    """A created object.

    With `looked_up` it comes from the stored response, a snapshot of the moment of its creation.
    """

    object: W
    looked_up: bool


class StreamedBody(AsyncIterable[bytes]):
    """A JSON body of `size` bytes, generated while it is sent, from the beginning for each attempt."""

    def __init__(self, size: int) -> None:
        self.size = size


Body = Json | StreamedBody | None


@dataclass(frozen=True, slots=True)
class Creation(Generic[W]):
    """A creating call: body, response shape, and the key that makes it idempotent until `key_expires_at`."""

    path: str
    body: Body
    shape: type[W]
    key: IdempotencyKey
    key_expires_at: dt.datetime


class Interrupted(Exception):
    """The request may have arrived; the response was lost."""


class UncertainOutcome(Exception):
    """A creating call may have been done. `key_was_seen`: the provider knows its key, so only a look-up can tell."""

    def __init__(self, message: str, *, key_was_seen: bool = False) -> None:
        super().__init__(message)
        self.key_was_seen = key_was_seen
