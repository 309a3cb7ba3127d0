"""The result of a creating call, and a body that is streamed."""

from collections.abc import AsyncIterable
from dataclasses import dataclass
from typing import Generic

from store.providers.mangopay.objects import W


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
