"""Writes down who changed what: each operation that takes an input leaves one entry, in the transaction of its effect."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Context
from schema.account.token import IssuedToken
from schema.audit import AuditActor
from schema.core.errors import AppError
from store.account.credentials import normal_username
from store.audit.change_tracking import ChangedRows, resource_of
from store.audit.entries import encoded, write
from store.audit.masking import masked
from store.core.clock import now
from store.partner.partners import MarketplaceRow, PartnerRow, UserRow

if TYPE_CHECKING:
    from resolvers.core.operation import Call, Operation

P = ParamSpec("P")
R = TypeVar("R")
SHOWN = 2
"""How many characters are kept of the user name of a refused log-in: people type passwords there."""


@dataclass(frozen=True)
class Event:
    """Something that was done, or (`error`) refused."""

    operation: str
    occurred_on: dt.datetime
    actor: AuditActor
    context: Context | None = None
    input: object = None
    answer: object = None
    rows: ChangedRows | None = None
    about: object = None
    error: AppError | None = None

    def encoded(self, tenant: Mapping[str, int] | None = None) -> bytes:
        """The entry that tells of it; of this tenant, where that cannot be told from what was done."""
        subject = self._subject()
        return encoded(
            {
                **self._who(),
                **(tenant or self._tenant(subject)),
                "operation": self.operation,
                "occurred_on": self.occurred_on,
                "refused": self.error and self.error.code(),
                "actor": self.actor,
                "address": self.context.address if self.context else "",
                "request_id": self.context.request_id if self.context else "",
                "subject_type": "" if subject is None else resource_of(subject) or type(subject).__name__,
                "subject_id": str(getattr(subject, "id", "")),
                "input": self._input(),
                "changes": [] if self.rows is None else self.rows.told(),
            }
        )

    def _who(self) -> Mapping[str, Any]:
        """The user and the token. Who logs in is the user of the token that is made."""
        caller = self.context.caller if self.context else None
        if isinstance(self.answer, IssuedToken):
            return {"user_id": self.answer.user.id, "token_id": None}
        if self.error is not None and caller is None:
            return {
                "user_id": None,
                "token_id": None,
                "tried": normal_username(str(getattr(self.input, "username", ""))),
            }
        return {"user_id": caller and caller.user_id, "token_id": caller and caller.token_id}

    def _subject(self) -> object:
        """What was changed: what the operation said, else what it answered, if that has an id, else the first row it wrote."""
        if self.about is not None:
            return self.about
        answer = self.answer.user if isinstance(self.answer, IssuedToken) else self.answer
        if resource_of(answer) is None and self.rows is not None:
            answer = next(self.rows.rows(), answer)
        return answer if hasattr(answer, "id") else None

    def _tenant(self, subject: object) -> Mapping[str, int]:
        """Whose data it is: that of the subject, else that of any row that was written, else the caller's."""
        caller = self.context.caller if self.context else None
        rows = [] if self.rows is None else self.rows.rows()
        return next((found for of in (subject, *rows, caller) if (found := tenant_of(of))), {})

    def _input(self) -> Any:
        told = masked(self.input) if self.input is not None else {}
        if self.error is not None and isinstance(told.get("username"), str):
            told["username"] = f"{told['username'].strip()[:SHOWN]}***"
        return told


async def audited(operation: "Operation[P, R]", call: "Call", *args: P.args, **kwargs: P.kwargs) -> R:
    """Run the function of an operation, and write down what it changed; what is refused or answered again is not.

    With a transaction the entry is part of it. Without one it is written before the answer, or (`audited_later`) within
    a second after it.
    """
    context = call.context
    if not operation.changes:
        return await operation.function(call, *args, **kwargs)
    rows = ChangedRows.of(call.transaction) if call.transaction is not None else None
    actor = AuditActor(context.caller.role) if context.caller else AuditActor.NOBODY
    given = kwargs.get("input", args[0] if args else None)
    event = partial(Event, operation.name, context.services.clock.now(), actor, context, given)
    try:
        answer = await operation.function(call, *args, **kwargs)
    except AppError as error:
        if error.audited:
            context.services.journal.put(event(error=error).encoded)
        raise
    done = event(answer=answer, rows=rows, about=next(iter(call.subjects), None))
    if call.transaction is not None:
        await call.transaction.flush()
        await write(call.transaction, done.encoded())
    elif operation.audited_later:
        if context.services.journal.full:
            await context.services.journal.room()
        context.services.journal.put(done.encoded)
    else:
        await context.services.journal.write(done.encoded)
    return answer


def tenant_of(owned: object) -> Mapping[str, int]:
    """The partner, or the marketplace, that something belongs to; empty when it is of nobody."""
    if isinstance(owned, PartnerRow):
        return {"partner_id": owned.id}
    if isinstance(owned, MarketplaceRow):
        return {"marketplace_id": owned.id}
    ids = {name: getattr(owned, name, None) for name in ("partner_id", "marketplace_id")}
    return {name: id for name, id in ids.items() if id is not None}


async def audited_command(
    db: AsyncSession, operation: str, input: Mapping[str, Any], subject: object, owner: UserRow
) -> None:
    """Write down, in the open transaction, what was done by the command line to a row that belongs to a user."""
    done = Event(operation, now(), AuditActor.COMMAND_LINE, input=input, answer=subject)
    await db.flush()
    await write(db, done.encoded(tenant_of(owner)))


async def audited_program(db: AsyncSession, operation: str, input: Mapping[str, Any]) -> None:
    """Write down, in the open transaction, what the program did by itself, on a schedule."""
    await write(db, Event(operation, now(), AuditActor.PROGRAM, input=input).encoded())
