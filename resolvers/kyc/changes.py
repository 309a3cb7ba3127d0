"""From what the provider says to the rows, and to the event that tells what has changed."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.kyc.view import KycRows, view
from schema.event import EventType
from schema.kyc.kyc import Kyc, KycCheck, KycCheckKind, KycCheckStatus, KycDocumentType
from store.event.events import emit
from store.kyc import (
    IDENTITY_LASTS,
    IdentityCheckRow,
    KycDocumentRow,
    Step,
    documents_of,
    identity_checks_of,
)
from store.partner.partners import PartnerRow
from store.providers.accounts import CheckStatus, Document, IdentityCheck, KycLevel, Refusal

SOON = dt.timedelta(hours=1)
SELDOM = dt.timedelta(days=7)
"""How long until a partner is looked at again without a word from the provider: while something is open, and else."""
OF_DOCUMENTS = {
    CheckStatus.CREATED: KycCheckStatus.CREATED,
    CheckStatus.PENDING: KycCheckStatus.VALIDATION_ASKED,
    CheckStatus.IN_REVIEW: KycCheckStatus.VALIDATION_ASKED,
    CheckStatus.VALIDATED: KycCheckStatus.VALIDATED,
    CheckStatus.REFUSED: KycCheckStatus.REFUSED,
    CheckStatus.EXPIRED: KycCheckStatus.OUT_OF_DATE,
    CheckStatus.OUTDATED: KycCheckStatus.OUT_OF_DATE,
    CheckStatus.UNKNOWN: KycCheckStatus.UNKNOWN,
}
OF_CHECKS = {
    **OF_DOCUMENTS,
    CheckStatus.CREATED: KycCheckStatus.PENDING,
    CheckStatus.PENDING: KycCheckStatus.PENDING,
    CheckStatus.IN_REVIEW: KycCheckStatus.REVIEW,
    CheckStatus.EXPIRED: KycCheckStatus.EXPIRED,
}
OPEN = frozenset({KycCheckStatus.PENDING, KycCheckStatus.VALIDATION_ASKED, KycCheckStatus.REVIEW})
UNDECIDED = frozenset({KycCheckStatus.CREATED, KycCheckStatus.PENDING, KycCheckStatus.VALIDATION_ASKED})
"""What is no outcome yet: nobody is told of it."""


Kept: TypeAlias = KycDocumentRow | IdentityCheckRow


@dataclass(frozen=True)
class Told:
    """What the provider says of an account."""

    account_id: str
    level: KycLevel
    documents: Sequence[Document]
    checks: Sequence[IdentityCheck]

    @staticmethod
    def status_of(told: Document | IdentityCheck) -> KycCheckStatus:
        """Where something stands, in our words."""
        return (OF_DOCUMENTS if isinstance(told, Document) else OF_CHECKS)[told.status]


async def write(db: AsyncSession, rows: KycRows, told: Told, now: dt.datetime) -> None:
    """Keep what the provider says, and tell what has changed, in the session's transaction. The partner is locked."""
    kyc, partner = rows.kyc, rows.partner
    assert kyc is not None
    changed: list[Mapping[str, Any]] = []
    before = rows.known.level if rows.known is not None else KycLevel.LIGHT
    kyc.account_id, kyc.level = told.account_id, told.level
    if before is not told.level:
        changed.append(_level(told.level))
    found: list[Kept] = [*_documents(db, rows, told.documents), *_checks(db, rows, told.checks)]
    await db.flush()
    changed += map(_outcome, found)
    kyc.version += 1
    kyc.checked_on = now
    await db.flush()
    seen = KycRows(partner, kyc, await documents_of(db, partner), await identity_checks_of(db, partner))
    kyc.check_on = now + (SOON if is_open(seen, now) else SELDOM)
    if changed:
        data = _data(view(seen), changed)
        once = f"{partner.id}:{kyc.version}"
        await emit(
            db, EventType.PARTNER_KYC_CHANGED, partner_id=partner.id, subject=str(partner.id), data=data, once=once
        )


def is_open(rows: KycRows, now: dt.datetime) -> bool:
    """Whether the provider may say something any hour."""
    waited_for: list[Kept] = [*rows.documents, *rows.checks]
    return any(
        row.status in OPEN and (row.status is not KycCheckStatus.PENDING or now - row.created_on < IDENTITY_LASTS)
        for row in waited_for
    )


def _documents(db: AsyncSession, rows: KycRows, told: Iterable[Document]) -> Iterable[KycDocumentRow]:
    """Write documents; yields those that have come to an outcome. Those never handed in are no news: ours knows better."""
    known = {row.provider_id: row for row in rows.documents if row.provider_id}
    for document in told:
        status = Told.status_of(document)
        if status is KycCheckStatus.CREATED:
            continue
        row = known.get(document.id)
        if row is None:
            if document.type is None:
                continue  # of a kind that we have no word for
            row = _foreign(rows.partner, document, KycDocumentType(document.type.value))
            db.add(row)
        elif row.status is status:
            continue
        row.status, row.step = status, Step.SUBMITTED
        row.processed_on, row.refusals = document.processed_at, _refusals(document.refusals)
        if status not in UNDECIDED:
            yield row


def _foreign(partner: PartnerRow, document: Document, kind: KycDocumentType) -> KycDocumentRow:
    """A document that was handed in elsewhere, at the provider's own dashboard."""
    return KycDocumentRow(
        partner_id=partner.id,
        account_id=document.account_id,
        provider_id=document.id,
        document_type=kind,
        step=Step.SUBMITTED,
        created_on=document.created_at,
    )


def _checks(db: AsyncSession, rows: KycRows, told: Iterable[IdentityCheck]) -> Iterable[IdentityCheckRow]:
    """Write identity checks; yields those that have come to an outcome. Unknown ones that are open are left to who opens."""
    known = {row.provider_id: row for row in rows.checks if row.provider_id}
    for check in told:
        status = Told.status_of(check)
        row = known.get(check.id)
        if row is None:
            if status is KycCheckStatus.PENDING:
                continue
            row = _elsewhere(rows.partner, check)
            db.add(row)
        elif row.status is status:
            continue
        row.status, row.refusals = status, _refusals(check.refusals)
        if status not in UNDECIDED:
            yield row


def _elsewhere(partner: PartnerRow, check: IdentityCheck) -> IdentityCheckRow:
    return IdentityCheckRow(
        partner_id=partner.id, account_id=check.account_id, provider_id=check.id, created_on=check.created_at
    )


def _refusals(told: Iterable[Refusal]) -> list[dict[str, str]]:
    return [{"reason": found.reason.value, "code": found.code, "message": found.message} for found in told]


# ---- the event


def _level(level: KycLevel) -> Mapping[str, Any]:
    status = "ok" if level is KycLevel.REGULAR else "error"
    return {"kind": "level", "id": None, "document_type": None, "status": status, "refused_reason": ""}


def _outcome(row: Kept) -> Mapping[str, Any]:
    document = isinstance(row, KycDocumentRow)
    return {
        "kind": (KycCheckKind.DOCUMENT if document else KycCheckKind.IDENTITY_CHECK).value,
        "id": row.id,
        "document_type": row.document_type.value if isinstance(row, KycDocumentRow) else None,
        "status": row.status.value,
        "refused_reason": row.refusals[0]["code"] if row.refusals else "",
    }


def _data(kyc: Kyc, changed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {
        "id": kyc.partner_id,
        "uuid": str(kyc.partner_uuid),
        "status": kyc.status.value,
        "detail": kyc.detail,
        "changed": list(changed),
        "errors": [_error(check) for check in kyc.errors],
    }


def _error(check: KycCheck) -> Mapping[str, Any]:
    return {
        "kind": check.kind.value,
        "id": check.id,
        "document_type": check.document_type.value,
        "status": check.status.value if check.status else "",
        "refused_reason": check.refused_reason,
    }
