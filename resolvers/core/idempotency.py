"""Requests that may be sent again: with an `Idempotency-Key` the first answer is kept, and given again to the letter."""

import contextlib
import enum
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias
from uuid import UUID

import orjson
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.datastructures import UploadFile

from resolvers.core.context import Context, Services
from schema.core.errors import AppError, InvalidInput, MalformedBody, PaymentDeclined, Unavailable
from store import idempotency
from store.idempotency import Claim, Repeatable

SERVER_ERRORS = 500
KEY = re.compile(r"[\x20-\x7e]{1,255}")
"""What an `Idempotency-Key` is."""


def key_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The `Idempotency-Key` among the headers of a request, if there is one; InvalidInput for what is none.

    Of two keys neither is the key: which one counted would be known to nobody.
    """
    sent = [value.decode("latin-1") for name, value in headers if name == b"idempotency-key"]
    if not sent:
        return None
    if len(sent) > 1 or not KEY.fullmatch(sent[0]):
        raise InvalidInput.at((), "An Idempotency-Key has 1 to 255 printable characters. Send one, once.")
    return sent[0]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A whole answer, as a transport sends it: bytes, status, and the headers that are part of what it says."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()

    def packed(self) -> bytes:
        """It as one piece."""
        return orjson.dumps([self.status, self.headers]) + b"\n" + self.body

    @classmethod
    def unpacked(cls, piece: bytes) -> "Rendered":
        """It, from one piece."""
        head, _, body = piece.partition(b"\n")
        status, headers = orjson.loads(head)
        return cls(body, status, tuple((name, value) for name, value in headers))


class Answered(Exception):
    """There is a kept answer, of this request or (`replayed`) of an earlier one: send it as it is."""

    def __init__(self, piece: bytes, *, replayed: bool) -> None:
        super().__init__("A kept answer was not sent: catch Answered where `Context.once` is set.")
        self.answer = Rendered.unpacked(piece)
        self.replayed = replayed


class Stage(enum.Enum):
    """How far a request with a key has come."""

    WAITING = enum.auto()
    RUNNING = enum.auto()
    RENDERING = enum.auto()


Outcome: TypeAlias = Any
"""What an operation answered, or the error of the catalogue that it raised."""
Render: TypeAlias = Callable[[Outcome], Awaitable[Rendered]]


class Once:
    """What makes the one operation of a request happen once.

    `render` writes the answer that an outcome becomes. It is called before the commit, and then all it reads through
    `Context.db` and `Context.load` is what the operation's transaction sees.
    """

    def __init__(self, context: Context, key: str, fingerprint: bytes, render: Render) -> None:
        token_id = context.asking.token_id
        assert token_id is not None, "keys belong to tokens"
        self.of = Repeatable(token_id, key, fingerprint)
        self.stage = Stage.WAITING
        self._context = context
        self._render = render
        self._claim: Claim | None = None
        self._outcome: Outcome = None
        self._kept: bytes | None = None

    @property
    def request(self) -> UUID:
        """Names this request and its repetitions."""
        assert self._claim is not None
        return self._claim.request

    def outcome(self) -> Outcome:
        """What the operation came to, answered or raised, for the transport that renders it."""
        if isinstance(self._outcome, AppError):
            raise self._outcome
        return self._outcome

    # ---- how operations run

    async def in_transaction(self, run: Callable[[], Awaitable[object]]) -> NoReturn:
        """Run an operation that claims and keeps in its own transaction. Raises Answered, or why there is no answer."""
        self.stage = Stage.RUNNING
        try:
            await run()
        except PaymentDeclined as declined:  # what it did is rolled back: there is nothing to keep this with
            await self._keep_alone(declined, claim=True)
        self._answered()

    async def without_transaction(self, run: Callable[[], Awaitable[object]]) -> NoReturn:
        """Run an operation that has no transaction, or several. What it did not keep itself is kept right after it."""
        self.stage = Stage.RUNNING
        async with self._context.services.db.sessions() as db, db.begin():
            await self.claim(db)
            assert self._claim is not None
            self._claim = await idempotency.hold(db, self._claim, self._context.services.clock.now())
        refused = False
        try:
            try:
                outcome = await run()
            except PaymentDeclined as declined:
                outcome = declined
            except AppError as error:
                refused = error.status < SERVER_ERRORS
                raise
            if self._kept is None:
                await self._keep_alone(outcome)
        except BaseException:
            await self._give_back(refused=refused)
            raise
        self._answered()

    async def by_itself(self, run: Callable[[], Awaitable[object]]) -> NoReturn:
        """Run an operation that keeps its answer elsewhere, beside what it writes there, by `render`."""
        self.stage = Stage.RUNNING
        await run()
        self._answered()

    # ---- what operations do

    async def claim(self, db: AsyncSession) -> None:
        """Take the right to run, until the transaction ends. Raises Answered when there is an answer already."""
        self._claim = await idempotency.claim(db, self.of, self._context.services.clock.now())
        if self._claim.answer is not None:
            self.replay(self._claim.answer)

    def replay(self, piece: bytes) -> NoReturn:
        """End the operation with what was answered before."""
        raise Answered(piece, replayed=True)

    async def keep(self, db: AsyncSession, outcome: Outcome) -> None:
        """Render an outcome and keep the answer, in the open transaction."""
        assert self._claim is not None
        await db.flush()
        with self._context.within(db):
            kept = await self.render(outcome)
        await idempotency.keep(db, self._claim, kept, self._context.services.clock.now())

    async def render(self, outcome: Outcome) -> bytes:
        """The answer that an outcome becomes. Of several the last is sent."""
        with self._rendering(outcome):
            self._kept = (await self._render(outcome)).packed()
        return self._kept

    @contextlib.contextmanager
    def _rendering(self, outcome: Outcome) -> Iterator[None]:
        self._outcome, self.stage = outcome, Stage.RENDERING
        try:
            yield
        finally:
            self._outcome, self.stage = None, Stage.RUNNING

    async def _keep_alone(self, outcome: Outcome, *, claim: bool = False) -> None:
        async with self._context.services.db.sessions() as db, db.begin():
            if claim:
                await self.claim(db)
            await self.keep(db, outcome)

    async def _give_back(self, *, refused: bool) -> None:
        """A refusal did nothing. After anything else only this very request may go on where it stopped."""
        assert self._claim is not None
        with contextlib.suppress(Unavailable):  # then it ends by itself, in two minutes
            async with self._context.services.db.sessions() as db, db.begin():
                await (idempotency.forget if refused else idempotency.let_go)(db, self._claim)

    def _answered(self) -> NoReturn:
        assert self._kept is not None, "an operation that keeps its answers itself renders one"
        raise Answered(self._kept, replayed=False)


async def prune(services: Services) -> None:
    """Forget answers older than 24 hours, some at a time."""
    more = True
    while more:
        async with services.db.sessions() as db, db.begin():
            more = await idempotency.prune(db, services.clock.now())


async def fingerprint(*said: Any) -> bytes:
    """What tells a request from others: a digest of JSON data and uploaded files, whatever the order of keys.

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
    """A file by its bytes, name and type."""
    digest = hashlib.sha256(f"{file.filename}\n{file.content_type}\n".encode(errors="surrogatepass"))
    while chunk := await file.read(1 << 20):
        digest.update(chunk)
    await file.seek(0)
    return f"file {digest.hexdigest()}"
