"""What a shop of experiences sells in tests: a stay, a massage for two with options, a meal."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.resource import Text
from store.catalogue.catalogue import (
    UniverseRow,
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from tests.fixtures.shop import Shop


@dataclass(frozen=True, slots=True)
class Experiences:
    """The experiences of a shop, and what can be added to the massage."""

    massage: VoucherPrototypeRow
    """For one to four; the price of 90.00 is for one, an adult more costs 80.00, a child 40.00. An oil must be chosen."""
    stay: VoucherPrototypeRow
    """At least two nights, 120.00 each, for two; a baby more is free."""
    meal: VoucherPrototypeRow
    """For exactly two, at 110.00."""
    lavender: VoucherOptionRow
    rose: VoucherOptionRow
    """The oils: one of them, and only one."""
    tea: VoucherOptionRow
    """Of the extras, two at most; more than once."""
    robe: VoucherOptionRow
    """Of the extras."""


async def _prototype(shop: Shop, universe: UniverseRow, name: Text, price: str, **more: Any) -> VoucherPrototypeRow:
    values: dict[str, Any] = {
        "description": Text(en="<p>Calm & warm.</p>", fr="<p>Calme et chaleur.</p>"),
        "long_description": Text(en="<p>All <strong>about</strong> it.</p>"),
        "how_to_book_html": Text(en="<p>Call us.</p>"),
        **more,
    }
    return await shop.add(
        VoucherPrototypeRow(
            partner_id=shop.partner.id,
            universe_id=universe.id,
            name=name,
            rent_conditions=Text(en="On weekdays.\nNot on holidays."),
            pdf_description=Text(),
            is_active=True,
            stay_price_amount=Decimal(price),
            vat_rate=Decimal("20.00"),
            **values,
        )
    )


async def _category(
    shop: Shop, name: Text, least: int | None, most: int | None, ranking: int
) -> VoucherOptionCategoryRow:
    return await shop.add(
        VoucherOptionCategoryRow(
            partner_id=shop.partner.id,
            name=name,
            description=Text(),
            min_number_options=least,
            max_number_options=most,
            ranking=ranking,
        )
    )


async def _option(
    shop: Shop,
    massage: VoucherPrototypeRow,
    of: VoucherOptionCategoryRow,
    name: Text,
    price: str,
    *,
    countable: bool = False,
) -> VoucherOptionRow:
    made = await shop.add(
        VoucherOptionRow(
            partner_id=shop.partner.id,
            category_id=of.id,
            name=name,
            description=Text(en="Very good."),
            selling_price_amount=Decimal(price),
            countable=countable,
        )
    )
    await shop.add(
        VoucherOptionLinkRow(
            partner_id=shop.partner.id, voucher_prototype_id=massage.id, option_id=made.id, included=False
        )
    )
    return made


async def _massage(shop: Shop, universe: UniverseRow) -> VoucherPrototypeRow:
    return await _prototype(
        shop,
        universe,
        Text(en="Massage by the fire", fr="Massage au coin du feu"),
        "90.00",
        type=VoucherPrototypeType.STANDARD,
        is_highlight=True,
        max_capacity=4,
        adults_price_amount=Decimal("80.00"),
        children_price_amount=Decimal("40.00"),
    )


async def _stay(shop: Shop, universe: UniverseRow) -> VoucherPrototypeRow:
    return await _prototype(
        shop,
        universe,
        Text(en="Nights above the lake"),
        "120.00",
        type=VoucherPrototypeType.STAY,
        price_scope=2,
        max_capacity=3,
        nb_nights=2,
        baby_price_amount=Decimal("0.00"),
        ranking=2,
    )


async def _meal(shop: Shop, universe: UniverseRow) -> VoucherPrototypeRow:
    return await _prototype(
        shop,
        universe,
        Text(en="Table for two"),
        "110.00",
        type=VoucherPrototypeType.STANDARD,
        price_scope=2,
        min_capacity=2,
        max_capacity=2,
        ranking=3,
    )


async def experiences(shop: Shop) -> Experiences:
    """Fill the shop window."""
    universe = await shop.add(
        UniverseRow(marketplace_id=shop.partner.marketplace_id, name=Text(en="Spa", fr="Bien-être"))
    )
    massage = await _massage(shop, universe)
    stay, meal = await _stay(shop, universe), await _meal(shop, universe)
    oils = await _category(shop, Text(en="Your oil", fr="Votre huile"), 1, 1, 1)
    extras = await _category(shop, Text(en="Extras"), None, 2, 2)
    return Experiences(
        massage=massage,
        stay=stay,
        meal=meal,
        lavender=await _option(shop, massage, oils, Text(en="Lavender"), "0.00"),
        rose=await _option(shop, massage, oils, Text(en="Rose"), "12.00"),
        tea=await _option(shop, massage, extras, Text(en="Tea"), "6.00", countable=True),
        robe=await _option(shop, massage, extras, Text(en="Robe"), "15.00"),
    )
