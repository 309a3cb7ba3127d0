"""Customers: who has bought, what, and who may see it."""

from decimal import Decimal
from typing import Any

import orjson
import pytest
from sqlalchemy import text

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.personal_data.operations import erase_personal_data
from schema.checkout.checkout import ProductChoice
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.personal_data.input import ErasePersonalData
from schema.root import schema
from store.customer import CustomerRow
from tests.fixtures.basket import Experiences, bought, card_of, for_two
from tests.fixtures.payment.mixed_order import mixed_shop
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import BUYER, Shop

GRAPH = GraphQLServer(schema)
CUSTOMERS = """query($filter: CustomerFilter, $order: CustomerSort! = NEWEST, $first: Int = 20, $after: String) {
    customers(filter: $filter, orderBy: $order, first: $first, after: $after) {
        nodes { id firstName lastName email purchases { orderCount firstOrderOn lastOrderOn spent { amount currency } } }
        pageInfo { hasNextPage endCursor } } }"""
ORDERS = "query($filter: OrderFilter) { orders(filter: $filter, orderBy: OLDEST) { nodes { number } } }"


def staff(shop: Shop, *permissions: Permission, partner_id: int | None = None) -> Context:
    """A user of a partner, by default of the shop."""
    granted = frozenset(permissions or GRANTABLE_PERMISSIONS)
    return Context(
        shop.services, Caller(Role.PARTNER, user_id=1, partner_id=partner_id or shop.partner.id, permissions=granted)
    )


async def ask(context: Context, query: str = CUSTOMERS, **variables: Any) -> Any:
    """The body of an answer."""
    response = await GRAPH.execute(GraphQLRequest(query, variables=variables), context)
    return orjson.loads(orjson.dumps(response.body))


async def listed(shop: Shop, context: Context | None = None, **variables: Any) -> list[dict[str, Any]]:
    """The customers of a list."""
    body = await ask(context or staff(shop), **variables)
    assert "errors" not in body, body
    return list(body["data"]["customers"]["nodes"])


async def emails(shop: Shop, **variables: Any) -> list[str]:
    """The addresses of a list."""
    return [node["email"] for node in await listed(shop, **variables)]


async def person(shop: Shop, first: str, last: str, email: str, **more: Any) -> CustomerRow:
    """Somebody whom the shop knows."""
    row = CustomerRow(partner_id=shop.partner.id, first_name=first, last_name=last, email=email, **more)
    row.normal_email = email.lower() or None
    return await shop.add(row)


async def paid(shop: Shop, customer: CustomerRow, amount: str, *, status: str = "ok", currency: str = "EUR") -> None:
    """A payment without an order."""
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    copied = {"payment_amount": amount, "card_amount": amount, "net_amount": amount, "extra_amount": "0"}
    assigned = ", ".join(f"{name} = {value}" for name, value in copied.items())
    await shop.execute(
        f"UPDATE payment SET customer_id = :id, order_id = NULL, attempt_id = NULL, status = :status, currency = :currency, "  # noqa: S608
        f"commission_amount = 0, customer_email = :email, {assigned} "
        "WHERE order_id = (SELECT max(id) FROM shop_order)",
        id=customer.id,
        status=status,
        currency=currency,
        email=customer.email,
    )
    for table in ("order_vat", "order_product", "shop_order"):
        await shop.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of this test


async def test_a_buyer_of_goods_is_a_customer_with_what_was_bought(shop: Shop) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 2))
    await ordered(shop, ProductChoice(candle.id, 1))
    await refunded(shop, 0)
    (customer,) = await listed(shop)
    assert (customer["firstName"], customer["lastName"], customer["email"]) == (
        BUYER.first_name,
        BUYER.last_name,
        BUYER.email,
    )
    purchases = customer["purchases"]
    assert purchases["orderCount"] == 2
    assert purchases["firstOrderOn"] < purchases["lastOrderOn"]
    assert purchases["spent"] == [{"amount": "40.00", "currency": "EUR"}]


async def test_giftees_are_no_customers_before_they_buy(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    assert await shop.count("customer") == 2
    assert await emails(shop) == [BUYER.email]


async def test_capitals_make_no_other_customer(shop: Shop) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 1))
    await ordered(shop, ProductChoice(candle.id, 1))
    await shop.execute("UPDATE shop_order SET buyer_email = upper(buyer_email) WHERE number = 2")
    (customer,) = await listed(shop)
    assert customer["purchases"]["orderCount"] == 2
    body = await ask(staff(shop), ORDERS, filter={"customerId": customer["id"]})
    assert body["data"]["orders"]["nodes"] == [{"number": 1}, {"number": 2}]
    assert await emails(shop, filter={"email": BUYER.email.upper()}) == [BUYER.email]


async def test_payments_without_an_order_make_customers_too(shop: Shop) -> None:
    zoe = await person(shop, "Zoé", "Adler", "zoe@example.com")
    await person(shop, "No", "Payment", "none@example.com")
    await paid(shop, zoe, "12.50")
    (customer,) = await listed(shop, filter={"search": "adler"})
    assert customer["purchases"] == {
        "orderCount": 0,
        "firstOrderOn": None,
        "lastOrderOn": None,
        "spent": [{"amount": "12.50", "currency": "EUR"}],
    }
    assert await emails(shop, filter={"search": "none@"}) == []
    await shop.execute("UPDATE payment SET status = 'err'")
    assert await emails(shop, filter={"search": "adler"}) == []


async def test_they_are_searched_and_sorted_page_by_page(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    for name in ("Éluard", "Char", "Desnos"):
        await person(shop, "P", name, f"{name.lower()}@example.com")
    await shop.execute("ALTER TABLE shop_order DISABLE TRIGGER ALL")
    await shop.execute(
        "INSERT INTO shop_order (partner_id, number, attempt_id, uuid, status, kind, created_on, language, cart_id, message, "
        "buyer_first_name, buyer_last_name, buyer_email, buyer_phone, delivery_kind, delivery_name, recipient_name, currency, "
        "products_amount, discount_amount, delivery_amount, delivery_refunded_amount, total_amount, gift_card_amount, card_amount, "
        "has_network_lines) SELECT o.partner_id, 100 + c.id, gen_random_uuid(), gen_random_uuid(), o.status, o.kind, o.created_on, "
        "o.language, o.cart_id, '', c.first_name, c.last_name, c.email, '', o.delivery_kind, o.delivery_name, '', o.currency, "
        "o.products_amount, o.discount_amount, o.delivery_amount, 0, o.total_amount, o.gift_card_amount, o.card_amount, false "
        "FROM shop_order o, customer c WHERE c.normal_email LIKE '%@example.com' AND c.first_name = 'P'"
    )
    assert [node["lastName"] for node in await listed(shop, filter={"search": "eluard"})] == ["Éluard"]
    assert len(await emails(shop)) == 4
    seen, after = list[str](), None
    while True:
        page = (await ask(staff(shop), order="NAME", first=2, after=after))["data"]["customers"]
        seen += [node["lastName"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert set(seen) == {BUYER.last_name, "Éluard", "Char", "Desnos"}
    assert seen.index("Char") < seen.index("Desnos")
    assert len(seen) == 4


async def test_who_was_erased_vanishes(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    await shop.execute("UPDATE shop_order SET fulfilment_state = NULL")
    await shop.execute("UPDATE mail SET state = 'sent'")
    assert await emails(shop) == [BUYER.email]
    context = staff(shop, *GRANTABLE_PERMISSIONS, Permission.MANAGE_PERSONAL_DATA)
    await erase_personal_data(context, ErasePersonalData(email=BUYER.email))
    assert await emails(shop) == []
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    (customer,) = await listed(shop)
    assert customer["purchases"]["orderCount"] == 1, "the erased order is nobody's"


async def test_other_partners_see_none(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    (customer,) = await listed(shop)
    neighbour = staff(shop, *GRANTABLE_PERMISSIONS, partner_id=shop.partner.id + 1)
    assert await listed(shop, neighbour) == []
    found = await ask(neighbour, "query($id: Int!) { customer(id: $id) { email } }", id=customer["id"])
    assert found["data"]["customer"] is None
    assert (await ask(neighbour, ORDERS, filter={"customerId": customer["id"]}))["data"]["orders"]["nodes"] == []
    body = await ask(staff(shop, Permission.VIEW_VOUCHER))
    assert [error["extensions"]["code"] for error in body["errors"]] == ["FORBIDDEN"]


@pytest.mark.parametrize("spelled", ["{}", " {} ", "lower"])
async def test_orders_are_found_by_the_code_of_what_they_issued(shop: Shop, sold: Experiences, spelled: str) -> None:
    await bought(shop, for_two(sold))
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    code = await shop.one("SELECT code FROM voucher")
    typed = code.lower().replace("-", " ") if spelled == "lower" else spelled.format(code)
    body = await ask(staff(shop), ORDERS, filter={"code": typed})
    assert body["data"]["orders"]["nodes"] == [{"number": 1}]
    assert (await ask(staff(shop), ORDERS, filter={"code": "ABCD-EFGH"}))["data"]["orders"]["nodes"] == []
    neighbour = staff(shop, *GRANTABLE_PERMISSIONS, partner_id=shop.partner.id + 1)
    assert (await ask(neighbour, ORDERS, filter={"code": typed}))["data"]["orders"]["nodes"] == []


async def test_a_code_finds_nothing_for_who_may_not_see_it(shop: Shop) -> None:
    network, own = await mixed_shop(shop)
    await bought(shop, for_two(own), card_of("50.00"), network.cards("60.00"), network.boxes())
    statement = """SELECT coalesce(v.code, c.code, n.code) FROM order_product l LEFT JOIN voucher v ON v.id = l.voucher_id
        LEFT JOIN gift_card c ON c.id = coalesce(l.gift_card_id, l.network_gift_card_id)
        LEFT JOIN network_voucher n ON n.id = l.network_voucher_id
        ORDER BY v.id IS NULL, l.gift_card_id IS NULL, c.id IS NULL"""
    codes = [row[0] for row in await shop.services.db.rows(text(statement))]

    async def matches(context: Context) -> list[bool]:
        bodies = [await ask(context, ORDERS, filter={"code": code}) for code in codes]
        return [body["data"]["orders"]["nodes"] == [{"number": 1}] for body in bodies]

    looks = Permission.VIEW_ORDER
    assert await matches(staff(shop)) == [True, True, False, False], "codes of a network are not a partner's"
    assert await matches(market(shop)) == [True] * 4
    assert await matches(staff(shop, looks)) == [False] * 4
    assert await matches(staff(shop, looks, Permission.VIEW_VOUCHER)) == [True, False, False, False]
    assert await matches(staff(shop, looks, Permission.VIEW_GIFT_CARD)) == [False, True, False, False]


async def test_what_is_spent_is_told_in_each_currency(shop: Shop) -> None:
    zoe = await person(shop, "Zoé", "Adler", "zoe@example.com")
    await paid(shop, zoe, "12.50", currency="CHF")
    await paid(shop, zoe, "7.00")
    (customer,) = await listed(shop, filter={"search": "adler"})
    spent = {each["currency"]: Decimal(each["amount"]) for each in customer["purchases"]["spent"]}
    assert spent == {"CHF": Decimal("12.50"), "EUR": Decimal("7.00")}
