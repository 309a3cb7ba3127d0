"""Idempotency keys: the first response to a request with an `Idempotency-Key` is stored and replayed byte for byte."""

import contextlib
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias
from uuid import UUID

import orjson
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.datastructures import UploadFile

from resolvers.core.caller import Caller
from resolvers.core.services import Services
from resolvers.core.transaction import open_transaction, roll_back_transaction
from schema.core.errors import AppError, InvalidInput, MalformedBody, PaymentDeclined, Unavailable
from store import idempotency
from store.idempotency import Claim, RequestIdentity

SERVER_ERRORS = 500
KEY_PATTERN = re.compile(r"[\x20-\x7e]{1,255}")
"""The format of an `Idempotency-Key`."""


def key_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The `Idempotency-Key` of a request, or None. Raises InvalidInput for an invalid key.

    Two keys are invalid, because the client could not know which one applies.
    """
    sent = [value.decode("latin-1") for name, value in headers if name == b"idempotency-key"]
    if not sent:
        return None
    if len(sent) > 1 or not KEY_PATTERN.fullmatch(sent[0]):
        raise InvalidInput.at((), "An Idempotency-Key has 1 to 255 printable characters. Send one, once.")
    return sent[0]


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A complete response of a transport: body, status, and the headers that are part of its content."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    replayed: bool = False
    """True if it is the response to an earlier request."""

    @property
    def sent_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers, and the one that says that the response was replayed."""
        return (*self.headers, ("idempotent-replayed", "true")) if self.replayed else self.headers

    def to_bytes(self) -> bytes:
        """The response in its stored form."""
        return orjson.dumps([self.status, self.headers]) + b"\n" + self.body

    @classmethod
    def from_bytes(cls, stored: bytes) -> "StoredResponse":
        """The response to an earlier request, from its stored form."""
        head, _, body = stored.partition(b"\n")
        status, headers = orjson.loads(head)
        return cls(body, status, tuple((name, value) for name, value in headers), replayed=True)


OperationResult: TypeAlias = Any
"""The result of an operation, or the `AppError` that it raised."""
Render: TypeAlias = Callable[[OperationResult], Awaitable[StoredResponse]]


class Request(Protocol):
    """The part of `Context` that this module needs."""

    @property
    def services(self) -> Services:
        """The services of the process."""

    @property
    def required_caller(self) -> Caller:
        """The caller; requests with a key always have one."""

    def read_in_transaction(self, db: AsyncSession) -> AbstractContextManager[None]:
        """Read through a transaction, which sees its own uncommitted changes."""


class IdempotentRequest:
    """A request with a key: `Operation.respond` runs its operation once, and stores the response with the effect.

    `render` builds the response from the outcome. It is called before the commit; what it reads through `Context.db`
    and `Context.loaders` is then what the operation's transaction sees.
    """

    is_dry = False
    """True if nothing may remain of it: see `DryRun`."""

    def __init__(self, context: Request, key: str, fingerprint: bytes, render: Render) -> None:
        token_id = context.required_caller.token_id
        assert token_id is not None, "keys belong to tokens"
        self.request_key = RequestIdentity(token_id, key, fingerprint)
        self.response: StoredResponse | None = None
        """The response, once the operation has ended."""
        self.is_rendering = False
        self.outcome: OperationResult = None
        """The outcome of the operation, while `is_rendering`."""
        self._context = context
        self._render = render
        self._claim: Claim | None = None
        self._rendered: StoredResponse | None = None  # of several the last

    @property
    def request_uuid(self) -> UUID:
        """Identifies this request and its repetitions."""
        assert self._claim is not None
        return self._claim.request

    @property
    def is_replayed(self) -> bool:
        """True once the response to an earlier request was found."""
        return self._rendered is not None and self._rendered.replayed

    # ---- for `Operation`

    def finish(self) -> StoredResponse:
        """The response of the operation, which has ended without an error."""
        assert self._rendered is not None, "an operation with `stores_response` must render a response"
        self.response = self._rendered
        return self.response

    async def in_transaction(self, run: Callable[[AsyncSession], Awaitable[object]]) -> None:
        """Run an operation that has one transaction, and store the response in it.

        Raises the error of an operation that gets no stored response.
        """
        try:
            async with open_transaction(self._context.services.db) as db:
                if await self._claim_key(db):
                    await self.store_response(db, await run(db))
        except PaymentDeclined as declined:  # its transaction is rolled back, so the response needs another one
            async with open_transaction(self._context.services.db) as db:
                if await self._claim_key(db):
                    await self.store_response(db, declined)

    async def without_transaction(self, run: Callable[[], Awaitable[object]]) -> None:
        """Run an operation that has no transaction, or several. Stores the response after it, unless the operation did
        so.

        Raises the error of an operation that gets no stored response.
        """
        if not await self._claim_beyond_transaction():
            return
        refused = False
        try:
            try:
                outcome = await run()
            except PaymentDeclined as declined:
                outcome = declined
            except AppError as error:
                refused = error.status < SERVER_ERRORS
                raise
            if self._rendered is None:
                async with open_transaction(self._context.services.db) as db:
                    await self.store_response(db, outcome)
        except BaseException:
            await self._release_claim(refused=refused)
            raise

    # ---- for operations that store their response

    async def store_response(
        self, db: AsyncSession, outcome: OperationResult, *, answer: OperationResult = None
    ) -> None:
        """Render an outcome and store the response, in the open transaction. This request itself is answered with the
        `answer`, if there is one.
        """
        assert self._claim is not None
        await db.flush()
        with self._context.read_in_transaction(db):
            rendered = await self.render(outcome)
            if answer is not None:
                await self.render(answer)
        await idempotency.store_response(db, self._claim, rendered, self._context.services.clock.now())

    async def render(self, outcome: OperationResult) -> bytes:
        """Render an outcome; returns the response in its stored form."""
        self.outcome, self.is_rendering = outcome, True
        try:
            self._rendered = await self._render(outcome)
        finally:
            self.outcome, self.is_rendering = None, False
        return self._rendered.to_bytes()

    def replay(self, stored: bytes) -> None:
        """Answer with the response to an earlier request. The operation has no effect then, and is not audited."""
        self._rendered = StoredResponse.from_bytes(stored)

    # ---- the key

    async def _claim_key(self, db: AsyncSession) -> bool:
        """Claim the key until the transaction ends. False if a response is already stored."""
        self._claim = await idempotency.claim_request(db, self.request_key, self._context.services.clock.now())
        if self._claim.response is not None:
            self.replay(self._claim.response)
        return self._claim.response is None

    async def _claim_beyond_transaction(self) -> bool:
        """Claim the key for two minutes. False if a response is already stored."""
        async with open_transaction(self._context.services.db) as db:
            if not await self._claim_key(db):
                return False
            assert self._claim is not None
            self._claim = await idempotency.extend_claim(db, self._claim, self._context.services.clock.now())
        return True

    async def _release_claim(self, *, refused: bool) -> None:
        """Release the claim after a refusal, which had no effect. After any other error only the same request may
        continue.
        """
        assert self._claim is not None
        with contextlib.suppress(Unavailable):  # the claim then expires after two minutes
            async with self._context.services.db.sessions() as db, db.begin():
                await (idempotency.release_claim if refused else idempotency.abandon_claim)(db, self._claim)


class DryRun(IdempotentRequest):
    """A request whose operation runs, is rendered and is rolled back, so that its response tells what it would do.

    Only an operation with one transaction can be tried so. Nothing is stored and nothing is audited.
    """

    is_dry = True

    def __init__(self, context: Request, render: Render) -> None:
        super().__init__(context, "dry run", b"", render)

    async def in_transaction(self, run: Callable[[AsyncSession], Awaitable[object]]) -> None:
        """Run an operation and render its response, in a transaction that is rolled back."""
        async with roll_back_transaction(self._context.services.db) as db:
            outcome = await run(db)
            await db.flush()
            with self._context.read_in_transaction(db):
                await self.render(outcome)


async def prune(services: Services) -> None:
    """Delete responses older than 24 hours, in batches."""
    more = True
    while more:
        async with services.db.sessions() as db, db.begin():
            more = await idempotency.prune_responses(db, services.clock.now())


async def fingerprint(*said: Any) -> bytes:
    """A digest of JSON data and uploaded files that identifies a request, whatever the order of keys.

    Raises MalformedBody for data that is nested too deeply.
    """
    files: dict[int, str] = {}
    for part in _uploads(said):
        files[id(part)] = await _digest(part)
    try:
        told = json.dumps(said, sort_keys=True, separators=(",", ":"), default=lambda part: files[id(part)])
    except RecursionError:
        raise MalformedBody(reason="it is nested too deeply") from None
    return hashlib.sha256(told.encode()).digest()


def _uploads(said: Any) -> Iterator[UploadFile]:
    todo = [said]
    while todo:
        part = todo.pop()
        if isinstance(part, UploadFile):
            yield part
        elif isinstance(part, dict):
            todo.extend(part.values())
        elif isinstance(part, list | tuple):
            todo.extend(part)


async def _digest(file: UploadFile) -> str:
    """A digest of a file's bytes, name and type."""
    digest = hashlib.sha256(f"{file.filename}\n{file.content_type}\n".encode(errors="surrogatepass"))
    while chunk := await file.read(1 << 20):
        digest.update(chunk)
    await file.seek(0)
    return f"file {digest.hexdigest()}"
