"""Operations: functions with an access rule and a transaction, independent of the transport."""

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar
from uuid import UUID

import structlog
from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.auditing import AuditRecord
from resolvers.core.caller import Caller
from resolvers.core.context import Context
from resolvers.core.idempotency import IdempotentRequest, StoredResponse
from resolvers.core.instrumentation import OperationTimer
from resolvers.core.services import Services
from resolvers.core.transaction import constraint_error, open_transaction
from schema.core.errors import AlreadyTaken, AppError, InvalidInput, Problem, ReadOnlySession
from schema.core.inputs import RejectedInput
from schema.core.permission import AccessRule, RequiredAccess
from store.audit.change_tracking import ChangedRows

log = structlog.get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Call:
    """The first argument of an operation: its open transaction (if it has one), the caller and the services."""

    context: Context
    transaction: AsyncSession | None
    idempotency: IdempotentRequest | None = None
    """Set if the request has an `Idempotency-Key`."""
    dry_run: bool = False
    """True if everything is rolled back: the operation runs on the valid part of a rejected input to find more problems,
    or to tell what it would do.
    """
    subjects: list[object] = field(default_factory=list, init=False, repr=False)
    """The rows of `add_audit_subject`."""
    row_changes: list[ChangedRows] = field(default_factory=list, init=False, repr=False)
    """Those of `audit_changes_of`."""

    @property
    def db(self) -> AsyncSession:
        """The open transaction. `Operation` commits it, never the function. Raises RuntimeError if there is none."""
        if self.transaction is None:
            raise RuntimeError("This operation was declared without a transaction.")
        return self.transaction

    @property
    def caller(self) -> Caller:
        return self.context.required_caller

    @property
    def services(self) -> Services:
        return self.context.services

    @property
    def request_uuid(self) -> UUID | None:
        """Identifies this request and its repetitions with one `Idempotency-Key`, for a day; None without a key.

        An operation without a transaction writes it, under a unique constraint, before it calls another system. A
        repetition can then continue where the request failed.
        """
        return None if self.idempotency is None else self.idempotency.request_uuid

    def add_audit_subject(self, row: object) -> None:
        """Set the row of the audit entry, if the operation neither returns it nor writes it through the session.

        Without it the entry would belong to the caller's tenant instead of the tenant of the data.
        """
        self.subjects.append(row)

    def audit_changes_of(self, db: AsyncSession) -> None:
        """Name in the audit entry what a transaction writes from now on: for operations without one of their own."""
        self.row_changes.append(ChangedRows.track(db))

    async def store_response(self, db: AsyncSession, result: object, *, answer: object = None) -> None:
        """Store the response for repetitions, in the transaction of the last effect, as its last statement.

        For operations without a transaction of their own, which must return or raise this result next. Without this
        call, an operation that fails after its last effect runs again. Does nothing without a key.

        An `answer` is what it returns next instead, if that must not be stored.
        """
        if self.idempotency is not None:
            await self.idempotency.store_response(db, result, answer=answer)


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """A business function with its access rule and its options; see `operation`."""

    function: Callable[Concatenate[Call, P], Awaitable[R]]
    permission: RequiredAccess
    transaction: bool
    exists: Callable[[Call, Any], Awaitable[object]] | None
    audited_later: bool = False
    stores_response: bool = False
    raises: tuple[type[AppError], ...] = ()
    previews: Callable[[Call, Any], Awaitable[R | None]] | None = None
    checks: Callable[[Call, Any], Awaitable[object]] | None = None
    keeps_response: bool = True

    @cached_property
    def changes(self) -> bool:
        """Whether it changes something, which is the case if it takes an input."""
        return "input" in inspect.signature(self.function).parameters

    @property
    def name(self) -> str:
        """The name in snake case."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """The docstring of the function, which is published."""
        return " ".join((self.function.__doc__ or "").split())

    async def __call__(self, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the operation for a caller: check the permission, the row and the fields, then run the function, in one
        transaction.
        """
        with OperationTimer(self.name, context):
            await self._admit(context, *args, **kwargs)
            if not self.transaction:
                return await self._run(Call(context, None), *args, **kwargs)
            async with open_transaction(context.services.db) as db:
                return await self._run(Call(context, db), *args, **kwargs)

    async def respond(
        self, context: Context, request: IdempotentRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> StoredResponse:
        """Run the operation once for a request and its repetitions; for a dry run, without an effect.

        Returns the rendered response, which is stored with the effect, or the one that is stored already. Raises the
        errors that are not stored, because the same key may try again.
        """
        with OperationTimer(self.name, context) as timer:
            await self._admit(context, *args, **kwargs)
            if request.is_dry and not self.transaction:
                raise TypeError(f"{self.name} has no transaction that could be rolled back.")
            if self.stores_response:
                await self._run(Call(context, None, request), *args, **kwargs)
            elif self.transaction:
                await request.in_transaction(
                    lambda db: self._run(Call(context, db, dry_run=request.is_dry), *args, **kwargs)
                )
            else:
                await request.without_transaction(lambda: self._run(Call(context, None, request), *args, **kwargs))
            timer.is_replayed = request.is_replayed
            return request.finish()

    @property
    def supports_idempotency(self) -> bool:
        """Whether responses are stored. Keys belong to tokens, and callers of public operations need none."""
        return self.permission is not AccessRule.PUBLIC and self.keeps_response

    async def _admit(self, context: Context, *args: P.args, **kwargs: P.kwargs) -> None:
        """Check the permission, and refuse an input that failed validation. Raises ReadOnlySession for any change by a caller
        who only looks.
        """
        if self.changes and context.caller is not None and context.caller.is_read_only:
            raise ReadOnlySession
        context.require(self.permission)
        for value in (*args, *kwargs.values()):
            if isinstance(value, RejectedInput):
                await self.refuse(context, value)

    async def _run(self, call: Call, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function. The audit log observes it, if it changes something and that remains."""
        if not self.changes or call.dry_run:
            return await self.function(call, *args, **kwargs)
        record = AuditRecord(self.name, call.context, call.transaction, kwargs.get("input", args[0] if args else None))
        try:
            result = await self.function(call, *args, **kwargs)
        except AppError as error:
            record.record_refusal(error)
            raise
        if call.idempotency is None or not call.idempotency.is_replayed:
            rows = next(iter(call.row_changes), None)
            await record.record_success(result, next(iter(call.subjects), None), rows, later=self.audited_later)
        return result

    async def refuse(self, context: Context, invalid: RejectedInput) -> None:
        """Raise the error of a missing row, else InvalidInput with the problems of the input.

        If the input does not identify a row, its problems are raised.
        """
        with contextlib.suppress(InvalidInput):
            await self._check_exists(context, invalid.raw)
        raise InvalidInput(*invalid.problems, *await self._check_problems(context, invalid))

    async def _check_problems(self, context: Context, invalid: RejectedInput) -> Sequence[Problem]:
        """The problems that the operation's own checks find in the valid part of an input. Has no effect."""
        if self.permission is AccessRule.PUBLIC:
            return ()
        return [
            p
            for each in invalid.partial_inputs
            for p in each.new_problems(await self._problems_of(context, each.input))
        ]

    async def _problems_of(self, context: Context, input: Any) -> Sequence[Problem]:
        try:
            if self.transaction:
                await self._dry_run(context, input)
            elif self.checks is not None:
                await self.checks(Call(context, None), input)
        except (InvalidInput, AlreadyTaken) as error:
            return error.problems
        except IntegrityError as error:
            lost = constraint_error(error)
            return lost.problems if isinstance(lost, AlreadyTaken) else ()
        except AppError:  # state errors are reported once the fields are valid
            return ()
        except Exception:
            log.exception("the checks of an operation failed on a part of its input", operation=self.name)
        return ()

    async def _dry_run(self, context: Context, input: Any) -> None:
        """Run the function and roll back its transaction."""
        run: Callable[..., Awaitable[object]] = self.function
        async with context.services.db.sessions() as db, db.begin() as transaction:
            try:
                await run(Call(context, db, dry_run=True), input=input)
            finally:
                await transaction.rollback()

    async def preview(self, context: Context, input: Any) -> R | None:
        """The result without any effect; None if only a real run can produce it. Raises the same errors."""
        context.require(self.permission)
        if isinstance(input, RejectedInput):
            await self.refuse(context, input)
        if self.previews is None:
            raise TypeError(f"{self.name} has no preview: declare it with `previews`.")
        return await self.previews(Call(context, None), input)

    async def _check_exists(self, context: Context, input: Any) -> None:
        if self.exists is not None:
            async with context.services.db.sessions() as db:
                await self.exists(Call(context, db), input)


def operation(
    permission: RequiredAccess,
    *,
    transaction: bool = True,
    exists: Callable[[Call, Any], Awaitable[object]] | None = None,
    audited_later: bool = False,
    stores_response: bool = False,
    raises: tuple[type[AppError], ...] = (),
    previews: Callable[[Call, Any], Awaitable[Any]] | None = None,
    checks: Callable[[Call, Any], Awaitable[object]] | None = None,
) -> Callable[[Callable[Concatenate[Call, P], Awaitable[R]]], Operation[P, R]]:
    """Declare an operation.

    `transaction=False` is for operations that touch no table, or open their transactions themselves. `exists` finds the
    row of an input from the raw input, so that a missing row is reported before invalid fields. `audited_later` is for
    operations that are so frequent that they must not wait for the audit log. `stores_response` is for operations that
    write to another store than the database, and store the response of a request with a key there in the same step: see
    `save_ecommerce_cart`. `raises` are errors that the REST documentation would not list otherwise: those of the
    payment provider, and conflicts of operations that change nothing. `previews` returns the result of an operation
    with a GET route, without an effect: for `HEAD`. `checks` are the checks of an operation without a transaction,
    which cannot be run and rolled back to find problems.
    """

    def declare(function: Callable[Concatenate[Call, P], Awaitable[R]]) -> Operation[P, R]:
        if not function.__doc__:
            raise TypeError(f"{function.__qualname__} needs a docstring: it is what users read about the operation.")
        return Operation(
            function, permission, transaction, exists, audited_later, stores_response, raises, previews, checks
        )

    return declare


def without_stored_response(source: Operation[P, R]) -> Operation[P, R]:
    """An operation that changes nothing and returns what must not be stored: an `Idempotency-Key` does nothing."""
    return replace(source, keeps_response=False)
