"""Lays the network of the demo data: everything that it has, and what it has sold."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.catalogue_rows import TaxonomyIds
from coffret.demo.content import DemoPartner
from coffret.demo.large_content import load_large
from coffret.demo.network.content import load_network
from coffret.demo.network.copy import copy_network_cards, copy_network_vouchers
from coffret.demo.network.draw import NetworkGenerator
from coffret.demo.network.rows import (
    insert_boxes,
    insert_designs,
    insert_network_shop,
    insert_offers,
    insert_partners,
    set_terms,
)
from coffret.demo.network.stock import load_stock
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from store.core.settings import Settings
from store.database.driver import driver_of
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.books import book_of_marketplace
from store.ledger.wallet_openings import begin_opening
from store.ledger.wallets import open_marketplace_wallet
from store.network.boxes import BoxRow
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import copy_box, network_vouchers
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import MarketplaceRow, PartnerRow

CARDS, VOUCHERS = 400, 320
"""How many are sold."""
WALLET = "demo-wallet-marketplace"
TWO_YEARS = dt.timedelta(days=730)


async def insert_network(
    db: AsyncSession,
    marketplace: MarketplaceRow,
    settings: Settings,
    first_partners: Sequence[tuple[PartnerRow, DemoPartner]],
    taxonomy: TaxonomyIds,
    now: dt.datetime,
) -> None:
    """Insert the network. `first_partners` are those with a log-in and a catalogue, with their content."""
    content, own = load_network(), [partner for partner, _ in first_partners]
    set_terms(marketplace, content)
    for partner in own:
        partner.linked_to_nv_settings = partner.linked_to_ngc_settings = True
    partners = [*own, *await insert_partners(db, marketplace, settings, content)]
    await insert_network_shop(db, marketplace, settings, content, first_partners[0][1], now)
    await insert_designs(db, marketplace, own[0], content)
    boxes = await insert_boxes(db, marketplace, content, now)
    await insert_offers(db, content, boxes, partners, taxonomy, now)
    await _open_wallet(db, marketplace, settings)
    await _insert_samples(db, marketplace, boxes[content.boxes[0].key], now)
    await _insert_sold(db, marketplace, now)


async def _open_wallet(db: AsyncSession, marketplace: MarketplaceRow, settings: Settings) -> None:
    """The own wallet of the marketplace, as `activateMarketplacePayments` opens it."""
    book_id = await book_of_marketplace(db, marketplace.id, is_live=True)
    opening = await begin_opening(db, book_id, marketplace.id)
    opening.provider_user_id = settings.platform_user_id
    opening.wallet_id = (await open_marketplace_wallet(db, book_id, WALLET)).id


async def _insert_samples(db: AsyncSession, marketplace: MarketplaceRow, box: BoxRow, now: dt.datetime) -> None:
    """An unused gift card and an unused voucher, which are shown to be tried."""
    people: dict[str, Any] = {
        "gifter_first_name": "Claire",
        "gifter_last_name": "Fontanel",
        "gifter_email": "claire@mail.example",
    }
    card = GiftCardRow(
        network_id=marketplace.id,
        code="",
        normal_code="",
        status=GiftCardStatus.PAID,
        created_on=now,
        starts_on=now,
        expires_on=now + TWO_YEARS,
        value_amount=Decimal("100.00"),
        remaining_amount=Decimal("100.00"),
        currency=marketplace.currency,
        **people,
    )
    voucher = NetworkVoucherRow(
        code="",
        normal_code="",
        status=NetworkVoucherStatus.PAID,
        created_on=now,
        starts_on=now,
        expires_on=now + TWO_YEARS,
        **people,
    )
    copy_box(voucher, box)
    await network_gift_cards.issue(db, card)
    await network_vouchers.issue(db, voucher)


async def _insert_sold(db: AsyncSession, marketplace: MarketplaceRow, now: dt.datetime) -> None:
    stock = await load_stock(db, marketplace)
    generator = NetworkGenerator(stock, load_large(), now)
    await db.flush()
    driver = await driver_of(db)
    await copy_network_cards(driver, [generator.gift_card(number) for number in range(1, CARDS + 1)], stock=stock)
    await copy_network_vouchers(driver, [generator.voucher(number) for number in range(1, VOUCHERS + 1)], stock=stock)
