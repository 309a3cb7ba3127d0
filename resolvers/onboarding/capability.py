"""Whether a partner can be paid, and what is needed of it: gathered from its data, its activation, its papers and its bank."""

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
from resolvers.kyc.view import KycRows, kyc_requirements
from resolvers.partner.selling import may_sell
from schema.core.permission import Permission
from schema.onboarding import (
    ActivationFailureReason,
    ActivationStatus,
    CapabilityStatus,
    DisabledCapabilityReason,
    OnboardingField,
    PaymentCapability,
    Requirement,
    RequirementCode,
)
from schema.partner.partner import Partner
from store.activation.account_requests import missing, published
from store.activation.activations import ActivationRow, still_refused
from store.bank_account import BankAccountRow
from store.database.loaders import among
from store.kyc import IdentityCheckRow, KycDocumentRow, PartnerKycRow
from store.onboarding.links import link_for
from store.partner.partners import PartnerRow

UPDATE, ACTIVATE, SEND_LINK = "updatePartner", "activatePayments", "sendOnboardingLink"


@dataclass(frozen=True)
class Standing:
    """All that is kept of how a partner comes to be paid; lists the newest first."""

    partner: PartnerRow
    activation: ActivationRow | None = None
    kyc: PartnerKycRow | None = None
    documents: list[KycDocumentRow] = field(default_factory=list)
    checks: list[IdentityCheckRow] = field(default_factory=list)
    bank_accounts: list[BankAccountRow] = field(default_factory=list)


async def standings(db: AsyncSession, ids: Sequence[int]) -> Mapping[int, Standing]:
    """How partners stand, by their ids: a statement for each kind of rows, however many partners there are."""
    query = select(PartnerRow).where(among(col(PartnerRow.id), ids)).execution_options(populate_existing=True)
    partners = {partner.id: partner for partner in (await db.exec(query)).all()}
    last = (
        select(ActivationRow)
        .where(among(col(ActivationRow.partner_id), ids))
        .ext(distinct_on(col(ActivationRow.partner_id)))
    )
    newest = last.order_by(col(ActivationRow.partner_id), col(ActivationRow.created_on).desc())
    activations = {row.partner_id: row for row in (await db.exec(newest)).all()}
    levels = await _by_partner(db, PartnerKycRow, partners, col(PartnerKycRow.partner_id))
    documents = await _by_partner(db, KycDocumentRow, partners, col(KycDocumentRow.id).desc())
    checks = await _by_partner(db, IdentityCheckRow, partners, col(IdentityCheckRow.id).desc())
    accounts = await _by_partner(db, BankAccountRow, partners, col(BankAccountRow.id).desc())
    return {
        id: Standing(
            partner, activations.get(id), next(iter(levels[id]), None), documents[id], checks[id], accounts[id]
        )
        for id, partner in partners.items()
    }


async def _by_partner(
    db: AsyncSession, table: Any, partners: Mapping[int, PartnerRow], order: Any
) -> Mapping[int, list[Any]]:
    """The rows of a table about the accounts that partners have now."""
    found = defaultdict(list)
    for row in (await db.exec(select(table).where(among(col(table.partner_id), list(partners))).order_by(order))).all():
        if row.account_id == partners[row.partner_id].provider_user_id:
            found[row.partner_id].append(row)
    return found


@computes(Partner, "payment_capability")
async def payment_capability(context: Context, ids: Sequence[int]) -> Mapping[int, PaymentCapability]:
    """Whether partners can be paid. The address of the onboarding page is told only to those who may activate."""
    async with context.db.sessions() as db:
        found = await standings(db, ids)
    shows_link = context.asking.may(Permission.CREATE_PARTNER)
    return {
        id: capability_of(
            stands,
            link_for(context.services.settings, stands.partner) if shows_link else SEND_LINK,
            sells=may_sell(context.services, stands.partner.status),
        )
        for id, stands in found.items()
    }


def capability_of(stands: Standing, page: str, *, sells: bool) -> PaymentCapability:
    """Whether a partner can be paid; `page` meets what its representative has to do."""
    requirements = requirements_of(stands, page)
    if stands.partner.payments_active and sells:
        return PaymentCapability(status=CapabilityStatus.ACTIVE, requirements=requirements)
    reason, waits = _disabled(stands)
    status = CapabilityStatus.PENDING if waits else CapabilityStatus.DISABLED
    return PaymentCapability(status=status, disabled_reason=reason, requirements=requirements)


def _disabled(stands: Standing) -> tuple[DisabledCapabilityReason, bool]:
    """Why a partner cannot be paid, and whether it is on the way to it."""
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


def requirements_of(stands: Standing, page: str) -> list[Requirement]:
    """What is needed of a partner, the most urgent first."""
    rows = KycRows(stands.partner, stands.kyc, stands.documents, stands.checks)
    return [
        *_data(stands, page),
        *_activation(stands, page),
        *kyc_requirements(rows),
        *bank_requirements(stands.partner, stands.bank_accounts),
    ]


def _data(stands: Standing, page: str) -> Iterable[Requirement]:
    for name in () if stands.partner.payments_active else missing(stands.partner):
        yield Requirement(code=RequirementCode.MISSING_DATA, field=published(name), action=page)
    activation = stands.activation
    if activation is not None and still_refused(stands.partner, activation):
        told = published(activation.failure_field) or None
        yield Requirement(code=RequirementCode.DATA_REFUSED, field=told, action=UPDATE)


def _activation(stands: Standing, page: str) -> Iterable[Requirement]:
    partner, activation = stands.partner, stands.activation
    if activation is None:
        if not partner.payments_active:
            yield Requirement(code=RequirementCode.AUTHENTICATION, action=page)
        return
    if activation.status is ActivationStatus.PENDING_USER_ACTION:
        yield Requirement(code=RequirementCode.AUTHENTICATION, action=page)
    if activation.status is ActivationStatus.FAILED and not still_refused(partner, activation):
        again = page if activation.failure is ActivationFailureReason.NOT_AUTHENTICATED else ACTIVATE
        yield Requirement(code=RequirementCode.ACTIVATION_FAILED, action=again)
    if activation.status is ActivationStatus.COMPLETED:
        email = partner.legal_representative_email
        if not activation.enrolled_email and activation.session_email == email:  # the provider asks for it anew
            yield Requirement(code=RequirementCode.AUTHENTICATION, action=page)
        elif activation.enrolled_email != email:
            yield Requirement(
                code=RequirementCode.REPRESENTATIVE_CHANGED,
                field=published(OnboardingField.LEGAL_REPRESENTATIVE_EMAIL),
                action=page,
            )
        for blocked, code in (
            (activation.inflows_blocked, RequirementCode.INFLOWS_BLOCKED),
            (activation.outflows_blocked, RequirementCode.OUTFLOWS_BLOCKED),
        ):
            if blocked:
                yield Requirement(code=code, action="contactProvider")
