"""Who sees and changes what in the back office: for every resource, every action and every role."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from admin.graph.labels import split
from admin.graph.schema_types import access_of, mutations
from admin.resources.registry import resources
from admin.resources.resource import Action, Child, Resource
from schema.core.permission import AccessRule, Permission
from tests.admin.office import DEMO_STAFF, LOG_IN, ROOT, Office, change_form, rows, typed

FEW = 25
"""Rows of a page."""
UNSEEN = {"exports", "webhook-endpoints", "webhook-deliveries"}
"""Resources of which the demo data has nothing."""
WRITTEN_MEANWHILE = {"api-requests"}
"""Resources that have more rows after each refusal; tests/resolvers/test_api_requests.py tells who sees which."""

in_shared_loop = pytest.mark.asyncio(loop_scope="session")
"""For tests of the demo data, which is laid once."""


@dataclass(frozen=True)
class Place:
    """The address of an action, and what it requires."""

    action: Action
    url: str


async def places(office: Office, who: str, resource: Resource, key: str) -> list[Place]:
    """The addresses of all actions of an object, and of those of its children that somebody sees."""
    url = f"{ROOT}{resource.slug}/{key}/"
    found = [Place(action, f"{url}{action.slug}/") for action in resource.actions]
    for child in resource.children:
        for id in await children(office, who, resource, key, child):
            found += [Place(it, f"{url}{'-'.join(split(child.field))}/{id}/{it.slug}/") for it in child.actions]
    return found


async def children(office: Office, who: str, resource: Resource, key: str, child: Child) -> list[str]:
    """The ids of the children of an object."""
    kind = "UUID" if resource.key == "uuid" else "Int"
    query = f"query($key: {kind}!) {{ {resource.finds}({resource.key}: $key) {{ {child.field} {{ id }} }} }}"
    answer = await office.tenants.graphql(who, query, key=key if kind == "UUID" else int(key))
    return [str(each["id"]) for each in answer["data"][resource.finds][child.field] or ()][:1]


async def may(office: Office, who: str, action: Action) -> bool:
    """Whether somebody has the permission of an action."""
    try:
        (await office.tenants.context(who)).require(action.access)
    except Exception:  # noqa: BLE001 - whatever it says
        return False
    return True


@in_shared_loop
async def test_every_list_has_the_rows_of_its_caller_and_no_others(demo: Office) -> None:
    seen: dict[str, set[str]] = {}
    for resource in resources().values():
        if resource.slug in WRITTEN_MEANWHILE:
            continue
        for who in DEMO_STAFF:
            keys = await demo.keys(who, resource, FEW)
            staff = await demo.open(who, f"{ROOT}{resource.slug}/")
            assert staff.response.status_code == (403 if keys is None else 200), (who, resource.slug)
            assert rows(staff, resource) == (keys or []), (who, resource.slug)
            menu = {a.attributes["href"] for a in staff.page.all("nav")[0].all("a")}
            assert (f"{ROOT}{resource.slug}/" in menu) is (keys is not None), (who, resource.slug)
            seen.setdefault(who, set()).update([resource.slug] if keys else [])
    assert resources().keys() - seen["master"] == UNSEEN | WRITTEN_MEANWHILE
    assert len(seen["a"]) > 30
    assert len(seen["b"]) > 10
    assert seen["market b"] < seen["market a"]


async def foreign(office: Office, owner: str, stranger: str) -> Iterator[tuple[Resource, str]]:
    """Of every resource an object that one user sees and another does not."""
    found = []
    for resource in resources().values():
        theirs, own = await office.keys(owner, resource), set(await office.keys(stranger, resource) or ())
        found += [(resource, key) for key in theirs or () if key not in own][:1]
    return iter(found)


@in_shared_loop
@pytest.mark.parametrize(("owner", "stranger"), [("a", "b"), ("b", "a"), ("market a", "market b"), ("market a", "a")])
async def test_what_another_tenant_has_does_not_exist(demo: Office, owner: str, stranger: str) -> None:
    csrf = await demo.csrf(stranger)
    before = await demo.tenants.snapshot()
    looked_at = 0
    for resource, key in await foreign(demo, owner, stranger):
        url = f"{ROOT}{resource.slug}/{key}/"
        assert (await demo.open(owner, url)).response.status_code == 200, url
        sees = await demo.keys(stranger, resource) is not None
        assert (await demo.open(stranger, url)).response.status_code == (404 if sees else 403), url
        for place in await places(demo, owner, resource, key):
            expected = 404 if sees and await may(demo, stranger, place.action) else 403
            assert (await demo.open(stranger, place.url)).response.status_code == expected, place.url
            form = await demo.open(owner, place.url)
            fields = typed(form) if form.response.status_code == 200 else {}
            sent = await demo.browser(stranger).post(place.url, fields | {"csrf": csrf})
            assert sent.response.status_code == expected, place.url
            looked_at += 1
    assert looked_at >= 20
    assert await demo.tenants.snapshot() == before


@in_shared_loop
@pytest.mark.parametrize("who", DEMO_STAFF)
async def test_every_page_of_what_somebody_sees_opens(demo: Office, who: str) -> None:
    """Of every resource an object, and the form of every change of it; without its permission it is refused."""
    before = await demo.tenants.snapshot()
    for resource in resources().values():
        for action in resource.new:
            await opens(demo, who, Place(action, f"{ROOT}{resource.slug}/new/{action.slug}/"))
        for key in (await demo.keys(who, resource) or ())[:1]:
            url = f"{ROOT}{resource.slug}/{key}/"
            assert (await demo.open(who, url)).response.status_code == 200, url
            for place in await places(demo, who, resource, key):
                await opens(demo, who, place)
    assert await demo.tenants.snapshot() == before


async def opens(office: Office, who: str, place: Place) -> None:
    """The form opens for who may send it, and is refused to all others."""
    staff = await office.open(who, place.url)
    allowed = await may(office, who, place.action)
    assert staff.response.status_code == (200 if allowed else 403), (who, place.url)
    if allowed:
        assert change_form(staff).attributes["action"] == place.url
        problems = [told.text for told in staff.page.all(role="alert")]
        assert problems == [], (who, place.url)


async def test_nobody_gets_in_without_a_log_in(office: Office) -> None:
    owned = office.tenants.owned["a1"]
    coupon = f"{ROOT}coupons/{owned.coupon}/"
    fields = typed(await office.open("a1", f"{coupon}update-coupon/"))
    new = typed(await office.open("a1", f"{ROOT}coupons/new/create-coupon/"))
    nobody = await office.open(None, LOG_IN)
    csrf = nobody.page.all("input", name="csrf")[0].attributes["value"]
    before = await office.tenants.snapshot()
    pages = [ROOT, coupon, f"{coupon}update-coupon/", f"{ROOT}coupons/new/create-coupon/", f"{ROOT}nothing/"]
    for path in (*pages, *(f"{ROOT}{slug}/" for slug in resources())):
        answer = await nobody.http.get(path)
        assert answer.status_code == 303, path
        assert urlsplit(answer.headers["location"]).path == LOG_IN, path
    changes = ((f"{coupon}update-coupon/", fields), (f"{ROOT}coupons/new/create-coupon/", new))
    for path, sent in changes:
        answer = await nobody.http.post(path, data=sent | {"csrf": csrf, "code": "STOLEN"})
        assert (answer.status_code, urlsplit(answer.headers["location"]).path) == (303, LOG_IN)
    assert await office.tenants.snapshot() == before
    nobody.http.cookies.set("coffret-admin", "coffret_nonsense")
    answer = await nobody.http.get(coupon)
    assert (answer.status_code, urlsplit(answer.headers["location"]).path) == (303, LOG_IN)


async def test_a_permission_that_is_missing_is_told(office: Office) -> None:
    of = {"partner_id": office.tenants.partners["a1"].id}
    await office.tenants.user("nobody", "partner", [], **of)
    await office.tenants.user("reader", "partner", [Permission.VIEW_CATALOGUE], **of)
    owned = office.tenants.owned["a1"]
    assert (await office.open("nobody", ROOT)).response.status_code == 200
    for resource in resources().values():
        own = resource.access is AccessRule.AUTHENTICATED
        nobody = await office.open("nobody", f"{ROOT}{resource.slug}/")
        assert nobody.response.status_code == (200 if own else 403), resource.slug
        allowed = own or resource.access is Permission.VIEW_CATALOGUE
        staff = await office.open("reader", f"{ROOT}{resource.slug}/")
        assert staff.response.status_code == (200 if allowed else 403), resource.slug
    form = f"{ROOT}coupons/{owned.coupon}/update-coupon/"
    fields = typed(await office.open("a1", form))
    assert (await office.open("nobody", f"{ROOT}coupons/{owned.coupon}/")).response.status_code == 403
    reader = await office.open("reader", f"{ROOT}coupons/{owned.coupon}/")
    assert reader.response.status_code == 200
    assert not [a for a in reader.page.all("a", class_="button") if "update-coupon" in a.attributes["href"]]
    csrf, before = await office.csrf("reader"), await office.tenants.snapshot()
    assert (await office.open("reader", form)).response.status_code == 403
    sent = await office.browser("reader").post(form, fields | {"csrf": csrf, "code": "OTHER"})
    assert (sent.response.status_code, sent.h1) == (403, "Not allowed")
    assert await office.tenants.snapshot() == before


def test_every_action_asks_for_a_permission() -> None:
    for resource in resources().values():
        for action in (*resource.actions, *resource.new):
            assert action.access is access_of(mutations()[action.mutation])
