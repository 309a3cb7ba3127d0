"""Calls over the wire, with what makes a creating call happen once although answers get lost."""

import asyncio
import datetime as dt
import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import quote

import httpx
import structlog

from store.core.clock import Clock
from store.providers.base import InvalidRequest, Key, NotFound, ProviderError, Transient, UnknownOutcome
from store.providers.mangopay.auth import TokenAuth
from store.providers.mangopay.calls import WatchedCall
from store.providers.mangopay.errors import KEY_NOT_KNOWN, error_in, error_of, json_of, refusal_in, refusal_of
from store.providers.mangopay.objects import Json, KeptAnswer, Nothing, Unreadable, W, Wire, read
from store.providers.mangopay.tls import Certificate, address, trust

Sleep = Callable[[float], Awaitable[None]]
Query = Mapping[str, str | int]
T = TypeVar("T")
Attempt = Callable[[str, str, Callable[[httpx.Response], KeptAnswer]], Awaitable[KeptAnswer]]

PAUSES = (0.2, 0.5, 1.0, 2.0)
"""Seconds between the attempts of one call: five attempts in all."""
PAGE = 100
KEYS_KEPT = dt.timedelta(hours=24) - dt.timedelta(minutes=5)
"""How long the provider remembers keys, less what our clock and the provider's may differ."""

ANSWERS_WITHIN = 120.0
"""Seconds that one request may take with its whole answer, in which a file is sent over a slow line."""
LARGEST_ANSWER = 8 * 1024 * 1024
"""Bytes. A page of a hundred objects has a fiftieth of that."""
MOST_PAGES = 1000
"""After which a list is taken for one without an end."""

_OF_TRANSPORT = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that are about how an answer came, and no longer true of what was read."""
_COUNT = re.compile("[0-9]{1,9}")
_KEY = re.compile("[A-Za-z0-9-]{16,36}")
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Made(Generic[W]):
    """A created object. `looked_up`: told by the kept answer, a snapshot of the moment it was made."""

    object: W
    looked_up: bool


class Streamed(AsyncIterable[bytes]):
    """A JSON body that is made while it is sent, from its beginning each time. It has `size` bytes."""

    def __init__(self, size: int) -> None:
        self.size = size


Body = Json | Streamed | None


@dataclass(frozen=True, slots=True)
class Creation(Generic[W]):
    """A creating call: what it sends, what it answers, and the key that makes it happen once until `forgotten_at`."""

    path: str
    body: Body
    shape: type[W]
    key: Key
    forgotten_at: dt.datetime


class Interrupted(Exception):
    """The request may have arrived, its answer did not."""


class Unsettled(Exception):
    """A creating call may have been done. `known`: the provider has seen its key, so that asking is all there is to do."""

    def __init__(self, message: str, *, known: bool = False) -> None:
        super().__init__(message)
        self.known = known


class Client:
    """The API of one account. Paths are relative to it and start with a slash."""

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
    ) -> None:
        root = f"{address(base_url, certificate).rstrip('/')}/v2.01"
        self._account = f"{root}/{quote(client_id, safe='')}"
        self._clock = clock
        self._sleep = sleep
        self._http = httpx.AsyncClient(
            auth=TokenAuth(f"{root}/oauth/token", client_id, api_key, clock),
            headers={"User-Agent": "Coffret", "Accept": "application/json"},
            timeout=httpx.Timeout(30, connect=5),
            transport=transport,
            verify=trust(certificate) if transport is None else True,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def get(self, path: str, shape: type[W], query: Query | None = None) -> W:
        """One object. Raises `NotFound`, and `Transient` once the attempts are used up."""
        return await self._repeatedly("GET", path, lambda response: read(shape, json_of(response)), query=query)

    async def put(self, path: str, body: Json, shape: type[W]) -> W:
        """Set an object's state. It is repeated like a read, as setting the same state twice changes nothing more."""
        return await self._repeatedly("PUT", path, lambda response: read(shape, json_of(response)), body=body)

    async def list(self, path: str, shape: type[W], query: Query) -> AsyncIterator[W]:
        """Every object of every page."""
        number, more = 1, True
        while more:
            on_page = {**query, "page": number, "per_page": PAGE}
            objects, more = await self._repeatedly("GET", path, _page_of(shape, number), query=on_page)
            for each in objects:
                yield each
            number += 1
            if number > MOST_PAGES:
                raise Transient("The provider's list has no end.")

    async def create(
        self, path: str, body: Body, shape: type[W], key: Key, sent_at: dt.datetime | None = None
    ) -> Made[W]:
        """Make an object once. The key must be stored before, so that its outcome can be asked for after a crash.

        `sent_at` is when it was stored, by default now. When the provider may have forgotten the key, nothing is sent.
        Raises a refusal; `Transient` when no attempt can have arrived; `UnknownOutcome` when one may have.
        """
        if not _KEY.fullmatch(key):
            raise ValueError("An idempotency key has 16 to 36 letters, digits and hyphens.")
        creation = Creation(path, body, shape, key, (sent_at or self._clock.now()) + KEYS_KEPT)
        if self._forgotten(creation):
            return await self._remembered(creation)
        pauses = iter(PAUSES)
        while True:
            try:
                return Made(await self._post(creation), looked_up=False)
            except Unsettled as error:
                return await self._settle(creation, pauses, known=error.known)
            except Transient as error:
                if error.retry_after is not None or not await self._pause(pauses):
                    raise

    async def kept(self, key: Key) -> Json | None:
        """The object that the call with this key made, as it was then; None when the provider has no answer to it.

        Raises the refusal that was the answer, `Transient`, or `UnknownOutcome` when the answer settles nothing.
        """
        try:
            kept = await self._lookup(key, self._repeatedly)
        except Unsettled:
            raise UnknownOutcome(key) from None
        return None if kept is None else self._resource(kept)

    def _forgotten(self, creation: Creation[W]) -> bool:
        """Whether the provider may have forgotten the key, so that it would take another send for a new call."""
        return self._clock.now() >= creation.forgotten_at

    async def _remembered(self, creation: Creation[W]) -> Made[W]:
        """What a call made whose key is too old to be sent again, if the provider knows it all the same."""
        try:
            kept = await self._lookup(creation.key, self._repeatedly, empty=creation.shape is Nothing)
        except (Unsettled, ProviderError) as error:
            raise UnknownOutcome(creation.key) from error  # whatever befalls the question, the call may have been done
        if kept is None:
            raise UnknownOutcome(creation.key)
        return self._found(creation, kept)

    async def _settle(self, creation: Creation[W], pauses: Iterator[float], *, known: bool) -> Made[W]:
        """Find out about a call that may have been done. It is sent again only when the provider denies its key."""
        while True:
            denied = False
            try:
                kept = await self._lookup(creation.key, self._once, empty=creation.shape is Nothing)
                if kept is not None:
                    break
                denied = True
            except (Unsettled, ProviderError) as error:
                log.debug(
                    "creating call cannot be looked up", provider="mangopay", path=creation.path, error=str(error)
                )
            if not await self._pause(pauses):
                raise UnknownOutcome(creation.key)
            if denied and not known and not self._forgotten(creation):
                try:
                    return Made(await self._post(creation), looked_up=False)
                except Unsettled as error:
                    known = error.known
                except ProviderError as error:
                    # What refused this attempt says nothing about the earlier one: only its kept answer can tell.
                    log.debug("creating call refused", provider="mangopay", path=creation.path, error=str(error))
        return self._found(creation, kept)

    async def _post(self, creation: Creation[W]) -> W:
        """Send a creating call once. Raises `Unsettled` when it may have been done, else a refusal or `Transient`."""
        try:
            response = await self._exchange("POST", creation.path, body=creation.body, key=creation.key)
            if response.is_success:
                return read(creation.shape, _answer(response, creation.shape))
        except (Interrupted, Unreadable) as error:
            raise Unsettled(str(error)) from error
        if response.status_code == httpx.codes.CONFLICT:
            raise Unsettled("The key was used before.", known=True)
        refusal = error_in(response, self._clock.now())
        if isinstance(refusal, Transient) and response.status_code != httpx.codes.TOO_MANY_REQUESTS:
            raise Unsettled(str(refusal)) from refusal
        raise refusal

    async def _lookup(self, key: Key, attempt: Attempt, *, empty: bool = False) -> KeptAnswer | None:
        """The answer kept for a key, None when the provider denies the key; `Unsettled` when the answer is an accident.

        `empty`: the call answers nothing, so that a success without an object is no accident.
        """
        path = f"/responses/{segment(key)}"
        try:
            kept = await attempt("GET", path, lambda response: read(KeptAnswer, json_of(response)))
        except InvalidRequest as error:
            if error.code == KEY_NOT_KNOWN:
                return None
            raise
        if empty and kept.resource is None and httpx.codes.is_success(kept.status_code):
            return kept.model_copy(update={"resource": {}})
        if kept.status_code >= httpx.codes.INTERNAL_SERVER_ERROR or kept.resource is None:
            raise Unsettled(f"The kept answer is {kept.status_code}.")
        return kept

    def _found(self, creation: Creation[W], kept: KeptAnswer) -> Made[W]:
        """What a kept answer says was made. Raises the refusal that it was, or `UnknownOutcome` when it settles nothing."""
        try:
            return Made(read(creation.shape, self._resource(kept)), looked_up=True)
        except Unreadable as error:
            raise UnknownOutcome(creation.key) from error

    def _resource(self, kept: KeptAnswer) -> Json:
        if kept.resource is None or kept.status_code >= httpx.codes.BAD_REQUEST:
            raise error_of(kept.status_code, refusal_of(kept.resource), {}, self._clock.now())
        return kept.resource

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
            except Transient as error:
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
            raise Transient(str(error)) from error
        raise error_in(response, self._clock.now())

    async def _exchange(
        self, method: str, path: str, *, query: Query | None = None, body: Body = None, key: Key | None = None
    ) -> httpx.Response:
        """One request and its answer, whatever it is. Raises `Transient` when it was not sent, else `Interrupted`."""
        headers: dict[str, str] = {"Idempotency-Key": key} if key else {}
        streamed = body if isinstance(body, Streamed) else None
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
        with WatchedCall(method, path, key) as call:
            try:
                response = await self._send(request)
            except httpx.RequestError as error:
                # The other request would be that for a token.
                call.lost(error, sent=not isinstance(error, _NOT_SENT) and error.request is request)
                if not call.sent:
                    raise Transient(f"The provider cannot be reached: {type(error).__name__}.") from error
                raise Interrupted(f"The provider did not answer: {type(error).__name__}.") from error
            call.answered(response.status_code, None if response.is_success else refusal_in(response).id)
        return response

    async def _send(self, request: httpx.Request) -> httpx.Response:
        """The whole answer. One that is endless, or comes drop by drop, is an `httpx.RequestError` like one that is lost."""
        try:
            async with asyncio.timeout(ANSWERS_WITHIN):
                response = await self._http.send(request, stream=True)
                try:
                    content = await _content(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise httpx.ReadTimeout("The answer takes too long.", request=request) from error
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_TRANSPORT]
        return httpx.Response(response.status_code, headers=headers, content=content, request=request)

    async def _pause(self, pauses: Iterator[float]) -> bool:
        """Wait before the next attempt; False when there is none left."""
        pause = next(pauses, None)
        if pause is None:
            return False
        await self._sleep(pause)
        return True


async def _content(response: httpx.Response) -> bytes:
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > LARGEST_ANSWER:
            raise httpx.ReadError("The answer is too large.", request=response.request)
    return bytes(content)


def _answer(response: httpx.Response, shape: type[Wire]) -> object:
    """What an answer's body says; an empty one is right for a call that answers nothing."""
    return {} if shape is Nothing and not response.content else json_of(response)


def segment(id: str) -> str:
    """An id as one segment of a path. What cannot be an id names nothing: `NotFound`."""
    if id in {"", ".", ".."}:
        raise NotFound(f"{id!r} is no id of the provider.")
    return quote(id, safe="")


def _page_of(shape: type[W], number: int) -> Callable[[httpx.Response], tuple[list[W], bool]]:
    """Reads one page of a list, and whether there is another after it."""

    def parse(response: httpx.Response) -> tuple[list[W], bool]:
        items = json_of(response)
        if not isinstance(items, list):
            raise Unreadable("The answer is not a list.")
        pages = response.headers.get("X-Number-Of-Pages", "")
        more = number < int(pages) if _COUNT.fullmatch(pages) else len(items) == PAGE
        return [read(shape, item) for item in items], more

    return parse
