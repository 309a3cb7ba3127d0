"""Managing delivery: rates are replaced whole, and no price is there twice."""

import asyncio
from typing import Any

from resolvers import delivery
from schema.delivery.delivery import DeliveryKind
from tests.changes import Transport
from tests.fixtures.tenants import Tenants

NEW = {"kind": DeliveryKind.HOME_DELIVERY, "name": {"en": "Post"}}
RATES = [
    {"country": "FR", "max_weight_grams": 500, "price": "4.90"},
    {"country": "FR", "price": "9.90"},
    {"price": "20.00"},
]


async def rates(tenants: Tenants, mode: int) -> list[tuple[Any, ...]]:
    found = await tenants.rows(
        "SELECT country, max_weight_grams, price_amount::text, currency FROM delivery_rate "
        "WHERE delivery_mode_id = :id ORDER BY id",
        id=mode,
    )
    return [tuple(one) for one in found]


async def test_a_mode_is_made_with_its_rates(tenants: Tenants, ask: Transport) -> None:
    sent = {
        **NEW,
        "description": {"fr": "Sous deux jours"},
        "rates": RATES,
        "free_above": "90.00",
        "vat_rate": "5.50",
        "is_active": False,
        "ranking": 4,
    }
    assert (await ask.change("b1", delivery.create_delivery_mode, **sent)).done
    made = await tenants.newest("delivery_mode")
    assert made == {
        "id": made["id"], "updated_on": made["updated_on"], "partner_id": tenants.partners["b1"].id, "currency": "CHF",
        "kind": "home_delivery", "name": {"en": "Post"}, "description": {"fr": "Sous deux jours"}, "vat_rate": 5.5,
        "free_above_amount": 90, "is_active": False, "ranking": 4,
    }  # fmt: skip
    assert await rates(tenants, made["id"]) == [
        ("FR", 500, "4.90", "CHF"),
        ("FR", None, "9.90", "CHF"),
        ("", None, "20.00", "CHF"),
    ]


async def test_a_mode_costs_nothing_unless_told(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", delivery.create_delivery_mode, **NEW)).done
    made = await tenants.newest("delivery_mode")
    assert (made["vat_rate"], made["free_above_amount"], made["description"]) == (20, None, {})
    assert await rates(tenants, made["id"]) == []


async def test_what_is_left_out_of_a_change_stays_and_rates_are_replaced(tenants: Tenants, ask: Transport) -> None:
    sent = {**NEW, "rates": RATES, "free_above": "90.00"}
    assert (await ask.change("a1", delivery.create_delivery_mode, **sent)).done
    before = await tenants.newest("delivery_mode")
    kept = await rates(tenants, before["id"])
    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"free_above": None}, {"free_above_amount": None}),
        ({"vat_rate": "0"}, {"vat_rate": 0}),
        ({"name": {"it": "Posta"}}, {"name": {"en": "Post", "it": "Posta"}}),
        ({"is_active": False, "ranking": 2}, {"is_active": False, "ranking": 2}),
    ]
    for change, expected in changes:
        assert (await ask.change("a1", delivery.update_delivery_mode, id=before["id"], **change)).done
        before |= expected
        after = await tenants.newest("delivery_mode")
        assert after == before | {"updated_on": after["updated_on"]}, change
        assert await rates(tenants, before["id"]) == kept
    replaced = [{"country": "FR", "max_weight_grams": 500, "price": "5.90"}, {"country": "BE", "price": "7.00"}]
    assert (await ask.change("a1", delivery.update_delivery_mode, id=before["id"], rates=replaced)).done
    assert await rates(tenants, before["id"]) == [("FR", 500, "5.90", "EUR"), ("BE", None, "7.00", "EUR")]
    assert (await ask.change("a1", delivery.update_delivery_mode, id=before["id"], rates=[])).done
    assert await rates(tenants, before["id"]) == []


async def test_what_delivery_cannot_be_is_told_by_field(tenants: Tenants, ask: Transport) -> None:
    mine = tenants.owned["a1"].delivery_mode
    assert (await ask.change("a1", delivery.update_delivery_mode, id=mine, rates=RATES)).done
    before = await tenants.snapshot()
    wrongs: list[tuple[dict[str, Any], str, str]] = [
        ({"vat_rate": "100.01"}, "vat_rate", "OUT_OF_RANGE"),
        ({"vat_rate": "-0.01"}, "vat_rate", "OUT_OF_RANGE"),
        ({"free_above": "-1"}, "free_above", "OUT_OF_RANGE"),
        ({"ranking": -1}, "ranking", "OUT_OF_RANGE"),
        ({"name": {"en": " "}, "ranking": 5}, "name", "INVALID"),
        ({"rates": [*RATES, {"country": "ZZ", "price": "1"}]}, "rates.3.country", "INVALID"),
        ({"rates": [{"country": "XX", "price": "1"}]}, "rates.0.country", "INVALID"),
        ({"rates": [{"country": "EU", "price": "1"}]}, "rates.0.country", "INVALID"),
        ({"rates": [{"country": "FRA", "price": "1"}]}, "rates.0.country", "INVALID"),
        ({"rates": [{"country": "FR", "price": "-1"}]}, "rates.0.price", "OUT_OF_RANGE"),
        (
            {"rates": [{"country": "FR", "max_weight_grams": 0, "price": "1"}]},
            "rates.0.max_weight_grams",
            "OUT_OF_RANGE",
        ),
        ({"rates": [{"price": "1"}] * 1001}, "rates", "TOO_MANY"),
        ({"rates": [*RATES, {"country": "fr", "price": "1"}]}, "rates", "ALREADY_TAKEN"),
        ({"rates": [*RATES, {"country": "FR", "max_weight_grams": 500, "price": "1"}]}, "rates", "ALREADY_TAKEN"),
        ({"rates": [{"price": "1"}, {"country": "", "price": "2"}]}, "rates", "ALREADY_TAKEN"),
    ]
    for wrong, at, code in wrongs:
        made = await ask.change("a1", delivery.create_delivery_mode, **{**NEW, **wrong})
        assert made.wrong == {(at, code)}, wrong
        if "name" in wrong:
            wrong["name"] = {"en": None, "fr": None}
        changed = await ask.change("a1", delivery.update_delivery_mode, id=mine, **wrong)
        assert changed.wrong == {(at, code)}, wrong
    assert await tenants.snapshot() == before


async def test_rates_replaced_at_once_are_those_of_one_of_the_two(tenants: Tenants, ask: Transport) -> None:
    mine = tenants.owned["a1"].delivery_mode
    wanted = [[{"country": code, "price": f"{n}.00"} for code in ("FR", "BE", "DE")] for n in range(6)]
    outcomes = await asyncio.gather(
        *(ask.change("a1", delivery.update_delivery_mode, id=mine, rates=each) for each in wanted)
    )
    assert all(outcome.done for outcome in outcomes)
    left = [(country, price) for country, _, price, _ in await rates(tenants, mine)]
    assert left in [[(str(rate["country"]), str(rate["price"])) for rate in each] for each in wanted]


async def test_modes_are_read_with_their_rates(tenants: Tenants) -> None:
    mine = tenants.owned["a1"].delivery_mode
    await tenants.graphql(
        "a1",
        "mutation($i: UpdateDeliveryModeInput!) { updateDeliveryMode(input: $i) { userErrors { message } } }",
        i={"id": mine, "freeAbove": "50.00", "rates": [{"country": "FR", "maxWeightGrams": 500, "price": "4.90"}]},
    )
    query = """query($f: DeliveryModeFilter) { deliveryModes(filter: $f) { nodes {
        id kind freeAbove { amount currency } rates { country maxWeightGrams price { amount } } } } }"""
    body = await tenants.graphql("a1", query)
    assert body["data"]["deliveryModes"]["nodes"] == [
        {
            "id": mine,
            "kind": "CLICK_AND_COLLECT",
            "freeAbove": {"amount": "50.00", "currency": "EUR"},
            "rates": [{"country": "FR", "maxWeightGrams": 500, "price": {"amount": "4.90"}}],
        }
    ]
    for filter, count in (({"kind": "DIGITAL"}, 0), ({"isActive": False}, 0), ({"kind": "CLICK_AND_COLLECT"}, 1)):
        body = await tenants.graphql("a1", query, f=filter)
        assert len(body["data"]["deliveryModes"]["nodes"]) == count
