"""What an operation is: a permission, a transaction and a function, whatever the transport."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.audit import audited
from resolvers.context import Caller, Context, Services
from schema.errors import CONSTRAINTS, AppError, InvalidInput
from schema.permission import Required
from schema.values import Invalid

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Call:
    """What an operation is handed: an open transaction (where it has one), who is asking, and what there is to work with."""

    context: Context
    transaction: AsyncSession | None

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


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """A function of the business with what it asks of its caller."""

    function: Callable[Concatenate[Call, P], Awaitable[R]]
    permission: Required
    transaction: bool
    exists: Callable[[Call, Any], Awaitable[object]] | None
    audited_later: bool = False

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

    async def __call__(self, context: Context, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it for a caller: permission, row, fields, then the function, in one transaction."""
        context.require(self.permission)
        for given in (*args, *kwargs.values()):
            if isinstance(given, Invalid):
                await self.refuse(context, given)
        if not self.transaction:
            return await audited(self, Call(context, None), *args, **kwargs)
        try:
            async with context.services.db.sessions() as db, db.begin():
                return await audited(self, Call(context, db), *args, **kwargs)
        except IntegrityError as error:
            raise told(error) from error

    async def refuse(self, context: Context, invalid: Invalid) -> None:
        """Tell what is wrong with the input, unless the row it is about does not exist: that is told first."""
        if self.exists is not None:
            async with context.services.db.sessions() as db:
                await self.exists(Call(context, db), invalid.given)
        raise InvalidInput(*invalid.problems)


def told(error: IntegrityError) -> BaseException:
    """What a lost race means: the check inside did not see it, the constraint behind it did."""
    cause = getattr(error.orig, "__cause__", None)
    known: Callable[[], AppError] | None = CONSTRAINTS.get(getattr(cause, "constraint_name", None) or "")
    return known() if known else error


def operation(
    permission: Required,
    *,
    transaction: bool = True,
    exists: Callable[[Call, Any], Awaitable[object]] | None = None,
    audited_later: bool = False,
) -> Callable[[Callable[Concatenate[Call, P], Awaitable[R]]], Operation[P, R]]:
    """Declare an operation.

    `transaction=False` is for what touches no table. `exists` finds the row that an input is about, from the input as it
    was sent, so that a missing row is told before wrong fields. `audited_later` is for what is asked so often that it
    must not wait for the audit log.
    """

    def declare(function: Callable[Concatenate[Call, P], Awaitable[R]]) -> Operation[P, R]:
        if not function.__doc__:
            raise TypeError(f"{function.__qualname__} needs a docstring: it is what users read about the operation.")
        return Operation(function, permission, transaction, exists, audited_later)

    return declare
