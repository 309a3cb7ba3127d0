"""Drafts: what a customer is typing, kept for a while so that its document can be shown before it is saved."""

import datetime as dt
import hashlib
from dataclasses import replace

import orjson
from pydantic import TypeAdapter

from schema.checkout.basket import BasketChoice, Giftee
from store.kv import KeyValueStore, WriteMode

DRAFT_LIFE = dt.timedelta(hours=1)
_CHOICE: TypeAdapter[BasketChoice] = TypeAdapter(BasketChoice)


async def keep_draft(kv: KeyValueStore, partner_id: int, session_id: str, choice: BasketChoice) -> str:
    """Keep what is printed of a choice. Returns its name, which is the same for the same words and works in the same
    session only.
    """
    names = Giftee(first_name=choice.giftee.first_name, last_name=choice.giftee.last_name)
    data = orjson.dumps(replace(choice, giftee=names), default=str, option=orjson.OPT_NON_STR_KEYS)
    name = hashlib.sha256(data).hexdigest()
    await kv.write(_key(partner_id, session_id, name), data, DRAFT_LIFE, when=WriteMode.ALWAYS)
    return name


async def find_draft(kv: KeyValueStore, partner_id: int, session_id: str, name: str) -> BasketChoice | None:
    """The choice of this name; None if it is unknown, expired, or of another session."""
    found = await kv.get(_key(partner_id, session_id, name))
    return None if found is None else _CHOICE.validate_json(found.value)


def _key(partner_id: int, session_id: str, name: str) -> str:
    digest = hashlib.sha256(f"{session_id}:{name}".encode(errors="surrogatepass")).hexdigest()
    return f"coffret:{{p{partner_id}}}:draft:{digest}"
