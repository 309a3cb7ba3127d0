"""A partner that does not sell: its shops are closed, no payment begins, and those that are under way finish."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from decimal import Decimal

import pytest
from sqlalchemy import text
from sqlmodel import select

from resolvers.catalogue.catalogue_page import get_catalogue_page
from resolvers.checkout import basket, steps
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.kyc.capability import payment_capability
from resolvers.partner.partners import update_partner
from resolvers.partner.selling import may_sell
from resolvers.payment.checkout import payment, polling
from schema.catalogue.catalogue_page import CatalogueQuery
from schema.checkout.checkout import (
    AgreedTotals,
    CheckoutKey,
    CheckoutKind,
    CheckoutNotice,
    CheckoutStep,
    PaymentAttemptStatus,
    ProductChoice,
)
from schema.core.errors import PartnerInactive
from schema.core.permission import GRANTABLE_PERMISSIONS
from schema.coupon.coupon import ReceptionMode
from schema.kyc.capability import DisabledCapabilityReason
from schema.partner.input import UpdatePartner
from schema.partner.partner import PartnerStatus
from store.core.settings.provider import ProviderName
from store.partner.partners import PartnerRow
from tests.fixtures.basket import Experiences, card_of, fill_basket, for_two, new_key
from tests.fixtures.shop import BUYER, DECLINED_CARD, Shop


async def put(shop: Shop, status: str) -> None:
    """Change the status of the shop's partner, as its marketplace does."""
    market = Context(
        shop.services, Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, marketplace_id=shop.partner.marketplace_id)
    )
    sent = {"uuid": shop.partner.uuid, "status": status}
    await update_partner(market, UpdatePartner.model_validate(sent))


@pytest.mark.parametrize(
    ("status", "sandbox", "real"),
    [
        (PartnerStatus.ACTIVE, True, True),
        (PartnerStatus.TEST, True, False),
        (PartnerStatus.INACTIVE, False, False),
        (PartnerStatus.NEW, False, False),
        (None, False, False),
    ],
)
async def test_who_may_sell(shop: Shop, status: PartnerStatus | None, sandbox: bool, real: bool) -> None:
    assert may_sell(shop.services, status) is sandbox
    shop.services.settings.provider = ProviderName.MANGOPAY
    assert may_sell(shop.services, status) is real


async def test_every_shop_of_a_partner_that_does_not_sell_is_closed(shop: Shop, sold: Experiences) -> None:
    candle = await shop.product()
    goods, seen = await shop.ready(ProductChoice(candle.id, 1))
    vouchers, opened = await fill_basket(shop, for_two(sold))
    cards, _ = await fill_basket(shop, card_of("50.00"))
    await put(shop, "i")
    line = next(iter(opened.basket_lines)).id
    asked: list[Callable[[], Awaitable[object]]] = [
        lambda: get_catalogue_page(shop.context, CatalogueQuery()),
        lambda: basket.open_prototype(shop.context, sold.massage.id),
        lambda: basket.open_basket(shop.context, new_key()),
        lambda: basket.open_basket(shop.context, new_key()),
        lambda: basket.put_line(shop.context, vouchers, line, for_two(sold, adults=1)),
        lambda: basket.remove_line(shop.context, vouchers, line),
        lambda: basket.price_line(shop.context, vouchers, None, None),
        lambda: basket.choose_reception(shop.context, cards, ReceptionMode.GIFTEE_EMAIL),
        lambda: steps.price_items(shop.context, goods, [ProductChoice(candle.id, 2)], None),
        lambda: steps.choose_items(shop.context, goods, [ProductChoice(candle.id, 2)], None),
        lambda: steps.remove_code(shop.context, goods, "x"),
        lambda: steps.apply_code(shop.context, goods, "WELCOME10"),
    ]
    for key in (goods, vouchers, cards):
        asked += [
            lambda key=key: steps.open_checkout(shop.context, key),  # type: ignore[misc]
            lambda key=key: steps.identify_buyer(shop.context, key, BUYER),  # type: ignore[misc]
            lambda key=key: payment.start_payment(shop.context, key, AgreedTotals.of(seen.totals), "en", "https://x/"),  # type: ignore[misc]
        ]
    for ask in asked:
        with pytest.raises(PartnerInactive):
            await ask()
    assert await shop.count("checkout_attempt") == 0
    await put(shop, "a")
    again = await steps.open_checkout(shop.context, goods)
    assert (again.lines, again.furthest_step) == (seen.lines, CheckoutStep.PAYMENT), "what was chosen was kept"
    assert (await basket.open_basket(shop.context, vouchers)).basket_lines == opened.basket_lines


@pytest.mark.parametrize("finish", ["customer", "notification", "worker"])
async def test_a_payment_under_way_finishes(shop: Shop, finish: str) -> None:
    candle = await shop.product(stock=3)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await put(shop, "i")
    again = await shop.start(key, seen)
    assert again == started, "the button pressed once more leads to the same payment"
    shown = await steps.open_checkout(shop.context, key)
    assert (shown.pending_payment_url, CheckoutNotice.SHOP_CLOSED in shown.notices) == (started.redirect_url, True)
    await shop.pay(started)
    if finish == "notification":
        await polling.handle_notification(shop.services, await shop.payin_of(started.attempt_id))
    elif finish == "worker":
        await polling.CHECKS.poll(shop.services, started.attempt_id)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert (outcome.status, await shop.count("shop_order")) == (PaymentAttemptStatus.COMPLETED, 1)
    assert (await shop.order_page(await payment.payment_outcome(shop.context, key))).number == 1


async def test_a_payment_that_failed_is_not_begun_anew(shop: Shop) -> None:
    candle = await shop.product(stock=3)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await put(shop, "i")
    await shop.pay(started, DECLINED_CARD)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.FAILED
    with pytest.raises(PartnerInactive):
        await shop.start(key, seen)
    assert (await shop.count("checkout_attempt"), await shop.one("SELECT stock FROM product")) == (1, 3)


async def test_a_payment_under_way_is_not_exchanged_for_another(shop: Shop) -> None:
    candle = await shop.product(stock=3)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await put(shop, "i")
    more = await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 2)], seen.delivery_id, "FR")
    with pytest.raises(PartnerInactive):
        await shop.start(key, more)
    assert await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=started.attempt_id) == "open"
    assert (await shop.count("checkout_attempt"), await shop.one("SELECT stock FROM product")) == (1, 2)
    with pytest.raises(PartnerInactive):
        await payment.cancel_payment(shop.context, key)
    assert await shop.one("SELECT stock FROM product") == 3, "given up, it lets go what it held"


async def test_nothing_is_sold_for_a_gift_card_either(shop: Shop) -> None:
    candle, card = await shop.product(stock=3), await shop.gift_card("50.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(card.code,))
    assert seen.totals.by_card == Decimal("0.00")
    await put(shop, "i")
    with pytest.raises(PartnerInactive):
        await shop.start(key, seen)
    assert (await shop.one("SELECT remaining_amount FROM gift_card"), await shop.count("shop_order")) == (50, 0)


async def test_a_partner_made_inactive_while_a_payment_begins(shop: Shop) -> None:
    """Whoever presses pay waits for the change that is under way, and then begins nothing."""
    candle, coupon = await shop.product(stock=3), await shop.coupon(max_usages=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(coupon.code,))
    async with shop.services.db.sessions() as db, db.begin():
        row = (await db.exec(select(PartnerRow).with_for_update())).one()
        row.status = PartnerStatus.INACTIVE
        await db.flush()
        pressed = asyncio.create_task(shop.start(key, seen))
        await shop.becomes("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", 1)
        assert not pressed.done()
    with pytest.raises(PartnerInactive):
        await pressed
    assert await shop.count("checkout_attempt") == 0
    assert (await shop.one("SELECT stock FROM product"), await shop.one("SELECT usage_count FROM coupon")) == (3, 0)


async def test_no_payment_begins_after_the_change_was_made(shop: Shop) -> None:
    candle = await shop.product()
    ready = [await shop.ready(ProductChoice(candle.id, 1)) for _ in range(12)]

    async def change() -> int:
        await put(shop, "i")
        return int(await shop.count("checkout_attempt"))

    begun = [asyncio.create_task(shop.start(*each)) for each in ready[:6]]
    changed = asyncio.create_task(change())
    begun += [asyncio.create_task(shop.start(*each)) for each in ready[6:]]
    ends = await asyncio.gather(*begun, return_exceptions=True)
    assert all(not isinstance(end, BaseException) or isinstance(end, PartnerInactive) for end in ends), ends
    assert await shop.count("checkout_attempt") == await changed == sum(not isinstance(e, Exception) for e in ends)


async def test_orders_do_not_wait_for_whoever_begins_to_pay(shop: Shop) -> None:
    """The lock that a beginning payment has on its partner lets the number of an order be counted."""
    candle = await shop.product()
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("SELECT 1 FROM partner FOR KEY SHARE"))
        outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.COMPLETED


async def test_an_unknown_key_of_a_closed_shop_tells_nothing_else(shop: Shop) -> None:
    await put(shop, "i")
    with pytest.raises(PartnerInactive):
        await steps.open_checkout(shop.context, CheckoutKey(uuid.uuid4(), "session", CheckoutKind.BASKET))


@pytest.mark.parametrize(
    ("status", "capability_text"),
    [
        ("a", "ACTIVE None"),
        ("i", "DISABLED PARTNER_INACTIVE"),
        ("n", "DISABLED PARTNER_INACTIVE"),
        ("t", "ACTIVE None"),
    ],
)
async def test_the_capability_tells_that_a_partner_does_not_sell(shop: Shop, status: str, capability_text: str) -> None:
    await shop.execute(f"UPDATE partner SET status = '{status}'")  # noqa: S608 - a test's word
    capability = (await payment_capability(shop.manager, [shop.partner.id]))[shop.partner.id]
    reason = capability.disabled_reason
    assert f"{capability.status.name} {reason.name if reason else None}" == capability_text
    await shop.execute("UPDATE partner SET payments_active = false")
    capability = (await payment_capability(shop.manager, [shop.partner.id]))[shop.partner.id]
    assert capability.disabled_reason is DisabledCapabilityReason.NOT_STARTED, "what has to be done first is told first"
