"""Customers' sessions in the checkout: what was chosen and typed so far, forgotten 24 hours after the last visit."""

import datetime as dt
import hashlib
import secrets

from store.kv import KeyValue, Record, When

SESSION_LIFE = dt.timedelta(hours=24)
NEW = 0
"""The version of a session that is not there yet."""


def new_session_id() -> str:
    """An id that nobody can guess: 256 random bits as 43 characters that are safe in a cookie."""
    return secrets.token_urlsafe(32)


class Sessions:
    """All sessions, each within one partner's shop. Data is a JSON object as bytes; this class never looks inside.

    The store knows an id by its digest only. Each operation is atomic and one round trip; a store out of reach raises
    `Unavailable`.
    """

    def __init__(self, store: KeyValue) -> None:
        self._store = store

    async def load(self, partner_id: int, session_id: str) -> Record | None:
        """Its data and version, and 24 hours more to live; None for an id that is unknown, expired or another partner's."""
        return await self._store.touch(_key(partner_id, session_id), SESSION_LIFE)

    async def save(self, partner_id: int, session_id: str, data: bytes, version: int = NEW) -> int | None:
        """Replace the data that was loaded as `version` (`NEW`: begin a session), and answer the new version.

        None, and nothing changed, when somebody else saved since, or the session is gone: load it again.
        """
        when = When.ABSENT if version == NEW else version
        written = await self._store.write(_key(partner_id, session_id), data, SESSION_LIFE, when=when)
        return None if written is None else written.version

    async def delete(self, partner_id: int, session_id: str) -> bool:
        """Forget a session; tells whether it was there."""
        return await self._store.delete(_key(partner_id, session_id))


def _key(partner_id: int, session_id: str) -> str:
    digest = hashlib.sha256(session_id.encode(errors="surrogatepass")).hexdigest()
    return f"coffret:{{p{partner_id}}}:session:{digest}"
