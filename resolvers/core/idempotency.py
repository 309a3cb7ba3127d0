"""Idempotency keys: the first response to a request with an `Idempotency-Key` is stored and replayed byte for byte."""

import contextlib
import enum
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeAlias
from uuid import UUID

import orjson
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.datastructures import UploadFile

from resolvers.core.caller import Caller
from resolvers.core.services import Services
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

    def to_bytes(self) -> bytes:
        """The response in its stored form."""
        return orjson.dumps([self.status, self.headers]) + b"\n" + self.body

    @classmethod
    def from_bytes(cls, piece: bytes) -> "StoredResponse":
        """The response from its stored form."""
        head, _, body = piece.partition(b"\n")
        status, headers = orjson.loads(head)
        return cls(body, status, tuple((name, value) for name, value in headers))


class ResponseReady(Exception):
    """A stored response of this request, or (`replayed`) of an earlier one. Transports send it unchanged."""

    def __init__(self, piece: bytes, *, replayed: bool) -> None:
        super().__init__("A stored response was not sent: catch ResponseReady where `Context.idempotency` is set.")
        self.response = StoredResponse.from_bytes(piece)
        self.replayed = replayed


class IdempotencyStage(enum.Enum):
    """The progress of a request with a key."""

    WAITING = enum.auto()
    RUNNING = enum.auto()
    RENDERING = enum.auto()


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
    """Runs the operation of a request once.

    `render` builds the response from the outcome. It is called before the commit; what it reads through `Context.db`
    and `Context.loaders` is then what the operation's transaction sees.
    """

    def __init__(self, context: Request, key: str, fingerprint: bytes, render: Render) -> None:
        token_id = context.required_caller.token_id
        assert token_id is not None, "keys belong to tokens"
        self.request_key = RequestIdentity(token_id, key, fingerprint)
        self.stage = IdempotencyStage.WAITING
        self._context = context
        self._render = render
        self._claim: Claim | None = None
        self._outcome: OperationResult = None
        self._response: bytes | None = None

    @property
    def request_uuid(self) -> UUID:
        """Identifies this request and its repetitions."""
        assert self._claim is not None
        return self._claim.request

    def outcome(self) -> OperationResult:
        """The result of the operation, for the transport that renders it. Raises its error, if it has one."""
        if isinstance(self._outcome, AppError):
            raise self._outcome
        return self._outcome

    # ---- how operations run

    async def in_transaction(self, run: Callable[[], Awaitable[object]]) -> NoReturn:
        """Run an operation that claims the key and stores the response in its own transaction.

        Raises ResponseReady, or the error that prevents a response.
        """
        self.stage = IdempotencyStage.RUNNING
        try:
            await run()
        except PaymentDeclined as declined:  # its transaction is rolled back, so the response needs another one
            await self._store_in_own_transaction(declined, claim=True)
        self._finish()

    async def without_transaction(self, run: Callable[[], Awaitable[object]]) -> NoReturn:
        """Run an operation that has no transaction, or several. Stores the response after it, unless the operation did
        so.

        Raises ResponseReady, or the error that prevents a response.
        """
        self.stage = IdempotencyStage.RUNNING
        async with self._context.services.db.sessions() as db, db.begin():
            await self.claim(db)
            assert self._claim is not None
            self._claim = await idempotency.extend_claim(db, self._claim, self._context.services.clock.now())
        refused = False
        try:
            try:
                outcome = await run()
            except PaymentDeclined as declined:
                outcome = declined
            except AppError as error:
                refused = error.status < SERVER_ERRORS
                raise
            if self._response is None:
                await self._store_in_own_transaction(outcome)
        except BaseException:
            await self._release_claim(refused=refused)
            raise
        self._finish()

    async def with_own_storage(self, run: Callable[[], Awaitable[object]]) -> NoReturn:
        """Run an operation that stores its response by `render` elsewhere, together with the data it writes there."""
        self.stage = IdempotencyStage.RUNNING
        await run()
        self._finish()

    # ---- what operations do

    async def claim(self, db: AsyncSession) -> None:
        """Claim the key until the transaction ends. Raises ResponseReady if a response is already stored."""
        self._claim = await idempotency.claim_request(db, self.request_key, self._context.services.clock.now())
        if self._claim.response is not None:
            self.replay(self._claim.response)

    def replay(self, piece: bytes) -> NoReturn:
        """End the operation: raise ResponseReady with an earlier response."""
        raise ResponseReady(piece, replayed=True)

    async def store_response(self, db: AsyncSession, outcome: OperationResult) -> None:
        """Render an outcome and store the response, in the open transaction."""
        assert self._claim is not None
        await db.flush()
        with self._context.read_in_transaction(db):
            kept = await self.render(outcome)
        await idempotency.store_response(db, self._claim, kept, self._context.services.clock.now())

    async def render(self, outcome: OperationResult) -> bytes:
        """Render an outcome. Of several rendered responses the last one is sent."""
        with self._rendering(outcome):
            self._response = (await self._render(outcome)).to_bytes()
        return self._response

    @contextlib.contextmanager
    def _rendering(self, outcome: OperationResult) -> Iterator[None]:
        self._outcome, self.stage = outcome, IdempotencyStage.RENDERING
        try:
            yield
        finally:
            self._outcome, self.stage = None, IdempotencyStage.RUNNING

    async def _store_in_own_transaction(self, outcome: OperationResult, *, claim: bool = False) -> None:
        async with self._context.services.db.sessions() as db, db.begin():
            if claim:
                await self.claim(db)
            await self.store_response(db, outcome)

    async def _release_claim(self, *, refused: bool) -> None:
        """Release the claim after a refusal, which had no effect. After any other error only the same request may
        continue.
        """
        assert self._claim is not None
        with contextlib.suppress(Unavailable):  # the claim then expires after two minutes
            async with self._context.services.db.sessions() as db, db.begin():
                await (idempotency.release_claim if refused else idempotency.abandon_claim)(db, self._claim)

    def _finish(self) -> NoReturn:
        assert self._response is not None, "an operation with `stores_response` must render a response"
        raise ResponseReady(self._response, replayed=False)


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
