"""Reading orders: what was sold, as it was that day, and the lists that find it again."""

import datetime as dt
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from resolvers import product
from resolvers.core.lists.listing import PageArguments
from resolvers.order import orders
from resolvers.order.orders import OrderFilter, OrderSort
from resolvers.payment.checkout import payment
from schema.cart.cart import CartItem
from schema.catalogue.prototype import VoucherPrototypeType
from schema.checkout.checkout import ProductChoice
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.product.input import UpdateProduct
from schema.voucher.voucher import VoucherState
from store.catalogue.catalogue import UniverseRow, VoucherPrototypeRow
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.issuing import NewGiftCard, issue_gift_card
from store.order.orders import OrderProductRow
from store.partner.partners import PartnerRow
from store.voucher.issuing import NewVoucher, issue_voucher
from store.voucher.vouchers import VoucherRow
from tests.fixtures.shop import BUYER, Shop
from tests.fixtures.tenants import Tenants

TEXTS = ("name", "description", "long_description", "rent_conditions", "how_to_book_html", "pdf_description")


async def order_of(shop: Shop, *choices: ProductChoice, **more: Any) -> int:
    """Buy something with a gift card that covers it; answers the order's id."""
    card = await shop.gift_card("5000.00")
    more["codes"] = (*more.get("codes", ()), card.code)
    key, seen = await shop.ready(*choices, **more)
    started = await shop.start(key, seen)
    assert (await payment.payment_outcome(shop.context, key)).order_path
    return int(await shop.one("SELECT id FROM shop_order WHERE attempt_id = :id", id=started.attempt_id))


async def ids(shop: Shop, order: OrderSort | None = None, **filter: Any) -> list[int]:
    found = await orders.orders(shop.manager, PageArguments(), OrderFilter(**filter), order)
    return [row.id for row in await found.rows.objects()]


async def test_an_order_keeps_the_names_and_prices_of_its_day(shop: Shop) -> None:
    candle = await shop.product("20.00", vat_rate=Decimal("20.00"))
    large = await shop.variant(candle, "30.00")
    honey = await shop.product("8.00", vat_rate=Decimal("5.50"), name=Text(en="Honey"))
    coupon = await shop.coupon(percentage="10.00")
    choices = [ProductChoice(candle.id, 2, large.id), ProductChoice(honey.id, 1)]
    made = await order_of(shop, *choices, codes=(coupon.code,), delivery=DeliveryKind.HOME_DELIVERY)
    change = UpdateProduct.model_validate(
        {"id": candle.id, "name": {"en": "Renamed"}, "price": "1.00", "vat_rate": "0"}
    )
    await product.update_product(shop.manager, change)

    order = await (await orders.order(shop.manager, made)).object()
    delivery, buyer = order.delivery(), order.buyer()
    assert (order.number, delivery.kind, delivery.address.country) == (1, DeliveryKind.HOME_DELIVERY, "FR")
    assert (buyer.first_name, buyer.email, delivery.address.city) == (BUYER.first_name, BUYER.email, BUYER.city)
    lines = await shop.services.db.rows(
        text("SELECT name->>'en', quantity, unit_price_amount, vat_rate FROM order_product ORDER BY id")
    )
    assert [tuple(line) for line in lines] == [
        ("Candle", 2, Decimal("30.00"), Decimal("20.00")),
        ("Honey", 1, Decimal("8.00"), Decimal("5.50")),
    ]
    assert await shop.one("SELECT name->>'en' FROM order_variant") == "Large"
    assert await shop.one("SELECT sum(gross_amount) FROM order_vat") == Decimal("66.20")
    assert await shop.one("SELECT total_amount FROM shop_order") == Decimal("66.20")  # 61.20 and delivery
    assert await shop.one("SELECT discount_amount FROM order_discount") == Decimal("6.80")


async def test_an_order_is_found_by_its_id_and_its_uuid(shop: Shop) -> None:
    made = await order_of(shop, ProductChoice((await shop.product()).id, 1))
    uuid = await shop.one("SELECT uuid FROM shop_order")
    for found in (await orders.order(shop.manager, made), await orders.order_with_uuid(shop.manager, uuid)):
        assert (await found.object()).id == made
    with pytest.raises(NotFound, match="No such order"):
        await (await orders.order(shop.manager, made + 1)).object()


async def test_orders_are_filtered_each_end_of_a_period_included(shop: Shop) -> None:
    candle = await shop.product()
    made: list[int] = []
    for kind in (DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT):
        made.append(await order_of(shop, ProductChoice(candle.id, len(made) + 1), delivery=kind))
        clock.advance(dt.timedelta(hours=1))
    times = [row[0] for row in await shop.services.db.rows(text("SELECT created_on FROM shop_order ORDER BY id"))]
    cart = await shop.one("SELECT cart_id FROM shop_order WHERE id = :id", id=made[1])
    assert await ids(shop) == made[::-1]
    assert await ids(shop, OrderSort.OLDEST) == made
    assert await ids(shop, OrderSort.TOTAL) == [made[0], made[1], made[2]]
    assert await ids(shop, OrderSort.TOTAL_DESCENDING) == made[::-1]
    assert await ids(shop, created_from=times[1]) == [made[2], made[1]]
    assert await ids(shop, created_until=times[1]) == [made[1], made[0]]
    assert await ids(shop, created_from=times[1], created_until=times[1]) == [made[1]]
    assert await ids(shop, created_from=times[2] + dt.timedelta(microseconds=1)) == []
    assert await ids(shop, delivery_kind=DeliveryKind.HOME_DELIVERY) == [made[1]]
    assert await ids(shop, number=2) == [made[1]]
    assert await ids(shop, cart_id=cart) == [made[1]]
    assert await ids(shop, buyer_email=BUYER.email) == made[::-1]
    assert await ids(shop, buyer_email="somebody@else.example") == []
    assert await ids(shop, status="refunded") == []


async def test_a_cart_is_known_by_its_order(shop: Shop) -> None:
    cart = await shop.cart(CartItem((await shop.product()).id, 1))
    assert await ids(shop, cart_id=cart.id) == []


async def test_an_order_is_read_whole_over_graphql(tenants: Tenants) -> None:
    query = """query($id: Int!, $uuid: UUID!) {
        order(id: $id) { number total { amount currency } products { quantity } payments { sources { kind } } vat { rate } }
        sameOrder: order(uuid: $uuid) { id }
        orders(filter: {buyerEmail: "buyer@a1.example"}) { totalCount nodes { number delivery { kind address { city } } buyer { email } } } }"""
    mine = tenants.owned["a1"]
    body = await tenants.graphql("a1", query, id=mine.order, uuid=mine.order_uuid)
    assert body["data"] == {
        "order": {
            "number": 1,
            "total": {"amount": "0.00", "currency": "EUR"},
            "products": [],
            "payments": [],
            "vat": [],
        },
        "sameOrder": {"id": mine.order},
        "orders": {
            "totalCount": 1,
            "nodes": [
                {"number": 1, "delivery": {"kind": "DIGITAL", "address": None}, "buyer": {"email": "buyer@a1.example"}}
            ],
        },
    }


async def massage(tenants: Tenants, partner: PartnerRow, price: Decimal) -> int:
    """The id of a prototype."""
    universe = await tenants.add(UniverseRow(marketplace_id=partner.marketplace_id, name=Text(en="Spa")))
    texts: dict[str, Any] = {name: Text(en="Massage") for name in TEXTS}
    row: VoucherPrototypeRow = await tenants.add(
        VoucherPrototypeRow(
            partner_id=partner.id,
            universe_id=universe.id,
            type=VoucherPrototypeType.STANDARD,
            slug=uuid4().hex,
            stay_price_amount=price,
            vat_rate=Decimal("20.00"),
            **texts,
        )
    )
    return row.id


async def issued_with_the_order(tenants: Tenants) -> tuple[VoucherRow, GiftCardRow]:
    """A voucher and a gift card that came with the order of the first partner, a line each."""
    partner, order_id = tenants.partners["a1"], tenants.owned["a1"].order
    price = Decimal("90.00")
    prototype_id = await massage(tenants, partner, price)
    prices = ("rent_price_amount", "total_price_amount", "bought_rent_price_amount", "purchase_price_amount")
    paid: dict[str, Any] = dict.fromkeys(prices, price)
    async with tenants.services.db.sessions() as db, db.begin():
        sold = VoucherRow(
            partner_id=partner.id,
            voucher_prototype_id=prototype_id,
            order_id=order_id,
            state=VoucherState.PAID,
            **paid,
        )
        voucher = await issue_voucher(db, NewVoucher(sold), clock.now())
        card = await issue_gift_card(
            db, NewGiftCard(partner_id=partner.id, value=price, currency="EUR", order_id=order_id), clock.now()
        )
        line: dict[str, Any] = {"partner_id": partner.id, "order_id": order_id, "quantity": 1, "name": Text(en="It")}
        money: dict[str, Any] = {"vat_rate": Decimal(0), "unit_price_amount": price, "total_amount": price}
        db.add(OrderProductRow(**line, **money, voucher_id=voucher.id))
        await db.flush()
        db.add(OrderProductRow(**line, **money, gift_card_id=card.id))
    return voucher, card


ISSUED = """query($id: Int!) { order(id: $id) { kind products {
    productId voucher { code prototype { id } } giftCard { id value { amount } } } } }"""


async def test_the_lines_of_an_order_name_what_was_issued(tenants: Tenants) -> None:
    voucher, card = await issued_with_the_order(tenants)
    order_id = tenants.owned["a1"].order
    body = await tenants.graphql("a1", ISSUED, id=order_id)
    assert body["data"]["order"] == {
        "kind": "PRODUCTS",
        "products": [
            {
                "productId": None,
                "voucher": {"code": voucher.code, "prototype": {"id": voucher.voucher_prototype_id}},
                "giftCard": None,
            },
            {"productId": None, "voucher": None, "giftCard": {"id": card.id, "value": {"amount": "90.00"}}},
        ],
    }
    assert (await tenants.graphql("b1", ISSUED, id=order_id))["data"]["order"] is None


async def test_what_was_issued_is_named_to_whom_it_is_shown(tenants: Tenants) -> None:
    voucher, card = await issued_with_the_order(tenants)
    order_id, partner_id = tenants.owned["a1"].order, tenants.partners["a1"].id
    await tenants.user("clerk", "partner", [Permission.VIEW_ORDER, Permission.VIEW_VOUCHER], partner_id=partner_id)
    body = await tenants.graphql("clerk", ISSUED, id=order_id)
    assert [line["voucher"] is None for line in body["data"]["order"]["products"]] == [False, True]
    assert [(error["path"], error["extensions"]["code"]) for error in body["errors"]] == [
        (["order", "products", at, "giftCard"], "FORBIDDEN") for at in range(2)
    ]
    await tenants.user("cleaner", "partner", [Permission.VIEW_ORDER], partner_id=partner_id)
    body = await tenants.graphql("cleaner", "{ orders { nodes { products { name { en } voucher { code } } } } }")
    assert {error["extensions"]["code"] for error in body["errors"]} == {"FORBIDDEN"}
    assert voucher.code not in str(body)
    assert card.code not in str(body)
