"""A network in tests of the venue page: the shop takes part, with gift cards, and with vouchers of a box that it has offers for."""

import datetime as dt
from decimal import Decimal
from typing import Any

from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.network.voucher import NetworkVoucherStatus
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.network.boxes import BoxRow, OfferRow
from store.network.voucher_issuing import copy_box, network_vouchers
from store.network.vouchers import NetworkVoucherRow
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network_prints import card_of
from tests.fixtures.shop import Shop
from tests.funnel.redemption.fixtures import Venue


async def link(shop: Shop, *, linked: bool = True) -> None:
    """Let the shop take part in the gift cards and vouchers of its network, or not."""
    await shop.execute(
        "UPDATE partner SET linked_to_ngc_settings = :linked, linked_to_nv_settings = :linked WHERE id = :id",
        linked=linked,
        id=shop.partner.id,
    )


async def network_card(shop: Shop, value: str = "100.00", **more: Any) -> GiftCardRow:
    """A gift card of the shop's network."""
    amount = Decimal(value)
    return await card_of(shop, **{"value_amount": amount, "remaining_amount": amount, **more})


async def card_state(shop: Shop, card: GiftCardRow) -> tuple[str, Decimal]:
    """The stored status of a card, and what is left of it."""
    found = {"id": card.id}
    left = await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", **found)
    return str(await shop.one("SELECT status FROM gift_card WHERE id = :id", **found)), left


async def box_of(shop: Shop, **more: Any) -> BoxRow:
    """A box of the shop's network, for two persons."""
    values: dict[str, Any] = {
        "name": Text(en="Spa day for two"),
        "short_description": Text(),
        "long_description": Text(),
        "price_amount": Decimal("90.00"),
        "price_scope": 2,
        "is_active": True,
        "created_on": clock.now(),
        **more,
    }
    return await shop.add(BoxRow(marketplace_id=shop.partner.marketplace_id, currency="EUR", **values))


async def offer_of(shop: Shop, box: BoxRow, name: str = "A massage", **more: Any) -> OfferRow:
    """An accepted offer of the shop for a box."""
    now = clock.now()
    values: dict[str, Any] = {
        "partner_id": shop.partner.id,
        "name": Text(en=name),
        "description": Text(),
        "terms_of_use": Text(en="From Monday to Thursday."),
        "status": OfferStatus.ACCEPTED,
        **dict.fromkeys(("created_on", "edited_on", "submitted_on", "accepted_on"), now),
        **more,
    }
    return await shop.add(OfferRow(box_id=box.id, marketplace_id=box.marketplace_id, **values))


async def network_voucher(shop: Shop, box: BoxRow, **more: Any) -> NetworkVoucherRow:
    """A voucher of a box, which can be used."""
    values: dict[str, Any] = {
        "status": NetworkVoucherStatus.PAID,
        "created_on": clock.now(),
        "gifter_first_name": "Ada",
        "gifter_email": "ada@example.com",
        "expires_on": clock.now() + dt.timedelta(days=365),
        **more,
    }
    voucher = NetworkVoucherRow(code="", normal_code="", **values)
    copy_box(voucher, box)
    async with shop.services.db.sessions() as db, db.begin():
        await network_vouchers.issue(db, voucher)
    return voucher


async def voucher_state(shop: Shop, voucher: NetworkVoucherRow) -> tuple[str, int]:
    """The stored status of a voucher, and how often it was used."""
    count = await shop.one("SELECT usage_count FROM network_voucher WHERE id = :id", id=voucher.id)
    return str(await shop.one("SELECT status FROM network_voucher WHERE id = :id", id=voucher.id)), int(count)


async def usage_rows(venue: Venue) -> int:
    """How many usages there are, of gift cards and of vouchers."""
    return await venue.shop.count("network_gift_card_usage") + await venue.shop.count("network_voucher_usage")


async def is_proved(venue: Venue) -> bool:
    """Whether the rules of networks hold; an AssertionError names those that do not."""
    broken = await broken_rules(venue.shop.services.db)
    assert not broken, broken
    return True
