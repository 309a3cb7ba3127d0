"""What a form's refusal leaves for the page that is shown next: shown once, kept ten minutes at most."""

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from schema.core.errors import Problem
from store.kv import KeyValue

LIFE = dt.timedelta(minutes=10)
LARGEST = 64 * 1024
"""Of a message in bytes; what was typed is left out of a larger one."""


@dataclass(frozen=True, slots=True)
class Flash:
    """What was wrong, as (place on the page, code of the error), and what had been typed."""

    problems: tuple[tuple[str, str], ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, problems: Sequence[Problem], fields: Mapping[str, str]) -> "Flash":
        """From an operation's refusal; the place is the last name of each path."""
        return cls(tuple((str(p.path[-1]) if p.path else "", p.code) for p in problems), fields)


class Flashes:
    """The messages waiting for each session at each place: a checkout, a form."""

    def __init__(self, store: KeyValue, partner_id: int) -> None:
        self._store = store
        self._partner_id = partner_id

    async def leave(self, place: str, flash: Flash) -> None:
        """Leave a message for the next page."""
        message = orjson.dumps([flash.problems, dict(flash.fields)])
        if len(message) > LARGEST:
            message = orjson.dumps([flash.problems, {}])
        await self._store.write(self._key(place), message, LIFE)

    async def take(self, place: str) -> Flash:
        """The message left for this place, which is then forgotten; an empty one when there is none."""
        found = await self._store.get(self._key(place))
        if found is None:
            return Flash()
        await self._store.delete(self._key(place), version=found.version)
        problems, fields = orjson.loads(found.value)
        return Flash(tuple((place, code) for place, code in problems), fields)

    def _key(self, place: str) -> str:
        digest = hashlib.sha256(place.encode()).hexdigest()
        return f"coffret:{{p{self._partner_id}}}:flash:{digest}"
