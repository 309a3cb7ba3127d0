"""Payment capability of a partner, derived from its data, activation, KYC documents and bank accounts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.dialects.postgresql import distinct_on
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.bank_account import bank_requirements
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.kyc.view import SEND_LINK, KycRows, kyc_requirements
from resolvers.partner.selling import may_sell
from schema.activation import ActivationFailureReason, ActivationStatus
from schema.core.permission import Permission
from schema.kyc.capability import (
    CapabilityStatus,
    DisabledCapabilityReason,
    PaymentCapability,
    Requirement,
    RequirementCode,
)
from schema.onboarding import OnboardingField
from schema.partner.partner import Partner
from store.activation.account_requests import api_field_name, missing_fields
from store.activation.activations import ActivationRow, is_still_refused
from store.bank_account import BankAccountRow
from store.database.loaders import is_any_of
from store.kyc import IdentityCheckRow, KycDocumentRow, PartnerKycRow
from store.onboarding.links import onboarding_url_for
from store.partner.partners import PartnerRow

UPDATE, ACTIVATE = "updatePartner", "activatePayments"


@dataclass(frozen=True)
class OnboardingRows:
    """The stored rows about a partner's onboarding. Lists are sorted newest first."""

    partner: PartnerRow
    activation: ActivationRow | None = None
    kyc: PartnerKycRow | None = None
    documents: list[KycDocumentRow] = field(default_factory=list)
    checks: list[IdentityCheckRow] = field(default_factory=list)
    bank_accounts: list[BankAccountRow] = field(default_factory=list)


async def load_onboarding_rows(db: AsyncSession, ids: Sequence[int]) -> Mapping[int, OnboardingRows]:
    """Onboarding rows by partner id; one query per table, for any number of partners."""
    query = select(PartnerRow).where(is_any_of(col(PartnerRow.id), ids)).execution_options(populate_existing=True)
    partners = {partner.id: partner for partner in (await db.exec(query)).all()}
    last = (
        select(ActivationRow)
        .where(is_any_of(col(ActivationRow.partner_id), ids))
        .ext(distinct_on(col(ActivationRow.partner_id)))
    )
    newest = last.order_by(col(ActivationRow.partner_id), col(ActivationRow.created_on).desc())
    activations = {row.partner_id: row for row in (await db.exec(newest)).all()}
    levels = await _by_partner(db, PartnerKycRow, partners, col(PartnerKycRow.partner_id))
    documents = await _by_partner(db, KycDocumentRow, partners, col(KycDocumentRow.id).desc())
    checks = await _by_partner(db, IdentityCheckRow, partners, col(IdentityCheckRow.id).desc())
    accounts = await _by_partner(db, BankAccountRow, partners, col(BankAccountRow.id).desc())
    return {
        id: OnboardingRows(
            partner, activations.get(id), next(iter(levels[id]), None), documents[id], checks[id], accounts[id]
        )
        for id, partner in partners.items()
    }


async def _by_partner(
    db: AsyncSession, table: Any, partners: Mapping[int, PartnerRow], order: Any
) -> Mapping[int, list[Any]]:
    """The rows of a table by partner id, limited to the partner's current provider account."""
    by_partner = defaultdict(list)
    for row in (
        await db.exec(select(table).where(is_any_of(col(table.partner_id), list(partners))).order_by(order))
    ).all():
        if row.account_id == partners[row.partner_id].provider_user_id:
            by_partner[row.partner_id].append(row)
    return by_partner


@computes(Partner, "payment_capability")
async def payment_capability(context: Context, ids: Sequence[int]) -> Mapping[int, PaymentCapability]:
    """The payment capability of partners. Only callers with `permissions.create_partner` see the URL of the onboarding
    page.
    """
    async with context.db.read_sessions() as db:
        rows_by_partner = await load_onboarding_rows(db, ids)
    shows_link = context.required_caller.may(Permission.CREATE_PARTNER)
    return {
        id: capability_of(
            stands,
            onboarding_url_for(context.services.settings, stands.partner) if shows_link else SEND_LINK,
            sells=may_sell(context.services, stands.partner.status),
        )
        for id, stands in rows_by_partner.items()
    }


def capability_of(stands: OnboardingRows, page: str, *, sells: bool) -> PaymentCapability:
    """The payment capability. `page` is the action of requirements that the legal representative meets: the URL of the
    onboarding page, or an operation.
    """
    requirements = requirements_of(stands, page)
    if stands.partner.payments_active and sells:
        return PaymentCapability(status=CapabilityStatus.ACTIVE, requirements=requirements)
    reason, waits = _disabled_reason(stands)
    status = CapabilityStatus.PENDING if waits else CapabilityStatus.DISABLED
    return PaymentCapability(status=status, disabled_reason=reason, requirements=requirements)


def _disabled_reason(stands: OnboardingRows) -> tuple[DisabledCapabilityReason, bool]:
    """Why a partner cannot be paid, and True if its activation is in progress."""
    if stands.partner.payments_active:
        return DisabledCapabilityReason.PARTNER_INACTIVE, False
    activation = stands.activation
    if activation is None:
        return DisabledCapabilityReason.NOT_STARTED, False
    match activation.status:
        case ActivationStatus.PENDING_USER_ACTION:
            return DisabledCapabilityReason.REQUIREMENTS, True
        case ActivationStatus.PROCESSING:
            return DisabledCapabilityReason.PROCESSING, True
        case ActivationStatus.COMPLETED:
            return DisabledCapabilityReason.BLOCKED, False
        case ActivationStatus.FAILED:
            closed = activation.failure is ActivationFailureReason.ACCOUNT_CLOSED
            blocked = activation.failure is ActivationFailureReason.ACCOUNT_BLOCKED
            if closed:
                return DisabledCapabilityReason.CLOSED, False
            return DisabledCapabilityReason.BLOCKED if blocked else DisabledCapabilityReason.FAILED, False


def requirements_of(stands: OnboardingRows, page: str) -> list[Requirement]:
    """The requirements of a partner, most urgent first."""
    rows = KycRows(stands.partner, stands.kyc, stands.documents, stands.checks)
    return [
        *_data_requirements(stands, page),
        *_activation_requirements(stands, page),
        *kyc_requirements(rows, links=page != SEND_LINK),
        *bank_requirements(stands.partner, stands.bank_accounts),
    ]


def _data_requirements(stands: OnboardingRows, page: str) -> Iterable[Requirement]:
    for name in () if stands.partner.payments_active else missing_fields(stands.partner):
        yield Requirement(code=RequirementCode.MISSING_DATA, field=api_field_name(name), action=page)
    activation = stands.activation
    if activation is not None and is_still_refused(stands.partner, activation):
        field = api_field_name(activation.failure_field) or None
        yield Requirement(code=RequirementCode.DATA_REFUSED, field=field, action=UPDATE)


def _activation_requirements(stands: OnboardingRows, page: str) -> Iterable[Requirement]:
    partner, activation = stands.partner, stands.activation
    if activation is None:
        if not partner.payments_active:
            yield Requirement(code=RequirementCode.AUTHENTICATION, action=page)
        return
    if activation.status is ActivationStatus.PENDING_USER_ACTION:
        yield Requirement(code=RequirementCode.AUTHENTICATION, action=page)
    if activation.status is ActivationStatus.FAILED and not is_still_refused(partner, activation):
        again = page if activation.failure is ActivationFailureReason.NOT_AUTHENTICATED else ACTIVATE
        yield Requirement(code=RequirementCode.ACTIVATION_FAILED, action=again)
    if activation.status is ActivationStatus.COMPLETED:
        email = partner.legal_representative_email
        if not activation.enrolled_email and activation.session_email == email:
            # The provider requires authentication again.
            yield Requirement(code=RequirementCode.AUTHENTICATION, action=page)
        elif activation.enrolled_email != email:
            yield Requirement(
                code=RequirementCode.REPRESENTATIVE_CHANGED,
                field=api_field_name(OnboardingField.LEGAL_REPRESENTATIVE_EMAIL),
                action=page,
            )
        for blocked, code in (
            (activation.inflows_blocked, RequirementCode.INFLOWS_BLOCKED),
            (activation.outflows_blocked, RequirementCode.OUTFLOWS_BLOCKED),
        ):
            if blocked:
                yield Requirement(code=code, action="contactProvider")
