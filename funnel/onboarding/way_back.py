"""Remembers the onboarding page that a browser left for the provider. Only the same browser gets the link back."""

import datetime as dt
import hashlib

from funnel.core.public_pages import PublicRequest
from resolvers.core.context import Context

LIFE = dt.timedelta(days=7)
"""As long as the provider keeps an identity verification open."""


async def remember_start_path(page_request: PublicRequest, context: Context, start: str) -> None:
    """Store for this browser which page it leaves. This does not extend the validity of the link."""
    await page_request.services.kv.write(_key(page_request, context), start.encode(), LIFE)


async def remembered_start_path(page_request: PublicRequest, context: Context) -> str:
    """The path of the onboarding page that this browser left; empty if unknown."""
    stored = await page_request.services.kv.get(_key(page_request, context))
    return "" if stored is None else stored.value.decode()


def _key(page_request: PublicRequest, context: Context) -> str:
    digest = hashlib.sha256(page_request.session_id.encode()).hexdigest()
    return f"coffret:{{p{context.required_caller.partner_id}}}:way-back:{digest}"
