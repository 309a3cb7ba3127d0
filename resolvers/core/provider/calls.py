"""Calls the payment provider within a request, and converts its errors to those of the catalogue."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator

import structlog

from schema.core.errors import ProviderFailed, ProviderTimedOut
from store.providers.errors import ActionRequired, InvalidRequest, NotAllowed, ProviderError, ProviderNotFound

log = structlog.get_logger(__name__)
PROVIDER_ERRORS = (ProviderFailed, ProviderTimedOut)
"""The errors that `calling_provider` raises."""
REFUSALS = (InvalidRequest, NotAllowed, ProviderNotFound, ActionRequired)
"""Nothing was done, and the provider stores this response under the key of the call. A retry needs another key."""
PROVIDER_TIMEOUT = dt.timedelta(seconds=20)
"""Time limit of a call. A call that exceeds it is like one whose response is lost: it can be repeated with its key."""


@contextlib.asynccontextmanager
async def calling_provider(
    what: str, *, time_limit: dt.timedelta = PROVIDER_TIMEOUT, **owner: int
) -> AsyncIterator[None]:
    """Raise ProviderFailed (502) for a refusal of the provider, and ProviderTimedOut (504) if it cannot answer now.

    The log names the `owner`: `partner_id=…` or `marketplace_id=…`.
    """
    try:
        async with asyncio.timeout(time_limit.total_seconds()):
            yield
    except REFUSALS as error:
        log.exception("the provider refused a request", what=what, code=error.code, quote=error.request_id, **owner)
        raise ProviderFailed from error
    except (ProviderError, TimeoutError) as error:
        log.warning("a request to the provider failed", what=what, error=repr(error), **owner)
        raise ProviderTimedOut from error
