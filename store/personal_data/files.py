"""The file with the data of a person: its address is random, says nothing about the person, and works for ten minutes."""

import datetime as dt
import secrets
from dataclasses import asdict
from typing import Any, Final

import orjson
from pydantic import BaseModel

from schema.personal_data.export import PersonalData
from store.core.settings import Settings
from store.kv import KeyValueStore, WriteMode
from store.personal_data.rows import PersonKey

VALIDITY: Final = dt.timedelta(minutes=10)
PREFIX: Final = "/documents/personal-data/"


async def offer_file(store: KeyValueStore, settings: Settings, person: PersonKey) -> str:
    """The full URL of the file of a person. The file itself is made when it is fetched."""
    token = secrets.token_urlsafe(32)
    await store.write(_key(token), orjson.dumps(asdict(person)), VALIDITY, when=WriteMode.ABSENT)
    return f"{settings.public_url}{PREFIX}{token}.json"


async def person_of_file(store: KeyValueStore, token: str) -> PersonKey | None:
    """The person whose file an address leads to; None if there is none, or the time is over."""
    record = await store.get(_key(token))
    return None if record is None else PersonKey(**orjson.loads(record.value))


def file_of(data: PersonalData) -> bytes:
    """The data as JSON, indented for people to read. Amounts are texts: `12.50`."""
    content = {name: value for name, value in asdict(data).items() if name != "file_url"}
    return orjson.dumps(content, default=_as_json, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _as_json(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else str(value)


def _key(token: str) -> str:
    return f"coffret:personal_data:{token}"
