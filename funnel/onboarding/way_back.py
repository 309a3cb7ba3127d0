"""From the page that the provider leads back to, to the onboarding page: for the browser that came from there, and no other."""

import datetime as dt
import hashlib

from funnel.core.public_pages import Holder
from resolvers.core.context import Context

LIFE = dt.timedelta(days=7)
"""As long as the provider keeps an identity verification open."""


async def remember(guest: Holder, context: Context, start: str) -> None:
    """Keep for this browser which page it leaves. A link that dies meanwhile stays dead."""
    await guest.services.kv.write(_key(guest, context), start.encode(), LIFE)


async def way_back(guest: Holder, context: Context) -> str:
    """The path of the onboarding page that this browser came from; empty: from none."""
    found = await guest.services.kv.get(_key(guest, context))
    return "" if found is None else found.value.decode()


def _key(guest: Holder, context: Context) -> str:
    digest = hashlib.sha256(guest.session_id.encode()).hexdigest()
    return f"coffret:{{p{context.asking.partner_id}}}:way-back:{digest}"
