"""Storage of customers' checkout sessions. A session expires 24 hours after the last visit."""

import hashlib

from store.core.session_ids import SESSION_LIFE
from store.kv import KeyValueStore, Record, WriteMode

NEW_VERSION = 0
"""The version that `save` takes for a new session."""


class Sessions:
    """The session store. A session belongs to one partner's shop; its data are an opaque JSON object as bytes.

    Keys contain only the digest of the session id. Each operation is atomic and one round trip. Raises `Unavailable` if
    the store cannot be reached.
    """

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store

    async def load(self, partner_id: int, session_id: str) -> Record | None:
        """Data and version of a session, extending its life to 24 hours.

        None if it is unknown, expired or another partner's.
        """
        return await self._store.touch(_key(partner_id, session_id), SESSION_LIFE)

    async def save(self, partner_id: int, session_id: str, data: bytes, version: int = NEW_VERSION) -> int | None:
        """Replace the data loaded as `version` and return the new version; `NEW_VERSION` creates a session.

        Returns None and changes nothing if the session was saved since or is gone: load it again.
        """
        when = WriteMode.ABSENT if version == NEW_VERSION else version
        written = await self._store.write(_key(partner_id, session_id), data, SESSION_LIFE, when=when)
        return None if written is None else written.version

    async def delete(self, partner_id: int, session_id: str) -> bool:
        """Delete a session; returns True if it existed."""
        return await self._store.delete(_key(partner_id, session_id))

    async def delete_by_digest(self, partner_id: int, digest: str) -> bool:
        """Delete the session whose id has this digest (`store.checkout.reading.session_digest`)."""
        return await self._store.delete(_key_of_digest(partner_id, digest))


def _key(partner_id: int, session_id: str) -> str:
    digest = hashlib.sha256(session_id.encode(errors="surrogatepass")).hexdigest()
    return _key_of_digest(partner_id, digest)


def _key_of_digest(partner_id: int, digest: str) -> str:
    return f"coffret:{{p{partner_id}}}:session:{digest}"
