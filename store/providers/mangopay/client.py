"""HTTP client for Mangopay. Creating calls take effect once, even if responses are lost."""

import asyncio
import datetime as dt
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TextIO, TypeVar
from urllib.parse import quote

import httpx
import structlog

from store.core.clock import Clock
from store.providers.call_budget import CallBudget
from store.providers.errors import InvalidRequest, ProviderError, ProviderNotFound, TransientError, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.allowance import record_allowances
from store.providers.mangopay.auth import TokenAuth
from store.providers.mangopay.calls import InstrumentedCall
from store.providers.mangopay.creation import (
    Body,
    Creation,
    CreationResult,
    Interrupted,
    StreamedBody,
    UncertainOutcome,
)
from store.providers.mangopay.downloads import downloaded
from store.providers.mangopay.errors import KEY_UNKNOWN, error_body_in, error_body_of, error_in, error_of, json_of
from store.providers.mangopay.objects import (
    IdempotencyResponse,
    Json,
    MangopayObject,
    Nothing,
    Unreadable,
    W,
    parse_object,
)
from store.providers.mangopay.tls import Certificate, api_base_url, ssl_context

Sleep = Callable[[float], Awaitable[None]]
Query = Mapping[str, str | int]
T = TypeVar("T")
Attempt = Callable[[str, str, Callable[[httpx.Response], IdempotencyResponse]], Awaitable[IdempotencyResponse]]

PAUSES = (0.2, 0.5, 1.0, 2.0)
"""Seconds between the attempts of one call, five attempts in total."""
PAGE = 100
KEY_RETENTION = dt.timedelta(hours=24) - dt.timedelta(minutes=5)
"""How long the provider remembers keys, less a margin for clock differences."""

RESPONSE_TIMEOUT = 120.0
"""Seconds for one request with its whole response, including the upload of a file over a slow line."""
LARGEST_RESPONSE = 8 * 1024 * 1024
"""Bytes. A page of a hundred objects is about a fiftieth of that."""
MOST_PAGES = 1000
"""A list with more pages counts as endless."""

_OF_TRANSPORT = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that describe the transfer, and are wrong for the decoded content."""
_COUNT = re.compile("[0-9]{1,9}")
_KEY = re.compile("[A-Za-z0-9-]{16,36}")
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

log = structlog.stdlib.get_logger(__name__)


class Client:
    """The API of one Mangopay client. Paths are relative to it and start with a slash."""

    def __init__(
        self,
        base_url: str,
        client_id: str,
        api_key: str,
        *,
        transport: httpx.AsyncBaseTransport | None,
        certificate: Certificate | None,
        clock: Clock,
        sleep: Sleep,
        budget: CallBudget | None = None,
    ) -> None:
        root = f"{api_base_url(base_url, certificate).rstrip('/')}/v2.01"
        self._account = f"{root}/{quote(client_id, safe='')}"
        self._clock = clock
        self._sleep = sleep
        self._budget = budget
        self._http = httpx.AsyncClient(
            auth=TokenAuth(f"{root}/oauth/token", client_id, api_key, clock),
            headers={"User-Agent": "Coffret", "Accept": "application/json"},
            timeout=httpx.Timeout(30, connect=5),
            transport=transport,
            verify=ssl_context(certificate) if transport is None else True,
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    async def get(self, path: str, shape: type[W], query: Query | None = None) -> W:
        """Read one object. Raises `ProviderNotFound`, and `TransientError` after the last attempt."""
        return await self._repeatedly("GET", path, lambda response: parse_object(shape, json_of(response)), query=query)

    async def put(self, path: str, body: Json, shape: type[W]) -> W:
        """Set an object's state. Repeated like a read, because PUT is idempotent."""
        return await self._repeatedly("PUT", path, lambda response: parse_object(shape, json_of(response)), body=body)

    async def list(self, path: str, shape: type[W], query: Query) -> AsyncIterator[W]:
        """All objects of all pages."""
        number, more = 1, True
        while more:
            on_page = {**query, "page": number, "per_page": PAGE}
            objects, more = await self._repeatedly("GET", path, _page_of(shape, number), query=on_page)
            for each in objects:
                yield each
            number += 1
            if number > MOST_PAGES:
                raise TransientError("The provider's list has no end.")

    def download(self, url: str) -> AbstractAsyncContextManager[TextIO]:
        """A file at an address that the provider named. It needs no token and uses up none of the calls."""
        return downloaded(self._http, url)

    async def create(
        self, path: str, body: Body, shape: type[W], key: IdempotencyKey, sent_at: dt.datetime | None = None
    ) -> CreationResult[W]:
        """Create an object once. The key must be stored before, so that the outcome can be looked up after a crash.

        `sent_at` is when the key was stored, by default now. If the provider may have forgotten the key, nothing is
        sent. Raises the refusal; `TransientError` if no attempt can have arrived; `UnknownOutcome` if one may have.
        """
        if not _KEY.fullmatch(key):
            raise ValueError("An idempotency key has 16 to 36 letters, digits and hyphens.")
        creation = Creation(path, body, shape, key, (sent_at or self._clock.now()) + KEY_RETENTION)
        if self._key_expired(creation):
            return await self._recall(creation)
        pauses = iter(PAUSES)
        while True:
            try:
                return CreationResult(await self._post(creation), looked_up=False)
            except UncertainOutcome as error:
                return await self._resolve(creation, pauses, known=error.key_was_seen)
            except TransientError as error:
                if error.retry_after is not None or not await self._pause(pauses):
                    raise

    async def find_created(self, key: IdempotencyKey) -> Json | None:
        """The object created by the call with this key, as of then; None if the provider has no response for the key.

        Raises the refusal if the call was refused, `TransientError`, or `UnknownOutcome` if the stored response is
        inconclusive.
        """
        try:
            stored = await self._lookup(key, self._repeatedly)
        except UncertainOutcome:
            raise UnknownOutcome(key) from None
        return None if stored is None else self._resource(stored)

    def _key_expired(self, creation: Creation[W]) -> bool:
        """True if the provider may have forgotten the key, and would treat another request as a new call."""
        return self._clock.now() >= creation.key_expires_at

    async def _recall(self, creation: Creation[W]) -> CreationResult[W]:
        """The result of a call whose key is too old to be sent again, if the provider still knows it."""
        try:
            stored = await self._lookup(creation.key, self._repeatedly, empty=creation.shape is Nothing)
        except (UncertainOutcome, ProviderError) as error:
            raise UnknownOutcome(creation.key) from error  # even if the look-up fails, the call may have been done
        if stored is None:
            raise UnknownOutcome(creation.key)
        return self._result_of(creation, stored)

    async def _resolve(self, creation: Creation[W], pauses: Iterator[float], *, known: bool) -> CreationResult[W]:
        """Find the outcome of a call that may have been done.

        It is sent again only if the provider denies knowing its key.
        """
        while True:
            denied = False
            try:
                stored = await self._lookup(creation.key, self._once, empty=creation.shape is Nothing)
                if stored is not None:
                    break
                denied = True
            except (UncertainOutcome, ProviderError) as error:
                log.debug(
                    "the response of a creating call could not be looked up",
                    provider="mangopay",
                    path=creation.path,
                    error=str(error),
                )
            if not await self._pause(pauses):
                raise UnknownOutcome(creation.key)
            if denied and not known and not self._key_expired(creation):
                try:
                    return CreationResult(await self._post(creation), looked_up=False)
                except UncertainOutcome as error:
                    known = error.key_was_seen
                except ProviderError as error:
                    # A refusal of this attempt says nothing about the earlier one. Only its stored response does.
                    log.debug("a creating call was refused", provider="mangopay", path=creation.path, error=str(error))
        return self._result_of(creation, stored)

    async def _post(self, creation: Creation[W]) -> W:
        """Send a creating call once.

        Raises `UncertainOutcome` if it may have been done, else the refusal or `TransientError`.
        """
        try:
            response = await self._exchange("POST", creation.path, body=creation.body, key=creation.key)
            if response.is_success:
                return parse_object(creation.shape, _response_body(response, creation.shape))
        except (Interrupted, Unreadable) as error:
            raise UncertainOutcome(str(error)) from error
        if response.status_code == httpx.codes.CONFLICT:
            raise UncertainOutcome("The key was used before.", key_was_seen=True)
        refusal = error_in(response, self._clock.now())
        if isinstance(refusal, TransientError) and response.status_code != httpx.codes.TOO_MANY_REQUESTS:
            raise UncertainOutcome(str(refusal)) from refusal
        raise refusal

    async def _lookup(
        self, key: IdempotencyKey, attempt: Attempt, *, empty: bool = False
    ) -> IdempotencyResponse | None:
        """The response stored for a key; None if the provider does not know the key.

        Raises `UncertainOutcome` if the stored response is inconclusive. `empty`: the call has an empty response, so a
        success without an object is conclusive.
        """
        path = f"/responses/{segment(key)}"
        try:
            stored = await attempt("GET", path, lambda response: parse_object(IdempotencyResponse, json_of(response)))
        except InvalidRequest as error:
            if error.code == KEY_UNKNOWN:
                return None
            raise
        if empty and stored.resource is None and httpx.codes.is_success(stored.status_code):
            return stored.model_copy(update={"resource": {}})
        if stored.status_code >= httpx.codes.INTERNAL_SERVER_ERROR or stored.resource is None:
            raise UncertainOutcome(f"The stored response has the status {stored.status_code}.")
        return stored

    def _result_of(self, creation: Creation[W], response: IdempotencyResponse) -> CreationResult[W]:
        """The created object of a stored response. Raises the refusal, or `UnknownOutcome` if it cannot be parsed."""
        try:
            return CreationResult(parse_object(creation.shape, self._resource(response)), looked_up=True)
        except Unreadable as error:
            raise UnknownOutcome(creation.key) from error

    def _resource(self, response: IdempotencyResponse) -> Json:
        if response.resource is None or response.status_code >= httpx.codes.BAD_REQUEST:
            raise error_of(response.status_code, error_body_of(response.resource), {}, self._clock.now())
        return response.resource

    async def _repeatedly(
        self,
        method: str,
        path: str,
        parse: Callable[[httpx.Response], T],
        *,
        query: Query | None = None,
        body: Json | None = None,
    ) -> T:
        pauses = iter(PAUSES)
        while True:
            try:
                return await self._once(method, path, parse, query=query, body=body)
            except TransientError as error:
                if error.retry_after is not None or not await self._pause(pauses):
                    raise

    async def _once(
        self,
        method: str,
        path: str,
        parse: Callable[[httpx.Response], T],
        *,
        query: Query | None = None,
        body: Json | None = None,
    ) -> T:
        try:
            response = await self._exchange(method, path, query=query, body=body)
            if response.is_success:
                return parse(response)
        except (Interrupted, Unreadable) as error:
            raise TransientError(str(error)) from error
        raise error_in(response, self._clock.now())

    async def _exchange(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Body = None,
        key: IdempotencyKey | None = None,
    ) -> httpx.Response:
        """Send one request and return any response. Raises `TransientError` if it was not sent, else `Interrupted`."""
        if self._budget is not None:
            await self._budget.admit()
        headers: dict[str, str] = {"Idempotency-Key": key} if key else {}
        streamed = body if isinstance(body, StreamedBody) else None
        if streamed is not None:
            headers |= {"Content-Type": "application/json", "Content-Length": str(streamed.size)}
        request = self._http.build_request(
            method,
            self._account + path,
            params=query,
            json=body if streamed is None else None,
            content=streamed,
            headers=headers,
        )
        with InstrumentedCall(method, path, key) as call:
            try:
                response = await self._send(request)
            except httpx.RequestError as error:
                # An error of another request is one of the token request: the call itself was not sent.
                call.record_failure(
                    error, may_have_arrived=not isinstance(error, _NOT_SENT) and error.request is request
                )
                if not call.may_have_arrived:
                    raise TransientError(f"The provider cannot be reached: {type(error).__name__}.") from error
                raise Interrupted(f"The provider did not answer: {type(error).__name__}.") from error
            call.record_response(response.status_code, None if response.is_success else error_body_in(response).id)
        await record_allowances(self._budget, response, self._clock.now())
        return response

    async def _send(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read the whole response.

        Too large or too slow responses raise `httpx.RequestError`, like lost ones.
        """
        try:
            async with asyncio.timeout(RESPONSE_TIMEOUT):
                response = await self._http.send(request, stream=True)
                try:
                    content = await _content(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise httpx.ReadTimeout("The response takes too long.", request=request) from error
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_TRANSPORT]
        return httpx.Response(response.status_code, headers=headers, content=content, request=request)

    async def _pause(self, pauses: Iterator[float]) -> bool:
        """Wait before the next attempt; returns False after the last one."""
        pause = next(pauses, None)
        if pause is None:
            return False
        await self._sleep(pause)
        return True


async def _content(response: httpx.Response) -> bytes:
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > LARGEST_RESPONSE:
            raise httpx.ReadError("The response is too large.", request=response.request)
    return bytes(content)


def _response_body(response: httpx.Response, shape: type[MangopayObject]) -> object:
    """The parsed body; an empty body is valid for calls that return `Nothing`."""
    return {} if shape is Nothing and not response.content else json_of(response)


def segment(id: str) -> str:
    """The id as a quoted path segment. Raises `ProviderNotFound` for a string that cannot be an id."""
    if id in {"", ".", ".."}:
        raise ProviderNotFound(f"{id!r} is not a valid id of the provider.")
    return quote(id, safe="")


def _page_of(shape: type[W], number: int) -> Callable[[httpx.Response], tuple[list[W], bool]]:
    """A parser for one page of a list, which also returns whether more pages follow."""

    def parse(response: httpx.Response) -> tuple[list[W], bool]:
        items = json_of(response)
        if not isinstance(items, list):
            raise Unreadable("The response is not a list.")
        pages = response.headers.get("X-Number-Of-Pages", "")
        more = number < int(pages) if _COUNT.fullmatch(pages) else len(items) == PAGE
        return [parse_object(shape, item) for item in items], more

    return parse
