"""Lists: filters of every kind, orders, pages, masked codes, and addresses that lead nowhere."""

import datetime as dt
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

import pytest
from starlette.datastructures import QueryParams

from admin.forms.kinds import InputField, Kind, fields_of
from admin.graph.schema_types import list_filter_of, list_order_of
from admin.resources.registry import resources
from admin.resources.resource import Resource
from tests.admin.office import ROOT, Office, errors, notices, rows

pytestmark = pytest.mark.asyncio(loop_scope="session")

ZONE = ZoneInfo("Europe/Paris")
DAY = "2026-10-25"
"""A day of 25 hours."""
FIRST, LAST = dt.datetime(2026, 10, 25, tzinfo=ZONE), dt.datetime(2026, 10, 25, 23, 59, 59, 999999, tzinfo=ZONE)


def samples(of: InputField) -> Iterator[tuple[str, Any]]:
    """Values as they are typed, and as variables."""
    match of.kind:
        case Kind.SELECT:
            yield from ((name, name) for name in of.members[:2])
        case Kind.CHECKBOXES:
            yield from ((name, [name]) for name in of.members[:2])
        case Kind.TRISTATE:
            yield from (("1", True), ("0", False))
        case Kind.DATETIME:
            yield DAY, (LAST if of.name.endswith("Until") else FIRST).astimezone(dt.UTC).isoformat()
        case Kind.DATE:
            yield DAY, DAY
        case Kind.DECIMAL:
            yield "100,50", "100.50"
        case Kind.INTEGER:
            yield "1", 1
        case Kind.TEXT | Kind.EMAIL if of.type.name == "String":
            yield " a ", "a"


def wrong_samples(of: InputField) -> Iterator[str]:
    """Values that mean nothing."""
    match of.kind:
        case Kind.SELECT | Kind.CHECKBOXES:
            yield "NOTHING"
        case Kind.DATETIME | Kind.DATE:
            yield from ("2026-02-30", "tomorrow", "0001-01-01" if of.kind is Kind.DATETIME else "1-1-1")
        case Kind.DECIMAL | Kind.INTEGER:
            yield from ("one", "1.2.3", "9" * 40)
    if of.kind is Kind.INTEGER:
        yield "9" * 10
    if of.type.name in ("UUID", "Int") and of.kind in (Kind.TEXT, Kind.REFERENCE):
        yield "nothing"


async def keys_of_list(office: Office, who: str, resource: Resource, variables: dict[str, Any]) -> list[str] | None:
    """The keys that the GraphQL list gives with a filter; None if it refuses the filter."""
    order = next(iter(list_order_of(resource.query).values))
    kind = list_filter_of(resource.query).name
    part = f"{resource.query}(first: 25, orderBy: {order}, filter: $f) {{ nodes {{ {resource.key} }} }}"
    answer = await office.tenants.graphql(who, f"query($f: {kind}) {{ {part} }}", f=variables)
    page = (answer.get("data") or {}).get(resource.query)
    return None if page is None else [str(row[resource.key]) for row in page["nodes"]]


async def test_every_filter_leaves_what_the_api_leaves(demo: Office) -> None:
    narrowed = set()
    for resource in resources().values():
        if (every := await demo.keys("market a", resource, 25)) is None:
            continue
        for each in fields_of(list_filter_of(resource.query)):
            for typed, variable in samples(each):
                staff = await demo.open("market a", f"{ROOT}{resource.slug}/?{urlencode({each.name: typed})}")
                expected = await keys_of_list(demo, "market a", resource, {each.name: variable})
                at = f"{resource.slug} {each.name}={typed}"
                assert staff.response.status_code == (400 if expected is None else 200), at
                assert rows(staff, resource) == (expected or []), at
                narrowed |= {each.kind} if rows(staff, resource) != every else set()
    assert narrowed >= {
        Kind.SELECT,
        Kind.CHECKBOXES,
        Kind.TRISTATE,
        Kind.DATETIME,
        Kind.DECIMAL,
        Kind.INTEGER,
        Kind.TEXT,
    }


async def test_what_a_filter_leaves_out_is_told_above_the_list(demo: Office) -> None:
    path = f"{ROOT}coupons/"
    staff = await demo.open("master", f"{path}?isActive=1&code=SPRING&order=NEWEST")
    chips = staff.page.one("ul", class_="chosen").all("a")
    assert [chip.attributes["href"].partition("?")[0] for chip in chips] == [path] * len(chips)
    kept = [dict(QueryParams(chip.attributes["href"].partition("?")[2])) for chip in chips]
    every = {"isActive": "1", "code": "SPRING", "order": "NEWEST"}
    assert [every.keys() - each.keys() for each in kept] in ([{"isActive"}, {"code"}], [{"code"}, {"isActive"}])
    assert all(each.items() <= every.items() for each in kept)
    assert "open" not in staff.page.one("details", class_="filters").attributes
    assert (await demo.open("master", path)).page.all("ul", class_="chosen") == []


async def test_what_only_programs_need_is_not_among_the_facts(demo: Office) -> None:
    keys = await demo.keys("a", resources()["orders"], 1)
    assert keys
    labels = {}
    for who in ("a", "master"):
        staff = await demo.open(who, f"{ROOT}orders/{keys[0]}/")
        heads = [head.text for head in staff.page.one("main").all("th")]
        assert {"Rate", "Gross"} <= set(heads)
        assert not {"ID", "UUID"} & set(heads)
        labels[who] = [term.text for term in staff.page.one("main").all("dt")] + heads
    assert "Partner" in labels["master"]
    assert "Partner" not in labels["a"], "they see only their own"


async def test_a_reference_is_chosen_by_its_name(demo: Office) -> None:
    resource = resources()["voucher-prototypes"]
    staff = await demo.open("master", f"{ROOT}{resource.slug}/")
    partners = staff.page.one("select", id="f-partnerUuid").all("option")
    names = {option.text: option.attributes["value"] for option in partners}
    partner = (await demo.tenants.rows("SELECT commercial_name, uuid FROM partner ORDER BY id"))[0]
    assert names[partner[0]] == str(partner[1])
    await demo.open("master", f"{ROOT}{resource.slug}/?partnerUuid={partner[1]}")
    assert rows(staff, resource) == await keys_of_list(demo, "master", resource, {"partnerUuid": str(partner[1])})
    chosen = staff.page.one("select", id="f-partnerUuid").all("option", selected="")
    assert [option.text for option in chosen] == [partner[0]]
    own = await demo.open("a", f"{ROOT}{resource.slug}/")
    assert own.page.all("select", id="f-partnerUuid") == [], "of one partner there is nothing to choose"


async def test_a_wrong_filter_is_told(demo: Office) -> None:
    looked_at = set()
    for resource in resources().values():
        for each in fields_of(list_filter_of(resource.query)):
            for typed in wrong_samples(each):
                staff = await demo.open("master", f"{ROOT}{resource.slug}/?{urlencode({each.name: typed})}")
                at = f"{resource.slug} {each.name}={typed}"
                told = [*errors(staff).values(), *notices(staff)]
                assert told, at
                assert staff.response.status_code in (200, 400), at
                assert rows(staff, resource) == [], at
                looked_at.add(each.kind)
    assert looked_at >= {
        Kind.SELECT,
        Kind.CHECKBOXES,
        Kind.DATETIME,
        Kind.DATE,
        Kind.DECIMAL,
        Kind.INTEGER,
        Kind.REFERENCE,
    }


@pytest.mark.parametrize(
    "query",
    ["after=nothing", "before=nothing", "order=NOTHING", "after=%00", "nothing=1", "number=1&number=x", "done=x"],
)
async def test_a_wrong_address_of_a_list_is_no_failure(demo: Office, query: str) -> None:
    staff = await demo.open("a", f"{ROOT}orders/?{query}")
    assert staff.response.status_code in (200, 400)
    if query.startswith(("order=", "nothing=")):
        assert rows(staff, resources()["orders"]) == (await demo.keys("a", resources()["orders"], 25))


async def pages(office: Office, who: str, resource: Resource, query: str, rel: str) -> AsyncIterator[list[str]]:
    """The rows of a page, and of those that its links lead to, forward (`next`) or back (`prev`)."""
    staff = await office.open(who, f"{ROOT}{resource.slug}/{query}")
    while True:
        assert staff.response.status_code == 200
        yield rows(staff, resource)
        links = staff.page.all("a", rel=rel)
        if not links:
            return
        await staff.open(links[0].attributes["href"])


async def keys_in_order(office: Office, resource: Resource, order: str) -> AsyncIterator[str]:
    """The keys of all that the GraphQL list gives a master."""
    part = f"(first: 100, after: $after, orderBy: {order}) {{ nodes {{ {resource.key} }} pageInfo {{ endCursor }} }}"
    after = None
    while True:
        answer = await office.tenants.graphql(
            "master", f"query($after: String) {{ {resource.query}{part} }}", after=after
        )
        page = answer["data"][resource.query]
        for row in page["nodes"]:
            yield str(row[resource.key])
        if not page["nodes"]:
            return
        after = page["pageInfo"]["endCursor"]


@pytest.mark.parametrize("slug", ["network-gift-cards", "mails", "network-vouchers", "events"])
async def test_pages_have_everything_once_in_both_directions(demo: Office, slug: str) -> None:
    resource = resources()[slug]
    order = list(list_order_of(resource.query).values)[-1]
    every = [key async for key in keys_in_order(demo, resource, order)]
    forward = [page async for page in pages(demo, "master", resource, f"?order={order}", "next")]
    assert len(forward) > 1
    assert all(len(page) == 25 for page in forward[:-1])
    assert [key for page in forward for key in page] == every
    last = demo.browser("master").response.url.query.decode()
    back = [page async for page in pages(demo, "master", resource, f"?{last}", "prev")]
    assert back == forward[::-1]


async def test_a_filter_and_an_order_stay_from_page_to_page(demo: Office) -> None:
    orders = list(list_order_of("networkGiftCards").values)
    staff = await demo.open("market a", f"{ROOT}network-gift-cards/?createdFrom=2001-02-03&order={orders[-1]}")
    (link,) = staff.page.all("a", rel="next")
    kept = dict(QueryParams(link.attributes["href"].partition("?")[2]))
    assert kept.items() >= {"createdFrom": "2001-02-03", "order": orders[-1]}.items()
    assert staff.page.one("select", id="order").one("option", selected="").attributes["value"] == orders[-1]
    assert staff.page.one("input", id="f-createdFrom").attributes["value"] == "2001-02-03"


LOST = (
    "nothing/",
    "coupons/999999/",
    "coupons/0/",
    "coupons/-1/",
    "coupons/x/",
    "coupons/１/",
    "coupons/1.0/",
    "coupons/99999999999999999999/",
    "coupons/1\x00/",
    "coupons/new/nothing/",
    "coupons/new/update-coupon/",
    "coupons/new/create-product/",
    "coupons/{coupon}/nothing/",
    "coupons/{coupon}/create-coupon/",
    "coupons/{coupon}/update-product/",
    "coupons/{coupon}/nothing/1/update-coupon/",
    "partners/1/",
    "partners/nothing/",
    "products/{product}/variants/999999/update-product-variant/",
    "products/{product}/variants/x/update-product-variant/",
    "products/{product}/nothing/1/update-product-variant/",
    "a/b/c/d/e/f/g/",
    "coupons",
)


@pytest.mark.parametrize("path", LOST)
async def test_what_is_not_there_is_told(demo: Office, path: str) -> None:
    coupon, product = [await demo.tenants.one(f"SELECT min(id) FROM {table}") for table in ("coupon", "product")]  # noqa: S608
    url = ROOT + quote(path.format(coupon=coupon, product=product))
    staff = await demo.open("master", url)
    if staff.response.status_code == 200:
        assert path == "coupons", "only the slash was missing"
        return
    assert (staff.response.status_code, staff.h1) == (404, "Not found")
    csrf = staff.page.all("input", name="csrf")[0].attributes["value"]
    before = await demo.tenants.snapshot()
    await staff.post(url, {"csrf": csrf})
    assert staff.response.status_code in (404, 405)
    assert await demo.tenants.snapshot() == before
