"""Network gift cards and vouchers on the page of a venue: what prevents a usage at its partner, and the usages there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Context
from schema.core.errors import AppError
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.gift_card import NetworkGiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from store.audit.uses import users_of
from store.network.boxes import BoxRow, OfferRow
from store.network.gift_cards import NetworkGiftCardRow, NetworkGiftCardUsageRow
from store.network.offers import accepted_offers
from store.network.states import check_accepts, check_usable_as
from store.network.voucher_usages import check_voucher_use
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.contents import ids_in_payouts

U = TypeVar("U", NetworkGiftCardUsageRow, NetworkVoucherUsageRow)

RECENT_LIMIT = 5
"""Number of recent usages shown."""


@dataclass(frozen=True, slots=True)
class RedeemableNetworkCard:
    card: NetworkGiftCardRow
    network: str
    """The name of the network."""
    refusal: AppError | None
    """What prevents a usage at this partner; None if nothing does."""
    may_use: bool
    """True if the caller may use the card."""
    usages: Sequence[NetworkGiftCardUsageRow]
    """Recent usages at this partner, newest first."""
    cancellable: frozenset[int]
    """Ids of the usages that the caller can cancel."""
    users: Mapping[int, str]
    """Who recorded the usages, by their ids."""


@dataclass(frozen=True, slots=True)
class RedeemableNetworkVoucher:
    voucher: NetworkVoucherRow
    box: BoxRow
    network: str
    """The name of the network."""
    refusal: AppError | None
    """What prevents a usage at this partner; None if nothing does."""
    may_use: bool
    """True if the caller may use the voucher."""
    offers: Sequence[OfferRow]
    """The accepted, active offers of this partner for the box, by ranking."""
    usages: Sequence[NetworkVoucherUsageRow]
    """Recent usages at this partner, newest first."""
    used_offers: Mapping[int, Text]
    """The names of the offers of these usages, by id."""
    cancellable: frozenset[int]
    """Ids of the usages that the caller can cancel."""
    users: Mapping[int, str]
    """Who recorded the usages, by their ids."""


async def redeemable_network_card(context: Context, card: NetworkGiftCardRow) -> RedeemableNetworkCard:
    """A network gift card as the caller's partner can use it."""
    may_use = context.required_caller.may(Permission.USE_NETWORK_GIFT_CARD)
    async with context.services.db.sessions() as db:
        partner, network = await _partner_and_network(db, context, card.marketplace_id)
        usages = await _usages_here(db, NetworkGiftCardUsageRow, "gift_card_id", card.id, partner)
        users = await users_of(db, "NetworkGiftCardUsage", [usage.id for usage in usages], partner.id)
        cancellable = await cancellable_usages(db, usages)
    return RedeemableNetworkCard(
        card,
        network.name,
        _refusal_of_card(context, card, partner),
        may_use,
        usages,
        cancellable if may_use and card.status is not NetworkGiftCardStatus.CANCELLED else frozenset(),
        users,
    )


async def redeemable_network_voucher(context: Context, voucher: NetworkVoucherRow) -> RedeemableNetworkVoucher:
    """A network voucher as the caller's partner can use it."""
    may_use = context.required_caller.may(Permission.USE_NETWORK_VOUCHER)
    async with context.services.db.sessions() as db:
        partner, network = await _partner_and_network(db, context, voucher.marketplace_id)
        offers = await accepted_offers(db, voucher.box_id, partner.id)
        usages = await _usages_here(db, NetworkVoucherUsageRow, "network_voucher_id", voucher.id, partner)
        cancellable = await cancellable_usages(db, usages)
        used_offers = await names_of_offers(db, [usage.offer_id for usage in usages if usage.offer_id is not None])
        return RedeemableNetworkVoucher(
            voucher,
            await db.get_one(BoxRow, voucher.box_id),
            network.name,
            await _refusal_of_voucher(db, context, voucher, partner, offers, ZoneInfo(network.time_zone)),
            may_use,
            offers,
            usages,
            used_offers,
            cancellable if may_use and voucher.status is not NetworkVoucherStatus.CANCELLED else frozenset(),
            await users_of(db, "NetworkVoucherUsage", [usage.id for usage in usages], partner.id),
        )


def _refusal_of_card(context: Context, card: NetworkGiftCardRow, partner: PartnerRow) -> AppError | None:
    is_test = card.status is NetworkGiftCardStatus.TEST
    try:
        check_usable_as(card, card.status, context.services.clock.now())
        check_accepts(partner, is_linked=partner.linked_to_ngc_settings, is_test=is_test)
    except AppError as error:
        return error
    return None


async def _refusal_of_voucher(
    db: AsyncSession,
    context: Context,
    voucher: NetworkVoucherRow,
    partner: PartnerRow,
    offers: Sequence[OfferRow],
    zone: ZoneInfo,
) -> AppError | None:
    offer_id = offers[0].id if offers else None
    try:
        await check_voucher_use(db, voucher, partner, offer_id, context.services.clock.now(), zone)
    except AppError as error:
        return error
    return None


async def _partner_and_network(
    db: AsyncSession, context: Context, marketplace_id: int
) -> tuple[PartnerRow, MarketplaceRow]:
    partner = await db.get_one(PartnerRow, context.required_caller.partner_id)
    return partner, await db.get_one(MarketplaceRow, marketplace_id)


async def _usages_here(db: AsyncSession, table: type[U], by: str, id: int, partner: PartnerRow) -> Sequence[U]:
    columns: Any = table
    here = getattr(columns, by) == id, columns.partner_id == partner.id
    return (await db.exec(select(table).where(*here).order_by(columns.id.desc()).limit(RECENT_LIMIT))).all()


async def names_of_offers(db: AsyncSession, ids: Sequence[int]) -> Mapping[int, Text]:
    """The names of offers, by id."""
    rows = (await db.exec(select(OfferRow).where(col(OfferRow.id).in_(ids)))).all()
    return {row.id: row.name for row in rows}


async def cancellable_usages(db: AsyncSession, usages: Sequence[U]) -> frozenset[int]:
    """Ids of the usages that count, are in no validated payout, and are no parts of payments: those are refunded."""
    ids = [usage.id for usage in usages if usage.is_active and getattr(usage, "payment_id", None) is None]
    return frozenset(set(ids) - await ids_in_payouts(db, usages[0].__tablename__, ids)) if ids else frozenset()
