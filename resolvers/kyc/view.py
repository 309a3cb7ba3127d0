"""The KYC summary of a partner, derived from the stored rows without calling the provider."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resolvers.kyc.renewal import deadline_of, is_due
from schema.kyc.capability import Requirement, RequirementCode
from schema.kyc.kyc import (
    Kyc,
    KycCheck,
    KycCheckKind,
    KycCheckStatus,
    KycDocumentType,
    KycRefusal,
    KycRefusalReason,
    KycStatus,
)
from schema.partner.parts import CompanyType
from store.core.clock import clock
from store.core.document_steps import DocumentStep
from store.kyc import IdentityCheckRow, KycDocumentRow, PartnerKycRow
from store.partner.partners import PartnerRow
from store.providers.accounts import KycLevel, OwnerCheckStatus

IDENTITY, REGISTRATION = KycDocumentType.IDENTITY_PROOF, KycDocumentType.REGISTRATION_PROOF
ARTICLES, SHAREHOLDERS = KycDocumentType.ARTICLES_OF_ASSOCIATION, KycDocumentType.SHAREHOLDER_DECLARATION
REQUIRED = {
    CompanyType.BUSINESS: (IDENTITY, REGISTRATION, ARTICLES, SHAREHOLDERS),
    CompanyType.ORGANIZATION: (IDENTITY, REGISTRATION, ARTICLES),
    CompanyType.SOLE_TRADER: (IDENTITY, REGISTRATION),
    CompanyType.INDIVIDUAL: (IDENTITY,),
}
"""Documents that the provider requires by company type, unless an identity check was accepted."""
RESUBMIT_STATUSES = frozenset(
    {KycCheckStatus.CREATED, KycCheckStatus.REFUSED, KycCheckStatus.OUT_OF_DATE, KycCheckStatus.UNKNOWN}
)
"""Statuses after which the document has to be submitted again."""
ACCEPTED_STATUSES = frozenset({KycCheckStatus.VALIDATED, KycCheckStatus.REVIEW})
MISSING = "DOCUMENT_MISSING"
OPEN_VERIFICATION, SEND_LINK = "openIdentityVerification", "sendOnboardingLink"
"""Operations that meet a requirement."""


@dataclass(frozen=True)
class KycRows:
    """The stored KYC rows of one partner."""

    partner: PartnerRow
    kyc: PartnerKycRow | None
    documents: Sequence[KycDocumentRow]
    checks: Sequence[IdentityCheckRow]

    @property
    def validated(self) -> bool:
        return self.current is not None and self.current.level is KycLevel.REGULAR

    @property
    def current(self) -> PartnerKycRow | None:
        """The state of the partner's current provider account; None if nothing was reported yet."""
        return self.kyc if self.kyc is not None and self.kyc.account_id == self.partner.provider_user_id else None


def kyc_summary(rows: KycRows, note: str = "") -> Kyc:
    """The KYC summary of a partner. `note` is appended to the detail."""
    checks = latest_checks(rows)
    wrong = [] if rows.validated else [*(c for c in checks if _needs_resubmission(c)), *_missing(rows, checks)]
    detail = _detail(rows, checks, wrong)
    return Kyc(
        partner_id=rows.partner.id,
        partner_uuid=rows.partner.uuid,
        status=KycStatus.OK if rows.validated else KycStatus.ERROR,
        detail=f"{detail} {note}".rstrip(),
        checked_on=None if rows.current is None else rows.current.checked_on,
        errors=wrong,
        checks=checks,
    )


def latest_checks(rows: KycRows) -> list[KycCheck]:
    """The latest document of each type, and the latest identity check."""
    by_type: dict[KycDocumentType, KycDocumentRow] = {}
    for document in sorted(rows.documents, key=_sort_key, reverse=True):
        if document.step is not DocumentStep.ABANDONED:
            by_type.setdefault(document.document_type, document)
    checks = [_check(rows.partner, row, row.document_type) for row in by_type.values()]
    known = sorted((row for row in rows.checks if row.provider_id), key=_sort_key, reverse=True)
    return [*checks, *(_check(rows.partner, row, IDENTITY) for row in known[:1])]


def _sort_key(row: KycDocumentRow | IdentityCheckRow) -> tuple[dt.datetime, int]:
    return row.created_on, row.id


def _check(partner: PartnerRow, row: KycDocumentRow | IdentityCheckRow, proves: KycDocumentType) -> KycCheck:
    return KycCheck(
        kind=KycCheckKind.DOCUMENT if isinstance(row, KycDocumentRow) else KycCheckKind.IDENTITY_CHECK,
        id=row.id,
        partner_id=partner.id,
        partner_uuid=partner.uuid,
        document_type=proves,
        status=row.status,
        refused_reason=row.refusals[0].code if row.refusals else "",
        refusals=[
            KycRefusal(reason=KycRefusalReason(refusal.reason.value), code=refusal.code, message=refusal.message)
            for refusal in row.refusals
        ],
        created_on=row.created_on,
    )


def _needs_resubmission(check: KycCheck) -> bool:
    return check.status in RESUBMIT_STATUSES


def _missing(rows: KycRows, missing: Iterable[KycCheck]) -> list[KycCheck]:
    """Required documents that were never submitted and that no identity check replaces; empty without a provider
    account.
    """
    there = {check.document_type for check in missing if check.kind is KycCheckKind.DOCUMENT}
    shown = any(check.kind is KycCheckKind.IDENTITY_CHECK and check.status in ACCEPTED_STATUSES for check in missing)
    kind = rows.partner.company_type
    if shown or kind is None or not rows.partner.provider_user_id:
        return []
    return [
        KycCheck(
            kind=KycCheckKind.DOCUMENT,
            id=None,
            partner_id=rows.partner.id,
            partner_uuid=rows.partner.uuid,
            document_type=needed,
            status=None,
            refused_reason=MISSING,
            refusals=[],
            created_on=None,
        )
        for needed in REQUIRED[kind]
        if needed not in there
    ]


def _detail(rows: KycRows, missing: Sequence[KycCheck], wrong: Sequence[KycCheck]) -> str:
    if rows.validated:
        return "The payment provider has validated this partner."
    if not rows.partner.provider_user_id:
        return "The payment provider does not know this partner yet: activate its payments first."
    texts = {
        "Being examined": [c for c in missing if c.status in {KycCheckStatus.VALIDATION_ASKED, KycCheckStatus.REVIEW}],
        "Opened and not done yet": [c for c in missing if c.status is KycCheckStatus.PENDING],
        "Refused": [c for c in wrong if c.status is KycCheckStatus.REFUSED],
        "To be renewed": [c for c in wrong if c.status is KycCheckStatus.OUT_OF_DATE],
        "Not accepted": [c for c in wrong if c.status is KycCheckStatus.UNKNOWN],
        "Not handed in completely, send it again": [c for c in wrong if c.status is KycCheckStatus.CREATED],
        "Missing": [c for c in wrong if c.status is None],
    }
    parts = [f"{what}: {', '.join(map(_label_of, which))}." for what, which in texts.items() if which]
    first = "The payment provider has not validated this partner yet."
    way_out = "Hand in what is named, or open an identity verification." if wrong or not missing else ""
    return " ".join(filter(None, (first, *parts, way_out)))


def _label_of(check: KycCheck) -> str:
    name = "identity verification" if check.kind is KycCheckKind.IDENTITY_CHECK else check.document_type.value
    return f"{name} ({check.refused_reason})" if check.refusals else name


def kyc_requirements(rows: KycRows, *, links: bool = True) -> list[Requirement]:
    """The KYC requirements of a partner; of a validated one the renewal that is due. Empty without a provider account.

    `links`: show the pages of owners, which are for them alone.
    """
    current = rows.current
    if not rows.partner.provider_user_id:
        return []
    if current is not None and rows.validated:
        if current.renew_by is None or not is_due(current.renew_by, clock.now()):
            return []
        deadline = deadline_of(current.renew_by)
        renewal = Requirement(code=RequirementCode.IDENTITY_RENEWAL, action=OPEN_VERIFICATION, deadline=deadline)
        return [renewal, *_owner_requirements(rows, links=links)]
    needed = _owner_requirements(rows, links=links)
    for check in latest_checks(rows):
        action = OPEN_VERIFICATION if check.kind is KycCheckKind.IDENTITY_CHECK else "pushKycDocument"
        if check.status is KycCheckStatus.REFUSED:
            needed.append(Requirement(code=RequirementCode.DOCUMENT_REFUSED, action=action))
        elif check.status is KycCheckStatus.OUT_OF_DATE:
            needed.append(Requirement(code=RequirementCode.DOCUMENT_OUTDATED, action=action))
    code = RequirementCode.IDENTITY_NOT_VERIFIED
    return needed or [Requirement(code=code, action=OPEN_VERIFICATION)]


def _owner_requirements(rows: KycRows, *, links: bool) -> list[Requirement]:
    """The owners who have not verified their identity in the latest accepted check of the business."""
    checks = sorted((row for row in rows.checks if row.status is KycCheckStatus.VALIDATED), key=_sort_key)
    return [
        Requirement(
            code=RequirementCode.OWNER_NOT_VERIFIED,
            person=owner.name,
            action=(owner.action.url if links else SEND_LINK) if owner.action else OPEN_VERIFICATION,
            deadline=owner.action.expires_at if owner.action else None,
        )
        for owner in (checks[-1].owners if checks else ())
        if owner.status not in {OwnerCheckStatus.VALIDATED, OwnerCheckStatus.ABANDONED}
    ]
