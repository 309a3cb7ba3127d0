"""Marketplaces, and the domains of partners."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from resolvers.core.lists.listing import PageArguments
from resolvers.partner import marketplaces
from resolvers.partner.sites import shop_at
from store.core.clock import clock
from tests.changes import Transport
from tests.fixtures.tenants import Tenants

NEW = {
    "name": " The Lakes ",
    "domain": "Lakes.Example",
    "currency": "chf",
    "time_zone": "Europe/Zurich",
    "payment_request_days": 60,
    "payment_request_reminder_days": 10,
}


async def test_a_marketplace_is_made(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("master", marketplaces.create_marketplace, **NEW)).done
    made = await tenants.newest("marketplace")
    kept = {name: made[name] for name in NEW}
    assert kept == {**NEW, "name": "The Lakes", "domain": "lakes.example", "currency": "CHF"}
    assert (await ask.change("master", marketplaces.create_marketplace, name="Plain")).done
    made = await tenants.newest("marketplace")
    assert (made["domain"], made["currency"], made["time_zone"]) == ("", "EUR", "Europe/Paris")
    assert (made["payment_request_days"], made["payment_request_reminder_days"]) == (14, 3)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "a" * 121}, "name"),
        ({"domain": "https://lakes.example"}, "domain"),
        ({"domain": "lakes.example:8000"}, "domain"),
        ({"domain": "10.0.0.1"}, "domain"),
        ({"currency": "XXX1"}, "currency"),
        ({"currency": "JPY"}, "currency"),
        *(({"currency": code}, "currency") for code in ("XXX", "xts", "XAU", "XDR", "DEM", "BGL", "ABC")),
        ({"currency": ""}, "currency"),
        ({"time_zone": "Europe/Nowhere"}, "time_zone"),
    ],
)
async def test_what_a_marketplace_cannot_be(
    tenants: Tenants, ask: Transport, wrong: dict[str, Any], field: str
) -> None:
    before = await tenants.snapshot()
    outcome = await ask.change("master", marketplaces.create_marketplace, **{**NEW, **wrong})
    assert {path for path, _ in outcome.wrong} == {field}
    assert await tenants.snapshot() == before


async def test_a_marketplace_is_changed_by_its_own(tenants: Tenants, ask: Transport) -> None:
    id, before = tenants.marketplaces["a"].id, await tenants.snapshot()
    for who, code in (("a1", "FORBIDDEN"), ("market b", "NOT_FOUND")):
        outcome = await ask.change(who, marketplaces.update_marketplace, id=id, name="Mine")
        assert {found for _, found in outcome.wrong} == {code}
        made = await ask.change(who, marketplaces.create_marketplace, name="Mine")
        assert {found for _, found in made.wrong} == {"FORBIDDEN"}
    for wrong in ({"name": ""}, {"domain": "a/b"}, {"time_zone": "Mars"}):
        outcome = await ask.change("market a", marketplaces.update_marketplace, id=id, **wrong)
        assert {path for path, _ in outcome.wrong} == set(wrong)
    assert await tenants.snapshot() == before
    sent = {"name": "Alps", "domain": "Älps.example", "time_zone": "Europe/Vienna"}
    assert (await ask.change("market a", marketplaces.update_marketplace, id=id, **sent)).done
    row = await tenants.row("marketplace", id)
    assert (row["name"], row["domain"], row["time_zone"]) == ("Alps", "xn--lps-pla.example", "Europe/Vienna")
    assert row["currency"] == "EUR"


INVOICING = {
    "company_name": "Alps SAS",
    "address_line_1": "1 rue du Lac",
    "postal_code": "74000",
    "city": "Annecy",
    "country_code": "FR",
}


@pytest.mark.parametrize(
    ("last", "starts_on"),
    [({}, "2031-04-01"), ({"starts_on": None}, None), ({"starts_on": "2031-02-03"}, "2031-02-03")],
)
async def test_invoices_begin_with_the_month_in_which_their_details_are_complete(
    tenants: Tenants, ask: Transport, last: dict[str, Any], starts_on: str | None
) -> None:
    id, completed = tenants.marketplaces["a"].id, {**INVOICING, "registration_number": "732829320"}

    async def invoicing_begins(details: dict[str, Any]) -> Any:
        assert (await ask.change("market a", marketplaces.update_marketplace, id=id, invoicing=details)).done
        return (await tenants.row("marketplace", id))["invoicer_starts_on"]

    clock.advance(dt.datetime(2031, 3, 31, 22, 30, tzinfo=dt.UTC) - clock.now())  # half past midnight in Paris
    assert await invoicing_begins(INVOICING) is None
    assert await invoicing_begins({"registration_number": "732829320", **last}) == starts_on
    clock.advance(dt.timedelta(days=40))
    assert await invoicing_begins({"city": "Thônes"}) == starts_on
    assert await invoicing_begins({"starts_on": None}) is None
    created = {**NEW, "name": "Lakes", "invoicing": {**completed, **last}}
    assert (await ask.change("master", marketplaces.create_marketplace, **created)).done
    assert (await tenants.newest("marketplace"))["invoicer_starts_on"] == ("2031-05-01" if last == {} else starts_on)


@pytest.mark.parametrize(("who", "seen"), [("a1", "a"), ("market b", "b"), ("master", "ab")])
async def test_who_sees_which_marketplaces(tenants: Tenants, who: str, seen: str) -> None:
    found = await marketplaces.marketplaces(await tenants.context(who), PageArguments())
    assert [row.id for row in await found.rows.objects()] == [tenants.marketplaces[name].id for name in seen]
    for name, row in tenants.marketplaces.items():
        for argument in (f"id: {row.id}", f'uuid: "{row.uuid}"'):
            body = await tenants.graphql(who, f"{{ marketplace({argument}) {{ name }} }}")
            assert body["data"]["marketplace"] == ({"name": name} if name in seen else None)


async def move(tenants: Tenants, ask: Transport, host: str, who: str = "market a", partner: str = "a1") -> set[Any]:
    """Move the checkout of a partner; tells what was wrong."""
    sent = {"partner_uuid": str(tenants.partners[partner].uuid), "site_domain": host}
    return set((await ask.change(who, marketplaces.change_site_domain, **sent)).wrong)


async def test_a_checkout_moves(tenants: Tenants, ask: Transport) -> None:
    assert (await tenants.context("a1")).required_caller.site_domain == "a1.localhost"
    assert not await move(tenants, ask, " Checkout.Shop.Example ")
    assert (await tenants.context("a1")).required_caller.site_domain == "checkout.shop.example", (
        "carts lead there at once"
    )
    found = await shop_at(tenants.services.db, "checkout.shop.example")
    assert found is not None
    assert found.partner_id == tenants.partners["a1"].id
    assert await shop_at(tenants.services.db, "a1.localhost") is None
    assert not await move(tenants, ask, "a1.localhost:8000"), "with a port, in development"
    assert not await move(tenants, ask, f"a1-{tenants.partners['a1'].id}.localhost"), "its own default"


async def test_where_a_checkout_cannot_be(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    other = tenants.partners["b1"].id
    bad = ["", "https://shop.example", "shop.example/x", "shop example", "-a.example", "10.1.2.3", "a:b", "a:70000"]
    for host in (*bad, "a" * 64 + ".example", "127.0.0.1:8000", f"new-{other}.localhost", "new-999999.localhost"):
        assert {path for path, _ in await move(tenants, ask, host)} == {"site_domain"}, host
    assert await move(tenants, ask, "B1.localhost") == {("site_domain", "ALREADY_TAKEN")}
    assert await move(tenants, ask, "x.example", partner="b1") == {("", "NOT_FOUND")}
    assert {code for _, code in await move(tenants, ask, "x.example", who="a1")} == {"FORBIDDEN"}
    assert await tenants.snapshot() == before


async def test_of_two_at_once_one_gets_the_domain(tenants: Tenants, ask: Transport) -> None:
    found = await asyncio.gather(
        *(move(tenants, ask, "one.example", partner=partner) for partner in ("a1", "a2") for _ in range(2))
    )
    owners = await tenants.rows("SELECT id FROM partner WHERE site_domain = 'one.example'")
    assert len(owners) == 1
    assert found.count(set()) == 2, "once, and again without a change"
    assert {wrong for each in found for wrong in each} == {("site_domain", "ALREADY_TAKEN")}
