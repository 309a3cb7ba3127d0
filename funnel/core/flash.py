"""Flash messages: the errors of a form for the next page. Shown once, stored for at most ten minutes."""

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from schema.core.errors import Problem
from store.kv import KeyValueStore

LIFE = dt.timedelta(minutes=10)
LARGEST = 64 * 1024
"""Maximum size of a message in bytes. Typed values are left out of a larger one."""


@dataclass(frozen=True, slots=True)
class Flash:
    """Errors as (field id, code), and the typed values."""

    problems: tuple[tuple[str, str], ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, problems: Sequence[Problem], fields: Mapping[str, str]) -> "Flash":
        """From the errors of an operation. The field id is the last name of each path."""
        return cls(tuple((str(p.path[-1]) if p.path else "", p.code) for p in problems), fields)


class Flashes:
    """The flash messages of a shop, per checkout or form."""

    def __init__(self, store: KeyValueStore, partner_id: int) -> None:
        self._store = store
        self._partner_id = partner_id

    async def put(self, place: str, flash: Flash) -> None:
        """Store a message for the next page."""
        message = orjson.dumps([flash.problems, dict(flash.fields)])
        if len(message) > LARGEST:
            message = orjson.dumps([flash.problems, {}])
        await self._store.write(self._key(place), message, LIFE)

    async def take(self, place: str) -> Flash:
        """Return and delete the message; an empty one if there is none."""
        stored = await self._store.get(self._key(place))
        if stored is None:
            return Flash()
        await self._store.delete(self._key(place), version=stored.version)
        problems, fields = orjson.loads(stored.value)
        return Flash(tuple((place, code) for place, code in problems), fields)

    def _key(self, place: str) -> str:
        digest = hashlib.sha256(place.encode()).hexdigest()
        return f"coffret:{{p{self._partner_id}}}:flash:{digest}"
