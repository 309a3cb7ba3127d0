"""Saves the KYC state reported by the provider, and emits the event about its changes."""

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.kyc.renewal import is_due
from resolvers.kyc.view import KycRows, kyc_summary
from schema.event import EventType
from schema.kyc.kyc import Kyc, KycCheck, KycCheckKind, KycCheckStatus, KycDocumentType
from store.core.document_steps import DocumentStep
from store.event.events import NewEvent, emit
from store.kyc import (
    IDENTITY_SESSION_LIFE,
    IdentityCheckRow,
    KycDocumentRow,
    PartnerKycRow,
    documents_of,
    identity_checks_of,
)
from store.partner.partners import PartnerRow
from store.providers.accounts import AccountDocument, CheckStatus, IdentityCheck, KycLevel, OwnerCheck, OwnerCheckStatus

OPEN_CHECK_INTERVAL = dt.timedelta(hours=1)
IDLE_CHECK_INTERVAL = dt.timedelta(days=7)
RENEWAL_CHECK_INTERVAL = dt.timedelta(days=1)
"""Intervals between checks of a partner without a notification: while a verification is open, otherwise, and while its
identity must be verified again, so that reminders are sent in time."""
DOCUMENT_STATUSES = {
    CheckStatus.CREATED: KycCheckStatus.CREATED,
    CheckStatus.PENDING: KycCheckStatus.VALIDATION_ASKED,
    CheckStatus.IN_REVIEW: KycCheckStatus.VALIDATION_ASKED,
    CheckStatus.VALIDATED: KycCheckStatus.VALIDATED,
    CheckStatus.REFUSED: KycCheckStatus.REFUSED,
    CheckStatus.EXPIRED: KycCheckStatus.OUT_OF_DATE,
    CheckStatus.OUTDATED: KycCheckStatus.OUT_OF_DATE,
    CheckStatus.UNKNOWN: KycCheckStatus.UNKNOWN,
}
IDENTITY_CHECK_STATUSES = {
    **DOCUMENT_STATUSES,
    CheckStatus.CREATED: KycCheckStatus.PENDING,
    CheckStatus.PENDING: KycCheckStatus.PENDING,
    CheckStatus.IN_REVIEW: KycCheckStatus.REVIEW,
    CheckStatus.EXPIRED: KycCheckStatus.EXPIRED,
}
OPEN_STATUSES = frozenset({KycCheckStatus.PENDING, KycCheckStatus.VALIDATION_ASKED, KycCheckStatus.REVIEW})
UNDECIDED = frozenset({KycCheckStatus.CREATED, KycCheckStatus.PENDING, KycCheckStatus.VALIDATION_ASKED})
"""Statuses that are no outcome; no event is emitted for them."""


VerificationRow: TypeAlias = KycDocumentRow | IdentityCheckRow


@dataclass(frozen=True)
class ProviderKyc:
    """The KYC state of an account at the provider."""

    account_id: str
    level: KycLevel
    documents: Sequence[AccountDocument]
    checks: Sequence[IdentityCheck]
    renew_by: dt.date | None = None

    @staticmethod
    def status_of(subject: AccountDocument | IdentityCheck) -> KycCheckStatus:
        """Our status of a document or identity check."""
        return (DOCUMENT_STATUSES if isinstance(subject, AccountDocument) else IDENTITY_CHECK_STATUSES)[subject.status]


async def save_kyc(db: AsyncSession, rows: KycRows, current: ProviderKyc, now: dt.datetime) -> None:
    """Save the provider's state, and emit an event if anything changed, in the session's transaction. The PartnerKycRow
    must be locked.
    """
    kyc, partner = rows.kyc, rows.partner
    assert kyc is not None
    changed = [*_account_changes(rows, current, now)]
    owners_before = {owner.id: owner.status for row in rows.checks for owner in row.owners}
    kyc.account_id, kyc.level, kyc.renew_by = current.account_id, current.level, current.renew_by
    verifications: list[VerificationRow] = [
        *_save_documents(db, rows, current.documents),
        *_save_checks(db, rows, current.checks),
    ]
    await db.flush()
    changed += map(_check_change, verifications)
    owners = (owner for check in current.checks for owner in check.owners)
    changed += [_owner_change(owner) for owner in owners if owners_before.get(owner.id) is not owner.status]
    kyc.version += 1
    kyc.checked_on = now
    await db.flush()
    seen = KycRows(partner, kyc, await documents_of(db, partner), await identity_checks_of(db, partner))
    idle = RENEWAL_CHECK_INTERVAL if is_due(kyc.renew_by, now) else IDLE_CHECK_INTERVAL
    kyc.check_on = now + (OPEN_CHECK_INTERVAL if is_open(seen, now) else idle)
    if changed:
        await _emit_changes(db, seen, kyc, changed)


async def _emit_changes(
    db: AsyncSession, rows: KycRows, kyc: PartnerKycRow, changed: Sequence[Mapping[str, Any]]
) -> None:
    partner_id = rows.partner.id
    await emit(
        db,
        NewEvent(
            EventType.PARTNER_KYC_CHANGED,
            partner_id=partner_id,
            subject=str(partner_id),
            data=_event_data(kyc_summary(rows), changed),
            unique_key=f"{partner_id}:{kyc.version}",
        ),
    )


def is_open(rows: KycRows, now: dt.datetime) -> bool:
    """True while a document, a usable identity check or an owner is waiting for an outcome."""
    if any(owner.status is OwnerCheckStatus.PENDING for row in rows.checks for owner in row.owners):
        return True
    waited_for: list[VerificationRow] = [*rows.documents, *rows.checks]
    return any(
        row.status in OPEN_STATUSES
        and (row.status is not KycCheckStatus.PENDING or now - row.created_on < IDENTITY_SESSION_LIFE)
        for row in waited_for
    )


def _save_documents(db: AsyncSession, rows: KycRows, documents: Iterable[AccountDocument]) -> Iterable[KycDocumentRow]:
    """Save documents; yields those with a new outcome. Documents that were created but never submitted are skipped."""
    known = {row.provider_id: row for row in rows.documents if row.provider_id}
    for document in documents:
        status = ProviderKyc.status_of(document)
        if status is KycCheckStatus.CREATED:
            continue
        row = known.get(document.id)
        if row is None:
            if document.type is None:
                continue  # a document type that we do not know
            row = _external_document(rows.partner, document, KycDocumentType(document.type.value))
            db.add(row)
        elif row.status is status:
            continue
        row.status, row.step = status, DocumentStep.SUBMITTED
        row.processed_on, row.refusals = document.processed_at, tuple(document.refusals)
        if status not in UNDECIDED:
            yield row


def _external_document(partner: PartnerRow, document: AccountDocument, kind: KycDocumentType) -> KycDocumentRow:
    """A document that was submitted elsewhere, such as on the provider's dashboard."""
    return KycDocumentRow(
        partner_id=partner.id,
        account_id=document.account_id,
        provider_id=document.id,
        document_type=kind,
        step=DocumentStep.SUBMITTED,
        created_on=document.created_at,
    )


def _save_checks(db: AsyncSession, rows: KycRows, checks: Iterable[IdentityCheck]) -> Iterable[IdentityCheckRow]:
    """Save identity checks; yields those with a new outcome. Unknown pending ones are skipped: `find_or_open_check`
    saves them.
    """
    known = {row.provider_id: row for row in rows.checks if row.provider_id}
    for check in checks:
        status = ProviderKyc.status_of(check)
        row = known.get(check.id)
        if row is None:
            if status is KycCheckStatus.PENDING:
                continue
            row = _external_check(rows.partner, check)
            db.add(row)
        row.owners = tuple(dataclasses.replace(owner, email="") for owner in check.owners)
        if row.status is status and row.id is not None:
            continue
        row.status, row.refusals = status, tuple(check.refusals)
        if status not in UNDECIDED:
            yield row


def _external_check(partner: PartnerRow, check: IdentityCheck) -> IdentityCheckRow:
    return IdentityCheckRow(
        partner_id=partner.id, account_id=check.account_id, provider_id=check.id, created_on=check.created_at
    )


# ---- the event


def _account_changes(rows: KycRows, current: ProviderKyc, now: dt.datetime) -> Iterable[Mapping[str, Any]]:
    """The changes of the level and of the day by which it must be renewed, before they are saved."""
    known = rows.current
    if (known.level if known else KycLevel.LIGHT) is not current.level:
        yield _level_change(current.level)
    if current.renew_by is not None and current.renew_by != (known.renew_by if known else None):
        yield _renewal_change(current.renew_by, now)


def _level_change(level: KycLevel) -> Mapping[str, Any]:
    status = "ok" if level is KycLevel.REGULAR else "error"
    return {"kind": "level", "id": None, "document_type": None, "status": status, "refused_reason": ""}


def _renewal_change(renew_by: dt.date, now: dt.datetime) -> Mapping[str, Any]:
    status = "due" if is_due(renew_by, now) else "ok"
    return {
        "kind": "renewal",
        "id": None,
        "document_type": None,
        "status": status,
        "refused_reason": "",
        "renew_by": str(renew_by),
    }


def _owner_change(owner: OwnerCheck) -> Mapping[str, Any]:
    return {
        "kind": "owner",
        "id": None,
        "document_type": None,
        "status": owner.status.value.upper(),
        "refused_reason": "",
        "person": owner.name,
    }


def _check_change(row: VerificationRow) -> Mapping[str, Any]:
    document = isinstance(row, KycDocumentRow)
    return {
        "kind": (KycCheckKind.DOCUMENT if document else KycCheckKind.IDENTITY_CHECK).value,
        "id": row.id,
        "document_type": row.document_type.value if isinstance(row, KycDocumentRow) else None,
        "status": row.status.value,
        "refused_reason": row.refusals[0].code if row.refusals else "",
    }


def _event_data(kyc: Kyc, changed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {
        "id": kyc.partner_id,
        "uuid": str(kyc.partner_uuid),
        "status": kyc.status.value,
        "detail": kyc.detail,
        "changed": list(changed),
        "errors": [_error_data(check) for check in kyc.errors],
    }


def _error_data(check: KycCheck) -> Mapping[str, Any]:
    return {
        "kind": check.kind.value,
        "id": check.id,
        "document_type": check.document_type.value,
        "status": check.status.value if check.status else "",
        "refused_reason": check.refused_reason,
    }
