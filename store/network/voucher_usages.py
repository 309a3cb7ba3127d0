"""Usages of network vouchers: at a partner that accepts them, and given back when a usage is cancelled."""

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidInput
from schema.network.errors import NotUsable, PartnerWithoutOffer
from store.ledger.posting import post
from store.network.events import emit_voucher_usage
from store.network.fees import VOUCHER_USAGE, apply_fees, fee_terms
from store.network.locking import lock_usage_of
from store.network.offers import accepted_offers, admits_partner
from store.network.payouts import lock_open_payouts
from store.network.postings import usage_journal, usage_reversal_journal
from store.network.states import check_accepts
from store.network.voucher_issuing import network_vouchers
from store.network.voucher_states import (
    CANCELLED,
    check_voucher_usable,
    next_value,
    set_first_usage,
    status_by_usages,
    transition,
)
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.gathering import refresh


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVoucherUsage:
    """How a voucher is used, and when."""

    used_on: dt.datetime
    offer_id: int | None
    """The offer that is used, as `choose_offer` finds it; None: the partner has none."""
    comment: str = ""
    reservation_id: str = ""
    freeze_payout_date: dt.datetime | None = None


async def choose_offer(
    db: AsyncSession, voucher: NetworkVoucherRow, partner_id: int, offer_id: int | None
) -> int | None:
    """The accepted, active offer for the box that is used at a partner: the one that is named, or the only one; None if
    the partner has none.

    Raises InvalidInput at `offer_id` for an offer that is not one of these, or if there are several and none is named.
    """
    offers = await accepted_offers(db, voucher.box_id, partner_id)
    if not offers:
        return None
    if offer_id is None and len(offers) > 1:
        message = "This partner has several offers for the box: say which one is used."
        raise InvalidInput.at("offer_id", message, "REQUIRED")
    if offer_id is not None and all(offer.id != offer_id for offer in offers):
        raise InvalidInput.at("offer_id", "This is not an accepted, active offer of this partner for the box.")
    return offers[0].id if offer_id is None else offer_id


async def check_voucher_use(
    db: AsyncSession,
    voucher: NetworkVoucherRow,
    partner: PartnerRow,
    offer_id: int | None,
    now: dt.datetime,
    zone: ZoneInfo,
) -> None:
    """Raise what prevents a usage of a locked voucher at a partner of its network: what `check_voucher_usable` and
    `check_accepts` raise, or PartnerWithoutOffer.
    """
    check_voucher_usable(voucher, now, zone)
    check_accepts(partner, is_linked=partner.linked_to_nv_settings, is_test=voucher.is_test)
    if offer_id is None or not await admits_partner(db, voucher.box_id, partner.id):
        raise PartnerWithoutOffer


async def use_voucher(
    db: AsyncSession,
    network: MarketplaceRow,
    voucher: NetworkVoucherRow,
    partner: PartnerRow,
    new: NewVoucherUsage,
    now: dt.datetime,
) -> NetworkVoucherUsageRow:
    """Use a locked voucher once at a partner, which earns its part of the price less the fees. Raises what
    `check_voucher_use` raises.
    """
    zone = ZoneInfo(network.time_zone)
    await check_voucher_use(db, voucher, partner, new.offer_id, now, zone)
    value = next_value(voucher)
    usage = NetworkVoucherUsageRow(
        network_voucher_id=voucher.id,
        offer_id=new.offer_id,
        partner_id=partner.id,
        currency=voucher.currency,
        value_amount=value,
        net_amount=value,
        used_on=new.used_on,
        recorded_on=now,
        comment=new.comment,
        reservation_id=new.reservation_id,
        freeze_payout_date=new.freeze_payout_date,
    )
    if value:
        apply_fees(usage, await fee_terms(db, network, partner.id, VOUCHER_USAGE), voucher.currency)
    first = voucher.first_used_on
    voucher.used_amount, voucher.usage_count = voucher.used_amount + value, voucher.usage_count + 1
    set_first_usage(voucher, new.used_on if first is None else min(first, new.used_on), zone)
    transition(voucher, status_by_usages(voucher))
    db.add(usage)
    await db.flush()
    await post(db, [usage_journal(network_vouchers.liability_of(voucher), usage)])
    await emit_voucher_usage(db, "used", voucher, usage)
    return usage


async def lock_voucher_usage(db: AsyncSession, id: int) -> tuple[NetworkVoucherRow, NetworkVoucherUsageRow]:
    return await lock_usage_of(
        db, NetworkVoucherRow, NetworkVoucherUsageRow, NetworkVoucherUsageRow.network_voucher_id, id
    )


async def cancel_voucher_usage(
    db: AsyncSession,
    network: MarketplaceRow,
    voucher: NetworkVoucherRow,
    usage: NetworkVoucherUsageRow,
    comment: str,
    now: dt.datetime,
) -> bool:
    """Cancel a locked usage: the voucher has it again, with what it took. Returns False, without change, if it is
    cancelled already.

    An expired voucher stays expired; if its network books breakage, the value is booked too. Raises UsageInPayout, or
    NotUsable if the voucher was cancelled.
    """
    if not usage.is_active:
        return False
    if voucher.status is CANCELLED:
        raise NotUsable(status=voucher.status)
    payouts = await lock_open_payouts(db, usage)
    usage.is_active, usage.cancelled_on, usage.comment = False, now, comment or usage.comment
    voucher.used_amount, voucher.usage_count = voucher.used_amount - usage.value_amount, voucher.usage_count - 1
    set_first_usage(voucher, await _first_usage(db, voucher, usage), ZoneInfo(network.time_zone))
    reversal = await usage_reversal_journal(db, network_vouchers.liability_of(voucher), usage)
    await post(db, [reversal, *await network_vouchers.take_back(db, voucher, usage.value_amount, str(usage.id))])
    for payout in payouts:
        await refresh(db, payout)
    await emit_voucher_usage(db, "usage_cancelled", voucher, usage)
    return True


async def _first_usage(
    db: AsyncSession, voucher: NetworkVoucherRow, without: NetworkVoucherUsageRow
) -> dt.datetime | None:
    """When a voucher was first used, leaving out a usage."""
    table = NetworkVoucherUsageRow
    others = col(table.network_voucher_id) == voucher.id, col(table.is_active), col(table.id) != without.id
    with db.no_autoflush:
        first: dt.datetime | None = (await db.exec(select(func.min(table.used_on)).where(*others))).one()
    known = [moment for moment in (first, voucher.first_used_elsewhere_on) if moment is not None]
    return min(known, default=None)
