"""Vouchers that a partner issues: priced and checked as the shop does, issued whole or not at all, with codes of their own."""

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.voucher import issuing
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.coupon.coupon import ReceptionMode
from schema.event import EVENT_DATA_KEYS, EventType
from schema.voucher.issue_input import IssueVoucher
from schema.voucher.voucher import VoucherState
from store.core.codes import generate_code, looks_valid, normalize
from store.customer import Person, customer_for, customers_for
from store.database import unique_codes
from tests.changes import Transport
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import Sold, holder, sell, voucher_events, voucher_of

GIFTER = {"first_name": "Ada", "last_name": "Martin", "email": "Ada@example.com", "address": "1 rue des Lilas"}
GIFTEE = {"first_name": "Grace", "email": "grace@example.com"}


def stay_input(sold: Sold, **more: Any) -> dict[str, Any]:
    """Three nights for three adults, a child and two robes: 3 x (100 + 30 + 10) + 25 = 445.00."""
    return {
        "voucher_prototype_id": sold.stay.id,
        "nb_adults": 3,
        "nb_children": 1,
        "nb_nights": 3,
        "options": [{"option_id": sold.robe.id, "count": 2}],
        "gifter_details": GIFTER,
        "giftee_details": GIFTEE,
        "message": "Enjoy",
        "language": "fr",
        **more,
    }


async def test_a_voucher_is_issued_as_the_shop_would_sell_it(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    assert (await ask.change("a1", issuing.issue_voucher, **stay_input(sold))).done
    made = await tenants.newest("voucher")
    assert looks_valid(made["code"])
    assert made["normal_code"] == normalize(made["code"])
    assert made["partner_id"] == tenants.partners["a1"].id
    kept = {"state": "paid", "kind": "voucher", "nb_nights": 3, "nb_adults": 3, "nb_children": 1, "nb_babies": 0}
    assert {key: made[key] for key in kept} == kept
    prices = {"total_price": 445, "purchase_price": 445, "rent_price": 420, "bought_rent_price": 420}
    assert {key: made[f"{key}_amount"] for key in prices} == prices
    assert made["prototype_name"] == {"en": "Nights above the lake", "fr": "Nuits au-dessus du lac"}
    assert (made["currency"], made["language"], made["message"]) == ("EUR", "fr", "Enjoy")
    assert (made["gifter_first_name"], made["giftee_first_name"], made["giftee_last_name"]) == ("Ada", "Grace", None)
    gifter, giftee = await tenants.row("customer", made["gifter_id"]), await tenants.row("customer", made["giftee_id"])
    assert (gifter["normal_email"], giftee["normal_email"]) == ("ada@example.com", "grace@example.com")
    chosen = await tenants.newest("voucher_chosen_option")
    assert (chosen["option_id"], chosen["count"], chosen["total_price_amount"]) == (sold.robe.id, 2, 25)
    included = await tenants.newest("voucher_included_option")
    assert (included["option_id"], included["count"], included["source_id"]) == (sold.breakfast.id, 2, "brk")
    assert (await tenants.row("voucher_option", sold.robe.id))["has_been_ordered"]
    assert not (await tenants.row("voucher_option", sold.breakfast.id))["has_been_ordered"]
    prototype = await tenants.row("voucher_prototype", sold.stay.id)
    assert prototype["nb_orders"] == 1
    assert dt.datetime.fromisoformat(prototype["updated_on"]) == sold.stay.updated_on
    ((kind, data),) = await voucher_events(tenants, made["id"])
    assert kind == "voucher.issued"
    assert set(data) == set(EVENT_DATA_KEYS[EventType.VOUCHER_ISSUED])
    assert data["code"] == made["code"]
    assert data["total_price"] == {"amount": "445.00", "currency": "EUR"}
    assert data["order_id"] is None
    end = dt.datetime.fromisoformat(made["expires_on"])
    assert end == dt.datetime.fromisoformat(data["expires_on"])


async def test_a_draft_does_not_work_and_is_not_counted(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "b1")
    sent = stay_input(sold, state=VoucherState.DRAFT, purchase_price="400.50")
    assert (await ask.change("market b", issuing.issue_voucher, **sent)).done
    made = await tenants.newest("voucher")
    assert (made["state"], made["activated_on"], made["expires_on"]) == ("draft", None, None)
    assert (made["purchase_price_amount"], made["bought_rent_price_amount"]) == (400.5, 378)
    assert made["currency"] == "CHF"
    assert (await tenants.row("voucher_prototype", sold.stay.id))["nb_orders"] == 0
    assert not (await tenants.row("voucher_option", sold.robe.id))["has_been_ordered"]


async def test_whoever_keeps_a_voucher_gave_it(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    sent = {**stay_input(sold), "giftee_details": None, "self_gifted": True}
    assert (await ask.change("a1", issuing.issue_voucher, **sent)).done
    made = await tenants.newest("voucher")
    assert made["gifter_id"] == made["giftee_id"]
    assert made["giftee_email"] is None


async def test_what_the_shop_would_not_sell_is_refused(tenants: Tenants, ask: Transport) -> None:
    sold, other = await sell(tenants, "a1"), await sell(tenants, "a2")
    robe = {"option_id": sold.robe.id}
    without = await holder(
        tenants, "a1", *sorted(GRANTABLE_PERMISSIONS - {Permission.UPDATE_VOUCHER, Permission.MANAGE_MASTERADMIN})
    )
    before = await tenants.snapshot()
    by_post, by_email = ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY, ReceptionMode.GIFTEE_EMAIL
    refused: list[tuple[dict[str, Any], str]] = [
        ({"voucher_prototype_id": other.stay.id}, "voucher_prototype_id"),
        ({"voucher_prototype_id": 2**31 - 1}, "voucher_prototype_id"),
        ({"nb_adults": 0, "nb_children": 0}, "nb_adults"),
        ({"nb_adults": 5}, "nb_adults"),
        ({"nb_adults": 2, "nb_babies": 1}, "nb_babies"),
        ({"nb_nights": 1}, "nb_nights"),
        ({"options": [{"option_id": sold.elsewhere.id}]}, "options.0.option_id"),
        ({"options": [robe, {"option_id": other.robe.id}]}, "options.1.option_id"),
        ({"options": [{"option_id": sold.breakfast.id}]}, "options.0.option_id"),
        ({"options": [robe, robe]}, "options.1.option_id"),
        ({"options": [{**robe, "count": 0}]}, "options.0.count"),
        ({"state": VoucherState.USED}, "state"),
        ({"gifter_details": {"first_name": "Ada", "country": "ZZ"}}, "gifter_details.country"),
        ({"self_gifted": True}, "giftee_details"),
        ({"reception_mode": by_post}, "giftee_details.address"),
        ({"reception_mode": by_email, "giftee_details": {"first_name": "Grace"}}, "giftee_details.email"),
        ({"reception_mode": ReceptionMode.EXPEDITION, "gifter_details": None}, "gifter_details.address"),
        ({"gifter_details": {"email": "nobody"}}, "gifter_details.email"),
        ({"language": "xx"}, "language"),
        ({"purchase_price": "-1"}, "purchase_price"),
    ]
    for change, field in refused:
        outcome = await ask.change("a1", issuing.issue_voucher, **{**stay_input(sold), **change})
        assert {at for at, _ in outcome.wrong} == {field}, change
    assert (await ask.change(without, issuing.issue_voucher, **stay_input(sold))).wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before
    await tenants.execute("UPDATE voucher_prototype SET last_active_day = '2020-01-01' WHERE id = :id", id=sold.stay.id)
    outcome = await ask.change("a1", issuing.issue_voucher, **stay_input(sold))
    assert outcome.wrong == {("voucher_prototype_id", "INVALID")}
    after = await tenants.snapshot()
    assert {table for table in before if after[table] != before[table]} == {"voucher_prototype"}


async def test_more_than_can_be_kept_is_refused(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    await tenants.execute(
        "UPDATE voucher_prototype SET stay_price_amount = 9999999999.99 WHERE id = :id", id=sold.stay.id
    )
    before = await tenants.snapshot()
    outcome = await ask.change("a1", issuing.issue_voucher, **stay_input(sold))
    assert {at for at, _ in outcome.wrong} == {"voucher_prototype_id"}
    assert await tenants.snapshot() == before


async def test_a_code_that_is_taken_is_drawn_again(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    sold = await sell(tenants, "a1")
    there = await tenants.add(voucher_of(sold))
    fresh = generate_code()
    codes = iter([there.code, there.code, fresh])
    monkeypatch.setattr(unique_codes, "generate_code", lambda: next(codes))
    given = IssueVoucher(**stay_input(sold))
    made = await issuing.issue_voucher(await tenants.context("a1"), given)
    assert made.code == fresh
    assert await tenants.one("SELECT count(*) FROM voucher_chosen_option") == 1
    assert len(await voucher_events(tenants)) == 1


async def test_many_sales_at_once_are_all_counted(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")

    async def buy(number: int) -> str:
        people = [GIFTER, GIFTEE][:: 1 if number % 2 else -1]
        sent = stay_input(sold, gifter_details=people[0], giftee_details={"email": people[1]["email"]})
        made = await issuing.issue_voucher(await tenants.context("a1"), IssueVoucher(**sent))
        return made.code

    codes = await asyncio.gather(*(buy(number) for number in range(12)))
    assert len(set(codes)) == len(codes)
    assert (await tenants.row("voucher_prototype", sold.stay.id))["nb_orders"] == len(codes)
    assert await tenants.one("SELECT count(*) FROM customer") == 2


async def test_a_customer_is_one_for_an_address_of_a_partner(tenants: Tenants) -> None:
    a1, a2 = tenants.partners["a1"].id, tenants.partners["a2"].id

    async def known(first: str, last: str, email: str, partner: int = a1) -> int | None:
        async with tenants.services.db.sessions() as db, db.begin():
            return await customer_for(db, partner, first, last, email)

    found = await asyncio.gather(*(known("Ada", f"N{n}", "ADA@example.com") for n in range(8)))
    assert len(set(found)) == 1
    (id,) = set(found)
    assert id is not None
    assert await known("", "", " ada@Example.COM ") == id
    assert await known("Augusta", "", "ada@example.com") == id
    customer = await tenants.row("customer", id)
    assert customer["first_name"] == "Augusta"
    assert customer["last_name"].startswith("N")
    assert await known("Ada", "", "ada@example.com", a2) != id
    assert await known("", "", "") is None
    assert await known("Ada", "", "") != await known("Ada", "", "")

    async def both(order: int) -> None:
        people = [Person(email="a@example.com"), Person(email="b@example.com")][::order]
        async with tenants.services.db.sessions() as db, db.begin():
            assert set(await customers_for(db, a1, people)) == set(people)

    await asyncio.gather(*(both(order) for order in (1, -1) * 5))
    assert (
        await tenants.one("SELECT count(*) FROM customer WHERE normal_email IN ('a@example.com','b@example.com')") == 2
    )


def test_what_was_paid_is_split_to_the_cent() -> None:
    assert issuing.rent_part(Decimal("100.00"), Decimal("10.00"), Decimal("30.00")) == Decimal("33.33")
    assert issuing.rent_part(Decimal("5.00"), Decimal("0.00"), Decimal("0.00")) == Decimal("5.00")
