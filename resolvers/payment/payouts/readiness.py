"""What the validation of a partner's payouts needs: its identification, and a bank account."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.bank_account import BankAccountStatus
from schema.payment.errors import PayoutBlocked, PayoutNotReady
from store.bank_account import BankAccountRow
from store.kyc import PartnerKycRow
from store.partner.partners import PartnerRow
from store.providers.accounts import KycLevel


@dataclass(frozen=True, slots=True)
class PartnerReadiness:
    """A partner, and what its payouts need."""

    partner: PartnerRow
    is_identified: bool
    bank_account: BankAccountRow | None
    """The newest active one with the partner's IBAN."""


async def readiness_of(db: AsyncSession, partner_ids: Sequence[int]) -> Mapping[int, PartnerReadiness]:
    """What the payouts of partners need, by the partner's id. State of former accounts at the provider does not count."""
    identified = (
        (col(PartnerKycRow.partner_id) == col(PartnerRow.id))
        & (col(PartnerKycRow.account_id) == col(PartnerRow.provider_user_id))
        & (col(PartnerKycRow.level) == KycLevel.REGULAR)
    )
    active = (
        (col(BankAccountRow.partner_id) == col(PartnerRow.id))
        & (col(BankAccountRow.account_id) == col(PartnerRow.provider_user_id))
        & (col(BankAccountRow.iban) == col(PartnerRow.iban))
        & (col(BankAccountRow.status) == BankAccountStatus.ACTIVE)
    )
    query = (
        select(PartnerRow, PartnerKycRow.partner_id, BankAccountRow)
        .outerjoin(PartnerKycRow, identified)
        .outerjoin(BankAccountRow, active)
        .where(col(PartnerRow.id).in_(partner_ids))
        .order_by(col(BankAccountRow.id))
    )
    rows = (await db.exec(query.execution_options(populate_existing=True))).all()
    return {partner.id: PartnerReadiness(partner, kyc is not None, account) for partner, kyc, account in rows}


def check_ready(readiness: PartnerReadiness) -> BankAccountRow:
    """The bank account to pay out to. Raises PayoutBlocked, or PayoutNotReady with what is missing."""
    if readiness.partner.block_payout_validation:
        raise PayoutBlocked
    missing = []
    if not readiness.is_identified:
        missing.append("The payment provider has not identified the partner yet.")
    if readiness.bank_account is None:
        missing.append("The partner has no active bank account: register its IBAN with `registerBankAccount`.")
    if missing or readiness.bank_account is None:
        raise PayoutNotReady(missing=missing)
    return readiness.bank_account
