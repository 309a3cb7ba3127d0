"""What an operation is: a permission, a transaction and a function, whatever the transport."""

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar
from uuid import UUID

import structlog
from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.auditing import audited
from resolvers.core.context import Caller, Context, Services
from resolvers.core.idempotency import Once, Stage
from resolvers.core.instrumentation import watched
from schema.core.errors import CONSTRAINTS, AlreadyTaken, AppError, InvalidInput, Problem
from schema.core.permission import Required, Rule
from schema.core.resource import Invalid
from store.core.constraints import broken

log = structlog.get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Call:
    """What an operation is handed: an open transaction (where it has one), who is asking, and what there is to work with."""

    context: Context
    transaction: AsyncSession | None
    once: Once | None = None
    """Set where the request has an `Idempotency-Key`."""
    trial: bool = False
    """Whether it is run on what could be used of a wrong input, only to find what else is wrong."""
    subjects: list[object] = field(default_factory=list, init=False, repr=False)
    """What it is about, as far as `concerns` was told."""

    @property
    def db(self) -> AsyncSession:
        """The open transaction. It is committed at the edge, never inside."""
        if self.transaction is None:
            raise RuntimeError("This operation was declared without a transaction.")
        return self.transaction

    @property
    def caller(self) -> Caller:
        """Who is asking."""
        return self.context.asking

    @property
    def services(self) -> Services:
        """What the process holds."""
        return self.context.services

    @property
    def request(self) -> UUID | None:
        """Names this request and its repetitions with one `Idempotency-Key`, for a day; None without a key.

        For operations without a transaction: written down, under a unique constraint, before anybody else is asked to act,
        it lets a repetition go on where the request died.
        """
        return None if self.once is None else self.once.request

    def concerns(self, row: object) -> None:
        """Tell the audit log which row this is about, where the operation neither answers it nor writes it by the session.

        Without it the entry would belong to the caller's tenant, and not to the one whose data it is.
        """
        self.subjects.append(row)

    async def keep(self, db: AsyncSession, result: object) -> None:
        """Keep the answer for repetitions, in the transaction of the last effect, as its last statement.

        For operations without a transaction of their own, which raise or return that result next. An operation that does not
        is repeated when it dies after its last effect. Without a key nothing happens.
        """
        if self.once is not None:
            await self.once.keep(db, result)


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """A function of the business with what it asks of its caller."""

    function: Callable[Concatenate[Call, P], Awaitable[R]]
    permission: Required
    transaction: bool
    exists: Callable[[Call, Any], Awaitable[object]] | None
    audited_later: bool = False
    keeps_answers: bool = False
    raises: tuple[type[AppError], ...] = ()
    foresees: Callable[[Call, Any], Awaitable[R | None]] | None = None
    checks: Callable[[Call, Any], Awaitable[object]] | None = None

    @cached_property
    def changes(self) -> bool:
        """Whether it changes something: it takes an input."""
        return "input" in inspect.signature(self.function).parameters

    @property
    def name(self) -> str:
        """Its name, in snake case."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """What it does, for users."""
        return " ".join((self.function.__doc__ or "").split())

    @watched
    async def __call__(self, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it for a caller: permission, row, fields, then the function, in one transaction."""
        context.require(self.permission)
        for given in (*args, *kwargs.values()):
            if isinstance(given, Invalid):
                await self.refuse(context, given)
        once = context.once
        if once is None or not self.repeatable or once.stage is Stage.RUNNING:  # an operation that another one runs
            return await self._run(context, None, *args, **kwargs)
        if once.stage is Stage.RENDERING:
            result: R = once.outcome()
            return result
        run = partial(self._run, context, once, *args, **kwargs)
        if self.keeps_answers:
            return await once.by_itself(run)
        if self.transaction:
            return await once.in_transaction(run)
        return await once.without_transaction(run)

    @property
    def repeatable(self) -> bool:
        """Whether answers are kept: keys belong to tokens, and who may do something without one has none."""
        return self.permission is not Rule.PUBLIC

    async def _run(self, context: Context, once: Once | None, *args: P.args, **kwargs: P.kwargs) -> R:
        if not self.transaction:
            return await audited(self, Call(context, None, once), *args, **kwargs)
        try:
            async with context.services.db.sessions() as db, db.begin():
                if once is not None:
                    await once.claim(db)
                result = await audited(self, Call(context, db), *args, **kwargs)
                if once is not None:
                    await once.keep(db, result)
        except IntegrityError as error:
            raise told(error) from error
        return result

    async def refuse(self, context: Context, invalid: Invalid) -> None:
        """Tell what is wrong with the input, unless the row it is about does not exist: that is told first.

        Where the input does not say which row it is about, what is wrong with it is told first.
        """
        with contextlib.suppress(InvalidInput):
            await self._look(context, invalid.given)
        raise InvalidInput(*invalid.problems, *await self._besides(context, invalid))

    async def _besides(self, context: Context, invalid: Invalid) -> Sequence[Problem]:
        """What the operation's own checks find in what could be used of an input. Nothing is done."""
        if self.permission is Rule.PUBLIC:
            return ()
        return [p for each in invalid.usable for p in each.told(await self._found(context, each.input))]

    async def _found(self, context: Context, input: Any) -> Sequence[Problem]:
        try:
            if self.transaction:
                await self._try(context, input)
            elif self.checks is not None:
                await self.checks(Call(context, None), input)
        except (InvalidInput, AlreadyTaken) as error:
            return error.problems
        except IntegrityError as error:
            lost = told(error)
            return lost.problems if isinstance(lost, AlreadyTaken) else ()
        except AppError:  # the state of things is told when the fields are right
            return ()
        except Exception:
            log.exception("the checks of an operation broke on a part of its input", operation=self.name)
        return ()

    async def _try(self, context: Context, input: Any) -> None:
        """Run the function, and roll back what it did."""
        run: Callable[..., Awaitable[object]] = self.function
        async with context.services.db.sessions() as db, db.begin() as transaction:
            try:
                await run(Call(context, db, trial=True), input=input)
            finally:
                await transaction.rollback()

    async def foresee(self, context: Context, input: Any) -> R | None:
        """What it would answer, with nothing done; None where only doing it would tell. Refuses what it would refuse."""
        context.require(self.permission)
        if isinstance(input, Invalid):
            await self.refuse(context, input)
        if self.foresees is None:
            raise TypeError(f"{self.name} is asked what it would answer, and was declared without `foresees`.")
        return await self.foresees(Call(context, None), input)

    async def _look(self, context: Context, given: Any) -> None:
        if self.exists is not None:
            async with context.services.db.sessions() as db:
                await self.exists(Call(context, db), given)


def told(error: IntegrityError) -> BaseException:
    """What a lost race means: the check inside did not see it, the constraint behind it did."""
    known: Callable[[], AppError] | None = CONSTRAINTS.get(broken(error))
    return known() if known else error


def operation(
    permission: Required,
    *,
    transaction: bool = True,
    exists: Callable[[Call, Any], Awaitable[object]] | None = None,
    audited_later: bool = False,
    keeps_answers: bool = False,
    raises: tuple[type[AppError], ...] = (),
    foresees: Callable[[Call, Any], Awaitable[Any]] | None = None,
    checks: Callable[[Call, Any], Awaitable[object]] | None = None,
) -> Callable[[Callable[Concatenate[Call, P], Awaitable[R]]], Operation[P, R]]:
    """Declare an operation.

    `transaction=False` is for what touches no table. `exists` finds the row that an input is about, from the input as it
    was sent, so that a missing row is told before wrong fields. `audited_later` is for what is asked so often that it
    must not wait for the audit log. `keeps_answers` is for what writes to another store than the database, and keeps the
    answer of a request with a key there, in the same step: see `save_ecommerce_cart`. `raises` are errors that the
    description of REST would not list otherwise: of the payment provider, and conflicts of what changes nothing.
    `foresees` tells what an operation that has a GET would answer, without an effect: for `HEAD`.
    `checks` are those of an operation without a transaction, which cannot be run to find out and rolled back.
    """

    def declare(function: Callable[Concatenate[Call, P], Awaitable[R]]) -> Operation[P, R]:
        if not function.__doc__:
            raise TypeError(f"{function.__qualname__} needs a docstring: it is what users read about the operation.")
        return Operation(
            function, permission, transaction, exists, audited_later, keeps_answers, raises, foresees, checks
        )

    return declare
