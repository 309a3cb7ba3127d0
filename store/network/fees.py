"""The fees of usages: what the network keeps of them, and what the partner earns."""

import datetime as dt
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Protocol

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.partner.network_settings import UsageFeePayer
from store.partner.partners import MarketplaceRow
from store.payment.fees import fee_with_vat, find_terms
from store.providers.money import smallest_unit

GIFT_CARD_USAGE, VOUCHER_USAGE = "network_gift_card", "network_voucher"
"""The products by which fee rules name usages."""


class WithFees(Protocol):
    """A usage with its value, whose fees and net amount are written."""

    value_amount: Decimal
    management_fee_amount: Decimal
    management_fee_vat_amount: Decimal
    commission_rate: Decimal
    fees_vat_rate: Decimal
    is_reverse_charge: bool
    commission_amount: Decimal
    commission_vat_amount: Decimal
    fees_paid_by: UsageFeePayer
    net_amount: Decimal
    fee_rule_id: int | None


@dataclass(frozen=True, slots=True)
class UsageTerms:
    """The terms of a usage: a fixed fee, a percentage, and the VAT added to both."""

    management_fee: Decimal
    commission_rate: Decimal
    vat_rate: Decimal
    paid_by: UsageFeePayer
    rule_id: int | None = None
    is_reverse_charge: bool = False
    """The partner owes the VAT itself."""


async def fee_terms(db: AsyncSession, network: MarketplaceRow, partner_id: int, product: str) -> UsageTerms:
    """The terms for a usage at a partner: those of the most specific fee rule that names `product`, else the settings
    of the network. Who pays is a setting.
    """
    terms, own = await find_terms(db, partner_id, product, "", is_named=True), f"{product}_"
    paid_by: UsageFeePayer = getattr(network, f"{own}fees_paid_by")
    if (rule := terms.rule) is not None:
        rates = rule.fixed_amount, rule.percentage, terms.vat_rate(rule.vat_rate)
        return UsageTerms(*rates, paid_by, rule.id, terms.is_reverse_charge)
    fee, rate, vat = (
        getattr(network, f"{own}{name}") for name in ("management_fee_amount", "commission_rate", "vat_rate")
    )
    return UsageTerms(fee, rate, terms.vat_rate(vat), paid_by, None, terms.is_reverse_charge)


def apply_fees(usage: WithFees, terms: UsageTerms, currency: str) -> None:
    """Write the fees of a usage, and what the partner earns.

    If the partner pays, commission and then management fee are at most what is left of the value.
    """
    unit, value, is_own = smallest_unit(currency), usage.value_amount, terms.paid_by is UsageFeePayer.PARTNER
    rate = value * terms.commission_rate / 100
    commission, vat = fee_with_vat(rate, terms.vat_rate, unit, most=value if is_own else None)
    usage.commission_amount, usage.commission_vat_amount = commission, vat
    fee, vat = fee_with_vat(terms.management_fee, terms.vat_rate, unit, most=value - commission if is_own else None)
    usage.management_fee_amount, usage.management_fee_vat_amount = fee, vat
    usage.commission_rate, usage.fees_paid_by, usage.fee_rule_id = terms.commission_rate, terms.paid_by, terms.rule_id
    usage.fees_vat_rate, usage.is_reverse_charge = terms.vat_rate, terms.is_reverse_charge
    usage.net_amount = value - commission - fee if is_own else value


class ReturnedUsage(WithFees, Protocol):
    """A usage of which parts can be given back."""

    id: int
    partner_id: int
    currency: str
    returned_amount: Decimal
    used_on: dt.datetime
    freeze_payout_date: dt.datetime | None


@dataclass(slots=True, kw_only=True)
class UsagePart:
    """A part of a usage with its fees: what is given back of it."""

    id: int
    partner_id: int
    value_amount: Decimal
    management_fee_amount: Decimal
    management_fee_vat_amount: Decimal
    commission_amount: Decimal
    commission_vat_amount: Decimal
    fees_paid_by: UsageFeePayer
    net_amount: Decimal
    used_on: dt.datetime
    freeze_payout_date: dt.datetime | None


def part_to_return(usage: ReturnedUsage, amount: Decimal) -> UsagePart:
    """The part of a usage that goes back with another amount of its value.

    Each fee is what belongs to all that went back so far, less what went back before: nothing is left at 100 %. Both fees
    are rounded together, so that the partner never gives back less than nothing.
    """
    unit, before = smallest_unit(usage.currency), usage.returned_amount

    def share(whole: Decimal) -> Decimal:
        def until(returned: Decimal) -> Decimal:
            return (whole * returned / usage.value_amount).quantize(unit, ROUND_HALF_UP)

        return until(before + amount) - until(before)

    fees = share(usage.commission_amount + usage.management_fee_amount)
    commission = share(usage.commission_amount)
    return UsagePart(
        id=usage.id,
        partner_id=usage.partner_id,
        value_amount=amount,
        management_fee_amount=fees - commission,
        management_fee_vat_amount=share(usage.management_fee_vat_amount),
        commission_amount=commission,
        commission_vat_amount=share(usage.commission_vat_amount),
        fees_paid_by=usage.fees_paid_by,
        net_amount=amount - fees if usage.fees_paid_by is UsageFeePayer.PARTNER else amount,
        used_on=usage.used_on,
        freeze_payout_date=usage.freeze_payout_date,
    )
