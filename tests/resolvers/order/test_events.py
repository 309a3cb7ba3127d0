"""What shops are told of orders and their carts: once, with the documented keys, and only of what was committed."""

import asyncio
import re
import uuid
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.checkout import steps
from resolvers.payment.checkout import payment
from resolvers.payment.checkout.completion import PAYIN, read_attempt, sync_attempt
from schema.cart.cart import CartItem
from schema.checkout.checkout import ProductChoice
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.event import EVENT_DATA_KEYS, EVENT_EXAMPLES, EventType
from schema.validation.languages import LANGUAGES
from store.payment.attempts import AttemptState
from store.product.products import ProductRow, ProductVariantRow
from tests.fixtures.shop import BUYER, DECLINED_CARD, Shop

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


async def events(shop: Shop) -> list[tuple[str, str, dict[str, Any]]]:
    """The type, subject and data of all events, in the order in which they were written."""
    told = (
        "SELECT type, subject, data FROM event WHERE type NOT LIKE 'payment.%' AND type NOT LIKE 'refund.%' ORDER BY id"
    )
    rows = await shop.services.db.rows(text(told))
    return [(row[0], row[1], row[2]) for row in rows]


async def paid(shop: Shop, *choices: ProductChoice, **more: Any) -> uuid.UUID:
    """A checkout that a customer has paid for, not settled yet: the attempt."""
    key, seen = await shop.ready(*choices, **more)
    started = await shop.start(key, seen)
    await shop.pay(started)
    return started.attempt_id


ADDRESS = {
    "line_1": BUYER.address_line_1,
    "line_2": "",
    "postal_code": "75011",
    "city": "Paris",
    "country": "FR",
}


def _order_created(product: ProductRow, variant: ProductVariantRow) -> dict[str, Any]:
    """What is told of two large candles that are sent to Ada, but for which order it is."""
    line = {
        "product_id": product.id,
        "variant_id": variant.id,
        "voucher_id": None,
        "gift_card_id": None,
        "network_gift_card_id": None,
        "network_voucher_id": None,
        "name": {"en": "Candle", "fr": "Bougie"},
        "variant": {"en": "Large"},
        "choices": None,
        "quantity": 2,
        "vat_rate": "20.00",
        "unit_price": {"amount": "25.00", "currency": "EUR"},
        "total": {"amount": "50.00", "currency": "EUR"},
    }
    return {
        "kind": "products",
        "language": "en",
        "return_url": "https://shop.example/thanks",
        "message": "",
        "buyer": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com", "phone": ""},
        "delivery": {
            "kind": "home_delivery",
            "name": {"en": "home_delivery"},
            "recipient_name": "",
            "address": ADDRESS,
        },
        "products": [line],
        "products_total": {"amount": "50.00", "currency": "EUR"},
        "discount_total": {"amount": "0.00", "currency": "EUR"},
        "delivery_total": {"amount": "5.00", "currency": "EUR"},
        "total": {"amount": "55.00", "currency": "EUR"},
    }


async def test_an_order_tells_of_itself_its_payment_and_its_cart(shop: Shop) -> None:
    product = await shop.product("20.00")
    variant = await shop.variant(product, "25.00")
    card = await shop.gift_card("10.00")
    attempt_id = await paid(
        shop,
        ProductChoice(product.id, 2, variant.id),
        delivery=DeliveryKind.HOME_DELIVERY,
        codes=(card.code,),
        return_url="https://shop.example/thanks",
    )
    assert await events(shop) == []
    attempt = await sync_attempt(shop.services, attempt_id)
    order_id, order_uuid = (await shop.services.db.rows(text("SELECT id, uuid FROM shop_order")))[0]
    cart_id = str(attempt.cart_id)
    (created_type, created_of, created), (paid_type, paid_of, money), (cart_type, cart_of, cart) = await events(shop)
    assert (created_type, paid_type, cart_type) == ("order.created", "order.paid", "cart.completed")
    assert (created_of, paid_of, cart_of) == (str(order_id), str(order_id), cart_id)
    assert MOMENT.fullmatch(created.pop("created_on"))
    which = {"id": order_id, "uuid": str(order_uuid), "number": 1, "cart_id": cart_id}
    assert created == which | _order_created(product, variant)
    assert money == {
        **which,
        "total": {"amount": "55.00", "currency": "EUR"},
        "gift_card_total": {"amount": "10.00", "currency": "EUR"},
        "card_total": {"amount": "45.00", "currency": "EUR"},
    }
    assert cart == {
        "id": cart_id,
        "last_modified": attempt.cart_last_modified,
        "return_url": "https://shop.example/thanks",
        "order_id": order_id,
        "order_uuid": str(order_uuid),
        "order_number": 1,
    }


def shape(value: Any) -> Any:
    """The keys of some data, with the kinds of their values; texts in several languages have the languages there are."""
    if isinstance(value, dict):
        return Text if value.keys() <= set(LANGUAGES) else {key: shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else type(value)


async def test_what_is_told_has_the_shape_that_is_documented(shop: Shop) -> None:
    product = await shop.product()
    bought = ProductChoice(product.id, 2)
    await sync_attempt(
        shop.services, await paid(shop, bought, delivery=DeliveryKind.HOME_DELIVERY, return_url="https://shop.example/")
    )
    told = {EventType(kind): data for kind, _, data in await events(shop)}
    assert set(told) == {EventType.ORDER_CREATED, EventType.ORDER_PAID, EventType.CART_COMPLETED}
    for kind, data in told.items():
        assert set(data) == set(EVENT_DATA_KEYS[kind])
        assert shape(data) == shape(EVENT_EXAMPLES[kind]), kind
    for key in ("buyer", "delivery", "products"):
        example = EVENT_EXAMPLES[EventType.ORDER_CREATED][key]
        named = re.findall("`([a-z_]+)`", EVENT_DATA_KEYS[EventType.ORDER_CREATED][key])
        assert set(named) == set(example[0] if isinstance(example, list) else example), key


async def test_what_there_is_not_is_null(shop: Shop) -> None:
    product = await shop.product()
    await sync_attempt(shop.services, await paid(shop, ProductChoice(product.id, 1)))
    (_, _, created), *_ = await events(shop)
    assert (created["return_url"], created["delivery"]["address"]) == (None, None)


async def test_only_one_event_tells_who_bought(shop: Shop) -> None:
    product = await shop.product()
    await sync_attempt(
        shop.services, await paid(shop, ProductChoice(product.id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    )
    secrets = ("ada@example.com", "Martin", "Lilas")
    personal = {kind: any(secret in str(data) for secret in secrets) for kind, _, data in await events(shop)}
    assert personal == {"order.created": True, "order.paid": False, "cart.completed": False}


async def test_however_often_an_order_is_completed_it_is_told_once(shop: Shop) -> None:
    product = await shop.product()
    attempt_id = await paid(shop, ProductChoice(product.id, 1))
    await asyncio.gather(*(sync_attempt(shop.services, attempt_id) for _ in range(5)))
    await sync_attempt(shop.services, attempt_id)
    assert [kind for kind, _, _ in await events(shop)] == ["order.created", "order.paid", "cart.completed"]


async def test_each_of_two_orders_of_one_cart_is_told(shop: Shop) -> None:
    """A link that two people paid for: a shop that listens to carts only must hear of both."""
    product = await shop.product()
    attempts = []
    cart = await shop.cart(CartItem(product.id, 1))
    for _ in range(2):
        key = shop.key(cart)
        mode = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
        await steps.choose_items(shop.context, key, [ProductChoice(product.id, 1)], mode, "FR")
        started = await shop.start(key, await steps.identify_buyer(shop.context, key, BUYER))
        await shop.pay(started)
        attempts.append(started.attempt_id)
    for attempt_id in attempts:
        await sync_attempt(shop.services, attempt_id)
    completed = [data for kind, _, data in await events(shop) if kind == "cart.completed"]
    assert [data["order_number"] for data in completed] == [1, 2]
    assert {data["id"] for data in completed} == {str(cart.id)}


async def test_an_order_wholly_paid_by_gift_card_is_told(shop: Shop) -> None:
    product = await shop.product("20.00")
    card = await shop.gift_card("50.00")
    key, seen = await shop.ready(ProductChoice(product.id, 1), codes=(card.code,))
    await shop.start(key, seen)
    told = {kind: data for kind, _, data in await events(shop)}
    assert set(told) == {"order.created", "order.paid", "cart.completed"}
    assert told["order.paid"]["card_total"] == {"amount": "0.00", "currency": "EUR"}


async def test_nothing_is_told_of_a_payment_that_failed_or_was_given_up(shop: Shop) -> None:
    product = await shop.product()
    key, seen = await shop.ready(ProductChoice(product.id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started, DECLINED_CARD)
    await sync_attempt(shop.services, started.attempt_id)
    key, seen = await shop.ready(ProductChoice(product.id, 1))
    await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    assert await events(shop) == []


async def test_nothing_is_told_when_the_money_goes_back(shop: Shop) -> None:
    product = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(product.id, 1))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await shop.execute("UPDATE product SET stock = 0")
    await shop.pay(started)
    attempt = await sync_attempt(shop.services, started.attempt_id)
    assert attempt.state == "refunding"
    assert await events(shop) == []
    await sync_attempt(shop.services, started.attempt_id)
    assert await events(shop) == []


async def test_nothing_is_told_when_the_transaction_falls(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    product = await shop.product()
    attempt_id = await paid(shop, ProductChoice(product.id, 1))

    async def fails(*_: object, **__: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr("resolvers.payment.checkout.completion.enqueue_job", fails)
        with pytest.raises(ConnectionError):
            await sync_attempt(shop.services, attempt_id)
    assert (await shop.count("shop_order"), await events(shop)) == (0, [])
    await sync_attempt(shop.services, attempt_id)
    assert len(await events(shop)) == 3


async def test_texts_come_in_the_languages_there_are(shop: Shop) -> None:
    product = await shop.product(name=Text(de="Kerze"))
    await sync_attempt(shop.services, await paid(shop, ProductChoice(product.id, 1)))
    (_, _, created), *_ = await events(shop)
    assert created["products"][0]["name"] == {"de": "Kerze"}
    assert created["delivery"]["kind"] == "click_and_collect"


async def test_a_second_completion_of_a_finished_attempt_tells_nothing(shop: Shop) -> None:
    product = await shop.product("20.00")
    card = await shop.gift_card("50.00")
    key, seen = await shop.ready(ProductChoice(product.id, 1), codes=(card.code,))
    started = await shop.start(key, seen)
    before = await events(shop)
    attempt = await read_attempt(shop.services, started.attempt_id)
    assert (await PAYIN.look_up(shop.services, attempt, _no_payin())).state is AttemptState.COMPLETED
    assert await events(shop) == before


async def _no_payin() -> None:
    return None
