"""Network gift cards in payments over the API, and refunds of what they have paid; every cent in the books."""

import asyncio
import datetime as dt
import random
from decimal import Decimal
from typing import Any

import pytest

from resolvers.network.gift_card_usages import (
    cancel_network_gift_card_usage,
    update_network_gift_card_usage,
    use_network_gift_card,
)
from resolvers.payment.creation import cancel_payment, create_payment, update_payment
from resolvers.payment.page.process import end_payment, handle_payin_notification, sync_payin
from resolvers.payment.refunds.refunds import preview_refund, refund_payment
from schema.core.errors import AppError, GiftCardNotSpendable, InsufficientBalance, InvalidInput, PartnerInactive
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.errors import (
    Deactivated,
    Expired,
    NotSplittable,
    NotUsable,
    NotYetValid,
    UsageOfPayment,
)
from schema.network.gift_card_input import CancelNetworkGiftCardUsage, UpdateNetworkGiftCardUsage, UseNetworkGiftCard
from schema.payment.input import CancelPayment, PreviewRefund, RefundPayment, UpdatePayment
from schema.payment.payment import PaymentStatus
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.network.issuing import network_gift_cards
from store.payment.payments import PaymentRow
from tests.fixtures.payment.api_payment import (
    balances,
    begun,
    books_balance,
    created,
    fee_rule,
    paid,
    paid_at_provider,
    payment_input,
    wallet_uuid,
    wallets_agree,
)
from tests.fixtures.payment.network_payment import card_of_network, shown, take_fees, take_part, usages
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import put_into_payout
from tests.fixtures.shop import DECLINED_CARD, Shop, open_shop


@pytest.fixture(autouse=True)
async def linked(shop: Shop) -> None:
    await take_part(shop)


async def from_card(shop: Shop, card: GiftCardRow, amount: str) -> dict[str, Any]:
    """What a shop sends so that a card pays an amount."""
    return {"extra_source_wallet_uuid": await wallet_uuid(shop, card), "extra_source_amount": amount}


async def refund(shop: Shop, payment: PaymentRow, amount: str, extra: str | None = None) -> None:
    """Refund an amount, of which `extra` goes to gift cards."""
    split = None
    if extra is not None:
        split = {"extra_source_amount": extra, "additional_payin_amount": str(Decimal(amount) - Decimal(extra))}
    await refund_payment(
        shop.manager, RefundPayment.model_validate({"id": payment.id, "amount": amount, "split": split})
    )


async def test_it_pays_beside_the_bank_card(shop: Shop) -> None:
    await take_fees(shop)
    await fee_rule(shop)
    card = await card_of_network(shop)
    payment = await created(shop, **await from_card(shop, card, "30.00"))
    assert (await balances(shop))["card_held"] == 3000
    assert (payment.commission_amount, payment.extra_amount) == (Decimal("4.20"), Decimal("30.00"))
    assert payment.extra_wallet_id == card.wallet_id
    payin = await begun(shop, payment)
    await paid_at_provider(shop, payin)
    await asyncio.gather(*(sync_payin(shop.services, payin.id) for _ in range(5)))
    (usage,) = await usages(shop)
    assert (usage.payment_id, str(usage.net_amount)) == (payment.id, "25.20")
    found = await balances(shop)
    assert (found["partner"], found["partner_network"], found["card"]) == (6580, 2520, 7000)
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_payment_that_it_covers_is_paid_at_once(shop: Shop) -> None:
    card = await card_of_network(shop, "50.00")
    payment = await created(shop, "50.00", **await from_card(shop, card, "50.00"))
    assert payment.status is PaymentStatus.OK
    assert await shown(shop, card) == ("used", "0.00")
    assert len(await usages(shop)) == 1
    await books_balance(shop)


async def test_each_refusal_has_its_code_and_changes_nothing(shop: Shop) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    cases: list[tuple[GiftCardRow, type[AppError]]] = [
        (await card_of_network(shop, status=GiftCardStatus.DRAFT), NotUsable),
        (await card_of_network(shop, status=GiftCardStatus.CANCELLED), NotUsable),
        (await card_of_network(shop, expires_on=now - day), Expired),
        (await card_of_network(shop, is_active=False), Deactivated),
        (await card_of_network(shop, starts_on=now + day), NotYetValid),
        (await card_of_network(shop, is_splittable=False), NotSplittable),
        (await card_of_network(shop, "29.99"), InsufficientBalance),
        (await card_of_network(shop, is_test=True), GiftCardNotSpendable),
        (await card_of_network(other), InvalidInput),
    ]
    for card, refused in cases:
        before = await shown(shop, card)
        with pytest.raises(refused) as error:
            await created(shop, **await from_card(shop, card, "30.00"))
        if refused is InsufficientBalance:
            assert [problem.path for problem in error.value.problems] == [("extra_source_amount",)]
        assert await shown(shop, card) == before
    good = await from_card(shop, await card_of_network(shop), "30.00")
    await shop.execute("UPDATE partner SET linked_to_ngc_settings = false")
    with pytest.raises(InvalidInput):
        await created(shop, **good)
    await shop.execute("UPDATE partner SET linked_to_ngc_settings = true, status = 'i'")
    with pytest.raises(PartnerInactive):
        await created(shop, **good)
    assert (await shop.count("payment"), await shop.count("network_gift_card_usage")) == (0, 0)
    assert "card_held" not in await balances(shop)
    await books_balance(shop)


@pytest.mark.parametrize("how", ["cancelled", "ended", "declined"])
async def test_what_is_held_is_released(shop: Shop, how: str) -> None:
    card = await card_of_network(shop, "30.00")
    payment = await created(shop, **await from_card(shop, card, "30.00"))
    assert await shown(shop, card) == ("paid", "0.00")
    if how == "cancelled":
        await cancel_payment(shop.manager, CancelPayment(id=payment.id))
    else:
        if how == "declined":
            payin = await begun(shop, payment)
            await paid_at_provider(shop, payin, DECLINED_CARD)
            await sync_payin(shop.services, payin.id)
        clock.advance(dt.timedelta(days=1, minutes=1))
        await end_payment(shop.services, payment.id)
    assert await shown(shop, card) == ("paid", "30.00")
    assert (len(await usages(shop)), "card_held" in await balances(shop)) == (0, False)
    await books_balance(shop)


@pytest.mark.parametrize("is_spent", [False, True])
async def test_a_cancelled_payment_that_is_paid_late_takes_the_card_again(shop: Shop, is_spent: bool) -> None:
    card = await card_of_network(shop, "30.00")
    payment = await created(shop, **await from_card(shop, card, "30.00"))
    payin = await begun(shop, payment)
    await shop.execute("UPDATE payment_transaction SET status = 'err'")
    await cancel_payment(shop.manager, CancelPayment(id=payment.id))
    if is_spent:
        await use(shop, card, "1.00")
    await paid_at_provider(shop, payin)
    await handle_payin_notification(shop.services, payin.provider_id)
    assert len([usage for usage in await usages(shop) if usage.payment_id]) == int(not is_spent)
    assert await shown(shop, card) == (("using", "29.00") if is_spent else ("used", "0.00"))
    assert await shop.one("SELECT refunded_amount FROM payment") == (70 if is_spent else 0)
    await books_balance(shop)


async def use(shop: Shop, card: GiftCardRow, value: str) -> None:
    """A usage over the API."""
    used = UseNetworkGiftCard.model_validate({"code": card.code, "value": value, "partner_id": shop.partner.id})
    await use_network_gift_card(shop.manager, used)


async def test_the_payout_date_of_a_payment_is_that_of_its_usages(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET freeze_payout = true")
    card, first, second = await card_of_network(shop), "2027-01-15T00:00:00Z", "2027-02-15T00:00:00Z"
    payment = await created(shop, "30.00", **await from_card(shop, card, "30.00"), freeze_payout_date=first)
    (usage,) = await usages(shop)
    assert usage.freeze_payout_date == dt.datetime(2027, 1, 15, tzinfo=dt.UTC)
    moved = UpdatePayment.model_validate({"id": payment.id, "freeze_payout_date": second})
    await update_payment(shop.manager, moved)
    (usage,) = await usages(shop)
    assert usage.freeze_payout_date == dt.datetime(2027, 2, 15, tzinfo=dt.UTC)
    await put_into_payout(shop.services, shop.partner.id)
    await update_payment(shop.manager, moved.model_copy(update={"freeze_payout_date": None}))
    assert (await usages(shop))[0].freeze_payout_date == usage.freeze_payout_date
    assert await shop.one("SELECT payable_on FROM payable_item") == dt.date(2027, 2, 15)
    with pytest.raises(UsageOfPayment):
        await update_network_gift_card_usage(
            shop.manager, UpdateNetworkGiftCardUsage(id=usage.id, freeze_payout_date=None)
        )


@pytest.mark.parametrize("payer", ["partner", "marketplace"])
async def test_refunds_give_back_value_and_fees_in_proportion(shop: Shop, payer: str) -> None:
    await take_fees(shop, payer=payer)
    card = await card_of_network(shop)
    payment = await paid(shop, **await from_card(shop, card, "30.00"))
    await refund(shop, payment, "10.01")  # 3.00 of it to the gift card
    (usage,) = await usages(shop)
    assert (str(usage.returned_amount), usage.is_active) == ("3.00", True)
    assert str(usage.returned_net_amount) == {"partner": "2.52", "marketplace": "3.00"}[payer]
    assert await shown(shop, card) == ("using", "73.00")
    await books_balance(shop)
    await refund(shop, payment, "89.99")
    (usage,) = await usages(shop)
    assert (usage.returned_amount, usage.returned_net_amount) == (usage.value_amount, usage.net_amount)
    assert (usage.is_active, usage.cancelled_on is not None) == (False, True)
    assert await shown(shop, card) == ("paid", "100.00")
    await send_refunds(shop.services)
    found = await balances(shop)
    assert found == {"card": 10000, "owed_by_marketplace": 10000}
    events = "SELECT count(*) FROM event WHERE type = 'network_gift_card.usage_returned'"
    assert await shop.one(events) == 2
    assert await shop.one("SELECT count(*) FROM transfer WHERE type = 'reversal' AND debited_wallet_id IS NULL") == 2
    await books_balance(shop)
    await wallets_agree(shop)
    before = await usages(shop)
    await cancel_network_gift_card_usage(shop.manager, CancelNetworkGiftCardUsage(id=usage.id))
    assert await usages(shop) == before


async def test_the_example_of_the_documentation(shop: Shop) -> None:
    """30.00 are paid, and 10.00 go back: `docs/network-gift-cards.md` says what of it is whose."""
    await take_fees(shop)
    card = await card_of_network(shop)
    payment = await paid(shop, "30.00", **await from_card(shop, card, "30.00"))
    before = await balances(shop)
    await refund(shop, payment, "10.00")
    after = await balances(shop)
    assert {role: before[role] - after[role] for role in before if before[role] != after[role]} == {
        "partner_network": 840,
        "commission": 100,
        "management_fees": 33,
        "vat_on_commission": 27,
        "card": -1000,
    }


async def test_many_small_refunds_of_awkward_fees_sum_to_nothing(shop: Shop) -> None:
    chance = random.Random(7)
    for rate, fixed, value in (("99.60", "0.01", "3.00"), ("33.33", "0.17", "1.00"), ("100.00", "5.00", "0.50")):
        await take_fees(shop, rate, fixed, chance.choice(("partner", "marketplace")))
        card = await card_of_network(shop, value)
        payment = await paid(shop, value, **await from_card(shop, card, value))
        left = int(Decimal(value) * 100)
        while left:
            part = min(left, chance.randint(1, 40))
            await refund(shop, payment, str(Decimal(part) / 100))
            left -= part
            await books_balance(shop)
        assert await shown(shop, card) == ("paid", value)
        (usage,) = await usages(shop, card)
        assert usage.returned_net_amount == usage.net_amount
    assert {"partner_network", "commission", "management_fees", "promotion"}.isdisjoint(await balances(shop))


async def test_what_the_partner_has_no_longer_is_owed_by_it(shop: Shop) -> None:
    """The usage was paid out: the refund becomes the partner's debt, and the usage stays in its payout."""
    card = await card_of_network(shop)
    payment = await paid(shop, "30.00", **await from_card(shop, card, "30.00"))
    await put_into_payout(shop.services, shop.partner.id)
    await refund(shop, payment, "30.00")
    (usage,) = await usages(shop)
    assert (usage.is_active, str(usage.returned_amount)) == (True, "30.00")
    found = await balances(shop)
    assert (found["owed_by_partner"], await shown(shop, card)) == (3000, ("paid", "100.00"))


@pytest.mark.parametrize(
    ("status", "rest"), [("exprd", ("exprd", "100.00")), ("cncld", ("cncld", "70.00")), ("using", ("paid", "100.00"))]
)
async def test_refunds_to_cards_that_have_ended(shop: Shop, status: str, rest: tuple[str, str]) -> None:
    """An expired card takes its money back and stays expired; a cancelled one takes nothing back."""
    card = await card_of_network(shop)
    payment = await paid(shop, **await from_card(shop, card, "30.00"))
    if status == "cncld":
        async with shop.services.db.sessions() as db, db.begin():
            await network_gift_cards.cancel(db, await db.get_one(GiftCardRow, card.id, with_for_update=True))
    else:
        change = "status = 'exprd', expires_on = now()" if status == "exprd" else "frozen_on = now()"
        await shop.execute(f"UPDATE gift_card SET {change}")  # noqa: S608 - a test's words
    if status == "cncld":
        with pytest.raises(GiftCardNotSpendable):
            await refund(shop, payment, "100.00")
        await refund(shop, payment, "70.00", extra="0.00")
        assert (await usages(shop))[0].returned_amount == 0
    else:
        await refund(shop, payment, "100.00")
    assert await shown(shop, card) == rest
    await books_balance(shop)


async def test_refunds_to_an_expired_card_of_a_network_that_books_breakage(shop: Shop) -> None:
    await shop.execute("UPDATE marketplace SET network_gift_card_books_breakage = true")
    card = await card_of_network(shop)
    payment = await paid(shop, **await from_card(shop, card, "30.00"))
    await shop.execute("UPDATE gift_card SET expires_on = :now", now=clock.now())
    async with shop.services.db.sessions() as db, db.begin():
        assert await network_gift_cards.expire(db, clock.now(), 10) == 1
    await refund(shop, payment, "50.00")
    assert await shown(shop, card) == ("exprd", "85.00")
    await books_balance(shop)
    await refund(shop, payment, "50.00")
    await books_balance(shop)
    async with shop.services.db.sessions() as db, db.begin():
        await network_gift_cards.extend(
            db, await db.get_one(GiftCardRow, card.id, with_for_update=True), clock.now() + dt.timedelta(days=9)
        )
    assert await shown(shop, card) == ("paid", "100.00")
    await books_balance(shop)


async def test_a_preview_changes_nothing(shop: Shop) -> None:
    card = await card_of_network(shop)
    payment = await paid(shop, **await from_card(shop, card, "30.00"))
    before = (await usages(shop), await balances(shop), await shown(shop, card))
    preview = await preview_refund(shop.manager, PreviewRefund.model_validate({"id": payment.id, "amount": "50.00"}))
    assert (preview.by_gift_card.amount, preview.by_card.amount) == (Decimal("15.00"), Decimal("35.00"))
    assert (await usages(shop), await balances(shop), await shown(shop, card)) == before


async def test_nothing_is_spent_twice(shop: Shop) -> None:
    """Payments that hold, payments that spend, and usages over the API, all at once, then refunds of all."""
    await take_fees(shop)
    card = await card_of_network(shop)
    wallet = await from_card(shop, card, "7.00")
    spent = (create_payment(shop.manager, payment_input(shop, "7.00", **wallet)) for _ in range(25))
    held = (create_payment(shop.manager, payment_input(shop, "9.00", **wallet)) for _ in range(25))
    outcomes = await asyncio.gather(
        *spent, *held, *(use(shop, card, "7.00") for _ in range(25)), return_exceptions=True
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert (len(outcomes) - len(refused), {type(each) for each in refused}) == (14, {InsufficientBalance})
    assert await shown(shop, card) == ("using" if await usages(shop) else "paid", "2.00")
    await books_balance(shop)
    done = [row for row in outcomes if isinstance(row, PaymentRow) and row.status is PaymentStatus.OK]
    waiting = [row for row in outcomes if isinstance(row, PaymentRow) and row.status is not PaymentStatus.OK]
    by_api = [usage for usage in await usages(shop) if usage.payment_id is None]
    ends = await asyncio.gather(
        *(refund(shop, row, amount) for row in done for amount in ("3.00", "4.00", "5.00")),
        *(cancel_payment(shop.manager, CancelPayment(id=row.id)) for row in waiting * 2),
        *(
            cancel_network_gift_card_usage(shop.manager, CancelNetworkGiftCardUsage(id=usage.id))
            for usage in by_api * 2
        ),
        return_exceptions=True,
    )
    assert all(end is None or isinstance(end, AppError | PaymentRow) or hasattr(end, "is_active") for end in ends)
    await books_balance(shop)
    returned = sum(usage.returned_amount for usage in await usages(shop))
    used = sum(usage.value_amount for usage in await usages(shop) if usage.payment_id)
    assert (await shown(shop, card))[1] == str(Decimal("100.00") - used + returned)


async def test_a_usage_of_a_payment_is_not_cancelled(shop: Shop) -> None:
    card = await card_of_network(shop)
    await paid(shop, **await from_card(shop, card, "30.00"))
    before = await usages(shop)
    with pytest.raises(UsageOfPayment):
        await cancel_network_gift_card_usage(shop.manager, CancelNetworkGiftCardUsage(id=before[0].id))
    assert await usages(shop) == before


async def test_what_is_held_is_not_used(shop: Shop) -> None:
    card = await card_of_network(shop)
    first, second = [await created(shop, **await from_card(shop, card, amount)) for amount in ("30.00", "20.00")]
    await use(shop, card, "10.00")
    assert await shown(shop, card) == ("using", "40.00")
    (usage,) = await usages(shop)
    await cancel_network_gift_card_usage(shop.manager, CancelNetworkGiftCardUsage(id=usage.id))
    assert await shown(shop, card) == ("paid", "50.00")
    await cancel_payment(shop.manager, CancelPayment(id=first.id))
    assert await shown(shop, card) == ("paid", "80.00")
    await cancel_payment(shop.manager, CancelPayment(id=second.id))
    assert await shown(shop, card) == ("paid", "100.00")
    await books_balance(shop)
