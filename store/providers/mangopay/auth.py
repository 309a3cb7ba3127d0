"""The OAuth access token: fetched on demand, cached for its lifetime, and renewed once for all waiting calls."""

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator

import httpx
import structlog

from store.core.clock import Clock
from store.providers.errors import NotAllowed, TransientError
from store.providers.mangopay.errors import authentication_url, error_in, json_of
from store.providers.mangopay.objects import AccessToken, Unreadable, parse_object

_RENEWAL_MARGIN = 60.0
"""Seconds before expiry at which a token is renewed. Tokens of less than 120 seconds are renewed after half."""

log = structlog.stdlib.get_logger(__name__)


class TokenAuth(httpx.Auth):
    """Bearer authentication by client credentials, for `httpx.AsyncClient` only.

    Raises `TransientError` or `NotAllowed` if no token can be obtained; the original request is not sent then.
    """

    def __init__(self, token_url: str, client_id: str, api_key: str, clock: Clock) -> None:
        self._token_url = token_url
        self._basic = httpx.BasicAuth(client_id, api_key)
        self._clock = clock
        self._lock = asyncio.Lock()
        self._token: str | None = None
        self._renew_at = clock.now()

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Send the request with the token. A 401 about the token drops it and sends the request once more."""
        for last in (False, True):
            async with self._lock:
                if self._token is None or self._clock.now() >= self._renew_at:
                    await self._keep((yield self._renewal(request)))
                token = self._token
            request.headers["Authorization"] = f"Bearer {token}"
            response = yield request
            if last or response.status_code != httpx.codes.UNAUTHORIZED or authentication_url(response.headers):
                return
            await response.aread()  # frees the connection: else waiting calls could block the renewal
            if self._token == token:
                self._token = None

    def _renewal(self, request: httpx.Request) -> httpx.Request:
        renewal = httpx.Request(
            "POST",
            self._token_url,
            data={"grant_type": "client_credentials"},
            headers={"User-Agent": request.headers["User-Agent"], "Accept": "application/json"},
            extensions={"timeout": request.extensions["timeout"]},
        )
        return next(self._basic.sync_auth_flow(renewal))

    async def _keep(self, response: httpx.Response) -> None:
        await response.aread()
        if not response.is_success:
            error = error_in(response, self._clock.now())
            if isinstance(error, TransientError):
                raise error
            raise NotAllowed(
                "The provider refuses the client id or the API key.", code=error.code, request_id=error.request_id
            )
        try:
            token = parse_object(AccessToken, json_of(response))
        except Unreadable as error:
            raise TransientError(
                "The provider's response to the request for an access token cannot be parsed."
            ) from error
        self._token = token.access_token
        self._renew_at = self._clock.now() + dt.timedelta(
            seconds=max(token.expires_in - _RENEWAL_MARGIN, token.expires_in / 2)
        )
        log.debug("the access token was renewed", provider="mangopay", seconds=token.expires_in)
