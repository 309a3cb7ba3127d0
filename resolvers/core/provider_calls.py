"""Asking the payment provider for somebody who waits: what goes wrong there, in the words of the catalogue."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator

import structlog

from schema.core.errors import ProviderFailed, ProviderTimedOut
from store.providers.base import ActionRequired, InvalidRequest, NotAllowed, NotFound, ProviderError

log = structlog.get_logger(__name__)
FAILURES = (ProviderFailed, ProviderTimedOut)
"""What `asking` raises."""
REFUSALS = (InvalidRequest, NotAllowed, NotFound, ActionRequired)
"""Nothing is done, and the provider keeps that answer for the key of the call: what is tried again needs another key."""
PATIENCE = dt.timedelta(seconds=20)
"""How long somebody waits. A call given up so is like one whose answer is lost: it can be made again with its key."""


@contextlib.asynccontextmanager
async def asking(what: str, *, partner_id: int, patience: dt.timedelta = PATIENCE) -> AsyncIterator[None]:
    """Tell what the provider refuses as ProviderFailed (502), and that it cannot answer now as ProviderTimedOut (504)."""
    try:
        async with asyncio.timeout(patience.total_seconds()):
            yield
    except REFUSALS as error:
        log.exception("the provider refused", what=what, partner_id=partner_id, code=error.code, quote=error.request_id)
        raise ProviderFailed from error
    except (ProviderError, TimeoutError) as error:
        log.warning("the provider could not be asked for now", what=what, partner_id=partner_id, error=repr(error))
        raise ProviderTimedOut from error
