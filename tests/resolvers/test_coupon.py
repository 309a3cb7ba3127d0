"""Managing coupons: their code is theirs for good, and what has been used stays used."""

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers import coupon
from resolvers.payment.checkout import payment
from schema.checkout.checkout import ProductChoice
from schema.core.errors import InvalidInput
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.coupon.input import UpdateCoupon
from tests.changes import Transport, mistake
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants

NEW = {"code": "Summer 20", "discount": {"percentage": "20"}}
START, END = "2030-06-01T00:00:00Z", "2030-09-01T00:00:00+02:00"
FULL = {
    **NEW,
    "type": "campaign",
    "is_active": False,
    "starts_on": START,
    "ends_on": END,
    "max_usages": 100,
    "targets": [CouponTarget.CLICK_AND_COLLECT],
    "limited_to": {
        "product_ids": [1, 2**31 - 1],
        "voucher_prototype_ids": [7],
        "reception_modes": [ReceptionMode.ON_SITE],
    },
    "new_validity_period": "P1Y6M",
    "increases_value": True,
    "increases_value_repeatedly": True,
    "is_combinable": False,
    "conditions": {
        "email": "@example.com",
        "minimum_payment": "1.00",
        "minimum_basket": "2.00",
        "minimum_product_price": "3.00",
    },
    "free_click_and_collect": True,
}


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC)


async def test_a_coupon_is_made_with_what_is_sent(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", coupon.create_coupon, **FULL)).done
    made = await tenants.newest("coupon")
    assert made["partner_id"] == tenants.partners["a1"].id
    assert (made["code"], made["normal_code"]) == ("Summer 20", "SUMMER20")
    assert (made["discount_percentage"], made["discount_amount"], made["usage_count"]) == (20, None, 0)
    assert (moment(made["starts_on"]), moment(made["ends_on"])) == (moment(START), moment(END))
    assert (made["targets"], made["reception_modes"]) == (["clickandcollect"], ["on_site"])
    kept = {"type", "is_active", "max_usages", "free_click_and_collect"}
    kept |= {"new_validity_period", "increases_value", "increases_value_repeatedly", "is_combinable"}
    assert {name: made[name] for name in kept} == {name: FULL[name] for name in kept}
    assert made["voucher_prototype_ids"] == [7]
    assert (made["product_ids"], made["email_condition"]) == ([1, 2**31 - 1], "@example.com")
    assert [made[f"minimum_{name}_amount"] for name in ("payment", "basket", "product_price")] == [1, 2, 3]
    assert made["currency"] == "EUR"


async def test_a_coupon_is_for_the_shop_and_anybody_unless_told(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", coupon.create_coupon, **NEW)).done
    made = await tenants.newest("coupon")
    assert made["targets"] == ["ecommerce", "clickandcollect"]
    assert made["is_active"] is True
    assert (made["max_usages"], made["starts_on"], made["ends_on"], made["email_condition"]) == (None, None, None, "")


async def test_what_a_coupon_cannot_be_is_told_by_field(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"code": "ab"}, "code"),
        ({"code": "a" * 41}, "code TOO_LONG"),
        ({"code": "a/b/c"}, "code"),
        ({"code": " abc"}, "code"),
        ({"code": "abc\u200bd"}, "code"),
        ({"code": "---"}, "code"),
        ({"code": "a- -b"}, "code"),
        ({"code": "ß" * 21}, "code TOO_LONG"),
        ({"discount": {}}, "discount"),
        ({"discount": {"percentage": "10", "amount": "10"}}, "discount"),
        ({"discount": {"percentage": "0"}}, "discount.percentage OUT_OF_RANGE"),
        ({"discount": {"percentage": "-1"}}, "discount.percentage OUT_OF_RANGE"),
        ({"discount": {"percentage": "1.001"}}, "discount.percentage"),
        ({"discount": {"percentage": "100.01"}}, "discount.percentage OUT_OF_RANGE"),
        ({"discount": {"amount": "0"}}, "discount.amount OUT_OF_RANGE"),
        ({"discount": {"amount": "1.001"}}, "discount.amount"),
        ({"starts_on": END, "ends_on": START}, "ends_on"),
        ({"starts_on": START, "ends_on": START}, "ends_on"),
        ({"max_usages": 0}, "max_usages OUT_OF_RANGE"),
        ({"conditions": {"minimum_basket": "-1"}}, "conditions.minimum_basket OUT_OF_RANGE"),
        ({"conditions": {"email": "a" * 255}}, "conditions.email TOO_LONG"),
        ({"conditions": {"email": "nonsense"}}, "conditions.email"),
        ({"conditions": {"email": "@"}}, "conditions.email"),
        ({"limited_to": {"product_ids": list(range(1, 1002))}}, "limited_to.product_ids TOO_MANY"),
        ({"limited_to": {"product_ids": [0]}}, "limited_to.product_ids.0 OUT_OF_RANGE"),
        ({"limited_to": {"voucher_prototype_ids": [0]}}, "limited_to.voucher_prototype_ids.0 OUT_OF_RANGE"),
        ({"new_validity_period": "soon"}, "new_validity_period"),
        ({"new_validity_period": "P1W"}, "new_validity_period"),
    ]
    for wrong, at in wrongs:
        assert (await ask.change("a1", coupon.create_coupon, **{**NEW, **wrong})).wrong == mistake(at), wrong
    assert await tenants.snapshot() == before


async def test_an_amount_may_be_more_than_a_hundred(tenants: Tenants, ask: Transport) -> None:
    sent = {**NEW, "discount": {"amount": "150.00"}}
    assert (await ask.change("a1", coupon.create_coupon, **sent)).done


async def test_a_coupon_may_only_make_collecting_free(tenants: Tenants, ask: Transport) -> None:
    for discount in ({"percentage": "0"}, {"amount": "0.00"}):
        sent = {**NEW, "code": f"COLLECT{len(discount)}{next(iter(discount))}", "discount": discount}
        assert (await ask.change("a1", coupon.create_coupon, **sent, free_click_and_collect=True)).done
        made = await tenants.newest("coupon")
        assert made[f"discount_{next(iter(discount))}"] == 0
        changed = await ask.change("a1", coupon.update_coupon, id=made["id"], free_click_and_collect=False)
        assert changed.wrong == {(f"discount.{next(iter(discount))}", "OUT_OF_RANGE")}
        assert await tenants.newest("coupon") == made


async def test_a_code_is_a_partners_own_however_it_is_written(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", coupon.create_coupon, **NEW)).done
    before = await tenants.snapshot()
    for same in ("SUMMER20", "summer-20", "Sum mer20", "SUMMER\u00ad20"):
        outcome = await ask.change("a1", coupon.create_coupon, **{**NEW, "code": same})
        assert outcome.wrong == {("code", "ALREADY_TAKEN")}, same
    assert await tenants.snapshot() == before
    assert (await ask.change("a2", coupon.create_coupon, **NEW)).done


async def test_of_the_same_code_twice_at_once_one_is_made(tenants: Tenants, ask: Transport) -> None:
    outcomes = await asyncio.gather(*(ask.change("a1", coupon.create_coupon, **NEW) for _ in range(5)))
    assert sum(outcome.done for outcome in outcomes) == 1
    assert {outcome.wrong for outcome in outcomes if not outcome.done} == {frozenset({("code", "ALREADY_TAKEN")})}
    assert await tenants.one("SELECT count(*) FROM coupon WHERE normal_code = 'SUMMER20'") == 1


async def test_what_is_left_out_of_a_change_stays_and_null_clears(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", coupon.create_coupon, **FULL)).done
    before = await tenants.newest("coupon")
    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"discount": {"percentage": "33.33"}}, {"discount_percentage": 33.33}),
        ({"discount": {"amount": "5"}}, {"discount_percentage": None, "discount_amount": 5}),
        ({"is_active": True}, {"is_active": True}),
        ({"max_usages": None}, {"max_usages": None}),
        ({"starts_on": None}, {"starts_on": None}),
        ({"ends_on": None}, {"ends_on": None}),
        ({"targets": []}, {"targets": []}),
        ({"limited_to": {"product_ids": [5]}}, {"product_ids": [5]}),
        ({"limited_to": {"reception_modes": []}}, {"reception_modes": []}),
        ({"conditions": {"minimum_basket": None}}, {"minimum_basket_amount": None}),
        ({"conditions": {"email": ""}}, {"email_condition": ""}),
        ({"conditions": {"email": "ada@example.com"}}, {"email_condition": "ada@example.com"}),
        ({"conditions": {}}, {}),
        ({}, {}),
    ]
    for change, expected in changes:
        assert (await ask.change("a1", coupon.update_coupon, id=before["id"], **change)).done, change
        before |= expected
        after = await tenants.newest("coupon")
        assert after == before | {"updated_on": after["updated_on"]}, change


async def test_a_change_that_cannot_be_leaves_all_as_it_was(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", coupon.create_coupon, **FULL)).done
    made = (await tenants.newest("coupon"))["id"]
    await tenants.execute("UPDATE coupon SET usage_count = 7 WHERE id = :id", id=made)
    before = await tenants.snapshot()
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"discount": {"percentage": "100.01"}}, "discount.percentage OUT_OF_RANGE"),
        ({"discount": {"amount": None}}, "discount"),
        ({"discount": None}, "discount"),
        ({"conditions": None}, "conditions"),
        ({"conditions": {"email": "nonsense"}}, "conditions.email"),
        ({"conditions": {"email": "@nonsense@"}}, "conditions.email"),
        ({"ends_on": START}, "ends_on"),
        ({"starts_on": END}, "ends_on"),
        ({"max_usages": 6}, "max_usages OUT_OF_RANGE"),
        ({"max_usages": 0}, "max_usages OUT_OF_RANGE"),
        ({"targets": None}, "targets"),
        ({"is_active": None}, "is_active"),
    ]
    for wrong, at in wrongs:
        outcome = await ask.change("a1", coupon.update_coupon, id=made, **{"free_click_and_collect": False, **wrong})
        assert outcome.wrong == mistake(at), wrong
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", coupon.update_coupon, id=made, max_usages=7)).done


async def test_coupons_are_found_by_their_code_as_it_is_typed(tenants: Tenants) -> None:
    query = (
        "query($f: CouponFilter, $o: CouponSort!) { coupons(filter: $f, orderBy: $o) { nodes { code } totalCount } }"
    )
    for code in ("ZEBRA", "Summer-20"):
        await tenants.graphql(
            "a1",
            "mutation($i: CreateCouponInput!) { createCoupon(input: $i) { userErrors { message } } }",
            i={"code": code, "discount": {"amount": "1"}, "isActive": code == "ZEBRA"},
        )

    async def codes(filter: Any, order: str = "NEWEST") -> list[str]:
        body = await tenants.graphql("a1", query, f=filter, o=order)
        return [node["code"] for node in body["data"]["coupons"]["nodes"]]

    assert await codes(None) == ["Summer-20", "ZEBRA", "a1-ten"]
    assert await codes(None, "CODE") == ["a1-ten", "Summer-20", "ZEBRA"]
    assert await codes({"code": "summer 20"}) == ["Summer-20"]
    assert await codes({"code": "a2-ten"}) == []
    assert await codes({"code": ""}) == []
    assert await codes({"isActive": False}) == ["Summer-20"]


async def test_uses_of_running_payments_are_not_written_over(shop: Shop) -> None:
    candle = await shop.product()
    made = await shop.coupon(max_usages=10)
    ready = [await shop.ready(ProductChoice(candle.id, 1), codes=(made.code,)) for _ in range(6)]
    changes = [UpdateCoupon.model_validate({"id": made.id, "max_usages": 10 + n}) for n in range(6)]
    started, _ = await asyncio.gather(
        asyncio.gather(*(shop.start(key, seen) for key, seen in ready)),
        asyncio.gather(*(coupon.update_coupon(shop.manager, change) for change in changes)),
    )
    assert len(started) == 6
    assert await shop.one("SELECT usage_count FROM coupon") == 6
    with pytest.raises(InvalidInput):
        await coupon.update_coupon(shop.manager, UpdateCoupon.model_validate({"id": made.id, "max_usages": 5}))
    await shop.pay(started[0], None)
    await payment.settle_payment(shop.context, ready[0][0].session_id, started[0].attempt_id)
    assert await shop.one("SELECT usage_count FROM coupon") == 5


async def test_a_discount_changed_before_paying_is_not_taken_without_asking(shop: Shop) -> None:
    candle = await shop.product("20.00")
    made = await shop.coupon(percentage="50.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(made.code,))
    assert seen.totals.total == Decimal("10.00")
    await coupon.update_coupon(
        shop.manager, UpdateCoupon.model_validate({"id": made.id, "discount": {"percentage": "10.00"}})
    )
    with pytest.raises(Exception, match="has changed since it was shown"):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0
    assert await shop.one("SELECT usage_count FROM coupon") == 0
