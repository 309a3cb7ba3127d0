"""Which gift cards a partner sells: who decides, what cannot be, and what follows for baskets, payments and cards."""

import asyncio
import dataclasses
import datetime as dt
import uuid
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from resolvers.checkout import basket, steps
from resolvers.gift_card.issuing import issue_gift_card
from resolvers.gift_card.offers import update_gift_card_offer
from resolvers.payment.checkout import payment
from schema.checkout.basket import BasketProblem
from schema.checkout.checkout import CheckoutStep, PaymentAttemptStatus
from schema.core.errors import CheckoutChanged, GiftCardsNotSold, InvalidInput
from schema.core.permission import Permission
from schema.gift_card.input import IssueGiftCard, UpdateGiftCardOffer
from store.core.clock import clock
from tests.changes import Transport
from tests.fixtures.basket import bought, card_of, columns, fill_basket, new_key, settled
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder

OFFER_INPUT: dict[str, Any] = {
    "enabled": False,
    "suggested": ["80.00", "30.50"],
    "minimum": "30.5",
    "maximum": "80",
    "validity_months": 24,
}
STORED_OFFER = {"enabled": False, "suggested": [80.0, 30.5], "minimum": 30.5, "maximum": 80.0, "validity_months": 24}
SHOWN = """{ giftCardOffer { enabled validityMonths suggested { amount currency } minimum { amount currency }
    maximum { amount currency } } }"""
PARIS = ZoneInfo("Europe/Paris")


async def offer(tenants: Tenants, name: str) -> dict[str, Any]:
    """What is kept of a partner's offer."""
    row = await tenants.row("partner", tenants.partners[name].id)
    return {key: row[f"gift_card_offer_{key}"] for key in STORED_OFFER}


async def read_offer(tenants: Tenants, name: str, who: str) -> Any:
    """A partner's offer as GraphQL shows it."""
    query = f"query ($uuid: UUID!) {{ partner(uuid: $uuid) {SHOWN} }}"
    body = await tenants.graphql(who, query, uuid=tenants.partners[name].uuid)
    assert "errors" not in body, body
    return body["data"]["partner"] and body["data"]["partner"]["giftCardOffer"]


async def change(shop: Shop, **values: Any) -> None:
    """Change the offer of a shop."""
    await update_gift_card_offer(shop.manager, UpdateGiftCardOffer.model_validate(values))


# ---- who decides, and what


async def test_a_partner_decides_for_itself(tenants: Tenants, ask: Transport) -> None:
    others = await offer(tenants, "a2")
    assert others["suggested"] == [25.0, 50.0, 75.0, 100.0, 150.0, 200.0]
    assert (others["minimum"], others["maximum"], others["validity_months"]) == (10.0, 1000.0, 12)
    assert (await ask.change("a1", update_gift_card_offer, **OFFER_INPUT)).done
    assert await offer(tenants, "a1") == STORED_OFFER
    assert await offer(tenants, "a2") == others
    for who in ("a1", "market a", "master"):
        assert await read_offer(tenants, "a1", who) == {
            "enabled": False,
            "validityMonths": 24,
            "suggested": [{"amount": "80.00", "currency": "EUR"}, {"amount": "30.50", "currency": "EUR"}],
            "minimum": {"amount": "30.50", "currency": "EUR"},
            "maximum": {"amount": "80.00", "currency": "EUR"},
        }
    assert await read_offer(tenants, "a1", "b1") is None
    uuid_of_b = str(tenants.partners["b1"].uuid)
    assert (await ask.change("market b", update_gift_card_offer, partner_uuid=uuid_of_b, suggested=[])).done
    assert await offer(tenants, "b1") == {**others, "suggested": []}, "what is left out stays"
    assert (await read_offer(tenants, "b1", "b1"))["minimum"] == {"amount": "10.00", "currency": "CHF"}
    entry = await tenants.one("SELECT to_jsonb(e) FROM audit_entry e ORDER BY id LIMIT 1")
    assert (entry["operation"], entry["partner_id"]) == ("update_gift_card_offer", tenants.partners["a1"].id)


async def test_what_an_offer_cannot_be(tenants: Tenants, ask: Transport) -> None:
    till = await holder(tenants, "a1", Permission.VIEW_GIFT_CARD)
    wrong: list[tuple[dict[str, Any], set[str]]] = [
        ({"minimum": "0"}, {"minimum"}),
        ({"minimum": "10.001"}, {"minimum"}),
        ({"minimum": "50.00"}, {"suggested.0"}),
        ({"maximum": "9.99"}, {"maximum"}),
        ({"maximum": "1000.01"}, {"maximum"}),
        ({"minimum": "80.00", "maximum": "79.99"}, {"maximum"}),
        ({"suggested": ["9.99", "10.00", "1000.00", "20.00", "20"]}, {"suggested.0", "suggested.4"}),
        ({"suggested": ["12.345"]}, {"suggested.0"}),
        ({"suggested": [str(value) for value in range(20, 29)]}, {"suggested"}),
        ({"suggested": ["1000.01"]}, {"suggested.0"}),
        ({"validity_months": 0}, {"validity_months"}),
        ({"validity_months": 121}, {"validity_months"}),
        ({"partner_uuid": str(tenants.partners["b1"].uuid)}, {"partner_uuid"}),
        ({"partner_uuid": str(tenants.partners["a2"].uuid)}, {"partner_uuid"}),
    ]
    before = await tenants.snapshot()
    for sent, fields in wrong:
        outcome = await ask.change("a1", update_gift_card_offer, **{"enabled": False, **sent})
        assert {at for at, _ in outcome.wrong} == fields, sent
    assert (await ask.change("market a", update_gift_card_offer, enabled=False)).wrong == {("partner_uuid", "INVALID")}
    assert (await ask.change(till, update_gift_card_offer, enabled=False)).wrong == {("", "FORBIDDEN")}
    for who in (None, "market b"):
        sent = {"partner_uuid": str(tenants.partners["a1"].uuid), "enabled": False}
        assert not (await ask.change(who, update_gift_card_offer, **sent)).done
    assert await tenants.snapshot() == before


async def test_a_change_is_judged_by_what_another_leaves_that_is_not_through(shop: Shop) -> None:
    await change(shop, suggested=[])
    async with shop.services.db.engine.begin() as other:
        raised = "UPDATE partner SET gift_card_offer_minimum = 500 WHERE id = :id"
        await other.execute(text(raised), {"id": shop.partner.id})
        lowered = asyncio.create_task(change(shop, maximum="400.00"))
        waits = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        await shop.becomes("SELECT count(*) " + waits, 1)
    with pytest.raises(InvalidInput) as refused:
        await lowered
    assert [problem.path for problem in refused.value.problems] == [("maximum",)]


# ---- what follows


async def test_cards_are_sold_as_their_own_shop_offers_them(shop: Shop) -> None:
    key = new_key()
    await basket.put_line(shop.context, key, uuid.uuid4(), card_of("50.00"))
    await change(shop, suggested=["60", "2.50"], minimum="2.50", maximum="60.00", validity_months=1)
    opened = await basket.open_basket(shop.context, key)
    assert opened.gift_cards is not None
    assert dataclasses.astuple(opened.gift_cards) == (
        (Decimal("60.00"), Decimal("2.50")),
        Decimal("2.50"),
        Decimal("60.00"),
        1,
        (),
    )
    for value in ("2.49", "60.01"):
        with pytest.raises(InvalidInput):
            await basket.put_line(shop.context, key, uuid.uuid4(), card_of(value))
    assert (await bought(shop, card_of("2.50"), key=key)).status is PaymentAttemptStatus.COMPLETED
    assert await columns(shop, "gift_card", "value_amount") == [(Decimal("50.00"),), (Decimal("2.50"),)]
    for (ends,) in await columns(shop, "gift_card", "expires_on"):
        assert (
            dt.timedelta(days=28)
            <= ends.astimezone(PARIS).date() - clock.now().astimezone(PARIS).date()
            <= dt.timedelta(days=31)
        )
    before = await columns(shop, "gift_card", "expires_on")
    await change(shop, validity_months=120)
    assert await columns(shop, "gift_card", "expires_on") == before, "a card that was issued keeps its end"
    await change(shop, minimum="50.01", maximum="60.00", suggested=[])
    key, line = new_key(), uuid.uuid4()
    await basket.put_line(shop.context, key, line, card_of("55.00"))
    await change(shop, minimum="60.00")
    assert (await basket.open_basket(shop.context, key)).basket_lines[0].problem is BasketProblem.CHOICE_CHANGED
    await basket.put_line(shop.context, key, line, card_of("60.00"))
    assert (await basket.open_basket(shop.context, key)).basket_lines[0].problem is None


async def test_a_closed_shop_makes_no_baskets_and_completes_what_was_begun(shop: Shop) -> None:
    begun, seen = await fill_basket(shop, card_of("50.00"))
    started = await shop.start(begun, seen)
    waiting, seen_waiting = await fill_basket(shop, card_of("40.00"))
    line = seen_waiting.basket_lines[0].id
    await change(shop, enabled=False, validity_months=6)
    refused = [
        basket.put_line(shop.context, new_key(), uuid.uuid4(), card_of("50.00")),
        basket.put_line(shop.context, waiting, line, card_of("50.00")),
        basket.price_line(shop.context, waiting, line, card_of("50.00")),
    ]
    for asked in refused:
        with pytest.raises(GiftCardsNotSold):
            await asked
    with pytest.raises(CheckoutChanged):
        await shop.start(waiting, seen_waiting)
    kept = await steps.open_checkout(shop.context, waiting)
    assert (kept.furthest_step, kept.totals.total) == (CheckoutStep.CUSTOMIZATION, Decimal(0))
    (line_left,) = (await basket.open_basket(shop.context, waiting)).basket_lines
    assert line_left.problem is BasketProblem.NOT_SOLD
    assert (await shop.order_page(await settled(shop, begun, started))).number == 1
    ((ends,),) = await columns(shop, "gift_card", "expires_on")
    assert ends - clock.now() > dt.timedelta(days=360), "as long as the customer was told before paying"
    await issue_gift_card(shop.manager, IssueGiftCard(value=Decimal("70.00")))
    ((_, ends),) = (await columns(shop, "gift_card", "id", "expires_on"))[1:]
    assert dt.timedelta(days=180) <= ends - clock.now() <= dt.timedelta(days=186), (
        "issued by hand: as the offer says now"
    )
    await change(shop, enabled=True)
    again = await basket.open_basket(shop.context, waiting)
    assert (again.basket_lines[0].problem, again.totals.total) == (None, Decimal("40.00"))
    started = await shop.start(waiting, seen_waiting)
    assert (await payment.payment_outcome(shop.context, waiting)).attempt_id == started.attempt_id


async def test_a_payment_begun_before_offers_is_issued_for_a_year(shop: Shop) -> None:
    key, seen = await fill_basket(shop, card_of("50.00"))
    started = await shop.start(key, seen)
    forget = "UPDATE checkout_attempt SET lines = jsonb_set(lines, '{0,gift_card}', (lines #> '{0,gift_card}') - 'validity_months')"
    await shop.execute(forget)
    await change(shop, validity_months=1)
    await settled(shop, key, started)
    ((ends,),) = await columns(shop, "gift_card", "expires_on")
    assert dt.timedelta(days=364) < ends - clock.now() < dt.timedelta(days=368)
