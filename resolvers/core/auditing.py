"""Writes the audit log: each operation that takes an input writes one entry, in the transaction of its effect."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Context
from schema.account.token import IssuedToken
from schema.audit import AuditActor
from schema.core.errors import AppError
from store.account.credentials import normal_username
from store.account.users import UserRow
from store.audit.change_tracking import ChangedRows, resource_of
from store.audit.entries import encode_entry, write_entry
from store.audit.masking import mask
from store.core.clock import now
from store.partner.partners import MarketplaceRow, PartnerRow

USERNAME_PREFIX_LENGTH = 2
"""Number of characters that a refused log-in records of the user name: people type passwords there."""


@dataclass(frozen=True)
class AuditedCall:
    """A change, or (with `error`) a refused one."""

    operation: str
    occurred_on: dt.datetime
    actor: AuditActor
    context: Context | None = None
    input: object = None
    result: object = None
    rows: ChangedRows | None = None
    about: object = None
    error: AppError | None = None

    def to_bytes(self, tenant: Mapping[str, int] | None = None) -> bytes:
        """The audit entry as bytes. `tenant` replaces the tenant that follows from the event."""
        subject = self._subject()
        return encode_entry(
            {
                **self._actor_columns(),
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
                "changes": [] if self.rows is None else self.rows.as_json(),
            }
        )

    def _actor_columns(self) -> Mapping[str, Any]:
        """The user and the token. For a log-in, the user of the new token."""
        caller = self.context.caller if self.context else None
        if isinstance(self.result, IssuedToken):
            return {"user_id": self.result.user.id, "token_id": None}
        if self.error is not None and caller is None:
            return {
                "user_id": None,
                "token_id": None,
                "tried": normal_username(str(getattr(self.input, "username", ""))),
            }
        return {"user_id": caller and caller.user_id, "token_id": caller and caller.token_id}

    def _subject(self) -> object:
        """The changed object: the operation's audit subject, else its result if that has an id, else the first row it
        wrote.
        """
        if self.about is not None:
            return self.about
        answer = self.result.user if isinstance(self.result, IssuedToken) else self.result
        if resource_of(answer) is None and self.rows is not None:
            answer = next(self.rows.rows(), answer)
        return answer if hasattr(answer, "id") else None

    def _tenant(self, subject: object) -> Mapping[str, int]:
        """The tenant of the data: that of the subject, else that of any written row, else that of the caller."""
        caller = self.context.caller if self.context else None
        rows = [] if self.rows is None else self.rows.rows()
        return next((found for of in (subject, *rows, caller) if (found := tenant_of(of))), {})

    def _input(self) -> Any:
        told = mask(self.input) if self.input is not None else {}
        if self.error is not None and isinstance(told.get("username"), str):
            told["username"] = f"{told['username'].strip()[:USERNAME_PREFIX_LENGTH]}***"
        return told


class AuditRecord:
    """The audit record of one running operation.

    With a transaction the entry is part of it. Without one the entry is written before the response, or soon after it.
    """

    def __init__(self, operation: str, context: Context, transaction: AsyncSession | None, input: object) -> None:
        self._context, self._transaction = context, transaction
        self._rows = ChangedRows.track(transaction) if transaction is not None else None
        actor = AuditActor(context.caller.role) if context.caller else AuditActor.NOBODY
        self._event = partial(AuditedCall, operation, context.services.clock.now(), actor, context, input)

    def record_refusal(self, error: AppError) -> None:
        """Record a refusal, if errors of this class are audited."""
        if error.audited:
            self._context.services.audit_buffer.put(self._event(error=error).to_bytes)

    async def record_success(
        self, answer: object, about: object, rows: ChangedRows | None = None, *, later: bool
    ) -> None:
        """Record a success. With `later` and no transaction, the entry may follow the response within a second."""
        event = self._event(result=answer, rows=self._rows or rows, about=about)
        audit_buffer = self._context.services.audit_buffer
        if self._transaction is not None:
            await self._transaction.flush()
            await write_entry(self._transaction, event.to_bytes())
        elif later:
            if audit_buffer.is_full:
                await audit_buffer.wait_for_room()
            audit_buffer.put(event.to_bytes)
        else:
            await audit_buffer.write(event.to_bytes)


def tenant_of(owned: object) -> Mapping[str, int]:
    """The id of the partner or marketplace that owns an object; empty if none does."""
    if isinstance(owned, PartnerRow):
        return {"partner_id": owned.id}
    if isinstance(owned, MarketplaceRow):
        return {"marketplace_id": owned.id}
    ids = {name: getattr(owned, name, None) for name in ("partner_id", "marketplace_id")}
    return {name: id for name, id in ids.items() if id is not None}


async def audit_command(
    db: AsyncSession, operation: str, input: Mapping[str, Any], subject: object, owner: UserRow
) -> None:
    """Record, in the open transaction, a change by the command line to a row that belongs to a user."""
    done = AuditedCall(operation, now(), AuditActor.COMMAND_LINE, input=input, result=subject)
    await db.flush()
    await write_entry(db, done.to_bytes(tenant_of(owner)))


async def audit_program(db: AsyncSession, operation: str, input: Mapping[str, Any]) -> None:
    """Record, in the open transaction, a change by a scheduled job."""
    await write_entry(db, AuditedCall(operation, now(), AuditActor.PROGRAM, input=input).to_bytes())
