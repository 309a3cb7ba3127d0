"""Bulk actions: what is offered, what a preview tells and that it changes nothing, what becomes of each object."""

import datetime as dt
from uuid import uuid4

import pytest

from admin.bulk import objects as bulk_objects
from admin.bulk.objects import OUT_OF_STATE, UNKNOWN
from admin.forms.kinds import Kind, fields_of
from admin.graph.execution import run
from admin.pages import bulk_actions as declared
from admin.pages.bulk_actions import bulk_actions
from admin.resources.registry import resources
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus as S
from store.core.clock import clock
from tests.admin.office import ROOT, Office, change_form, errors, notices, send, typed
from tests.fixtures.gift_card import card_events, gift_card
from tests.fixtures.voucher import sell, voucher_of
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of as page_fields_of
from tests.resolvers.export.exported import copy_rows

CARDS = f"{ROOT}gift-cards/"
COUPONS = f"{ROOT}coupons/"
PRODUCTS = f"{ROOT}products/"
FROM_PAGE = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}


def rows_of(staff: Customer) -> dict[str, str]:
    """What the table of a page says of each object, by its address; of one that is not seen by its name."""
    found = {}
    for row in staff.page.one("main").all("tr")[1:]:
        links = row.one("th").all("a")
        found[links[0].attributes["href"] if links else row.one("th").text] = row.one("td").text
    return found


def later(days: int) -> str:
    """A time as it is typed, so many days from now."""
    return (clock.now() + dt.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M")


async def test_cards_of_mixed_states_are_extended(office: Office) -> None:
    tenants = office.tenants
    paid, gone = await gift_card(tenants), await gift_card(tenants, status=S.CANCELLED)
    over = await gift_card(tenants, status=S.EXPIRED, expires_on=clock.now() - dt.timedelta(days=1))
    far = await gift_card(tenants, expires_on=clock.now() + dt.timedelta(days=3000))
    before = await tenants.snapshot()
    staff = await office.choose("a1", CARDS, "extend-gift-card", paid.id, gone.id, over.id, far.id)
    assert (staff.response.status_code, staff.h1) == (200, "Extend")
    await send(staff, expiresOn=later(900))
    assert staff.response.status_code == 200
    outcomes = rows_of(staff)
    assert "Valid until:" in outcomes[f"{CARDS}{paid.id}/"]
    assert "Status: Expired → becomes Paid" in outcomes[f"{CARDS}{over.id}/"]
    assert outcomes[f"{CARDS}{gone.id}/"].startswith("Left out")
    assert outcomes[f"{CARDS}{far.id}/"] == "Left out Choose a time after the one it is valid until."
    assert "2 will be changed. 2 are left out." in staff.page.one("main").text
    assert await tenants.snapshot() == before, "a preview changes nothing"
    fields = {each.attributes["name"]: each.attributes["value"] for each in change_form(staff).all("input")}
    assert fields["_keys"] == f"{paid.id} {over.id}"
    url = change_form(staff).attributes["action"]
    for _ in range(2):
        await staff.post(url, fields)
        assert notices(staff) == ["2 are done."]
        assert (await tenants.row("gift_card", over.id))["status"] == "paid"
        for card in (paid, over):
            assert [kind for kind, _ in await card_events(tenants, card.id)] == ["gift_card.extended"]
    written = "SELECT count(*) FROM audit_entry WHERE operation = 'extend_gift_card' AND refused IS NULL"
    assert await tenants.one(written) == 2
    assert (await tenants.row("gift_card", gone.id))["status"] == "cncld"


async def test_what_is_wrong_for_all_is_told_at_its_field(office: Office) -> None:
    card = await gift_card(office.tenants)
    before = await office.tenants.snapshot()
    staff = await office.choose("a1", CARDS, "extend-gift-card", card.id)
    await send(staff, expiresOn="")
    assert (staff.response.status_code, errors(staff)) == (400, {"expiresOn": "Fill this in."})
    await send(staff, expiresOn=later(-9))
    assert (staff.response.status_code, errors(staff)) == (400, {"expiresOn": "Choose a time to come."})
    gone = await gift_card(office.tenants, expires_on=None)
    before = await office.tenants.snapshot()
    await office.choose("a1", CARDS, "extend-gift-card", card.id, gone.id)
    await send(staff, expiresOn=later(30))
    reasons = rows_of(staff)
    assert reasons[f"{CARDS}{card.id}/"] == "Left out Choose a time after the one it is valid until."
    assert reasons[f"{CARDS}{gone.id}/"] != reasons[f"{CARDS}{card.id}/"], "each has its own reason"
    assert await office.tenants.snapshot() == before


async def test_what_takes_something_away_is_confirmed(office: Office) -> None:
    tenants = office.tenants
    first, second = await gift_card(tenants), await gift_card(tenants)
    staff = await office.choose("a1", CARDS, "cancel-gift-card", first.id, second.id)
    assert all("Status: Paid → becomes Cancelled" in each for each in rows_of(staff).values())
    assert "required" in staff.page.one("input", name="_consent").attributes
    before = await tenants.snapshot()
    await send(staff)
    assert staff.response.status_code == 400
    assert notices(staff) == ["Confirm it with the box above the button."]
    assert await tenants.snapshot() == before
    await tenants.execute("UPDATE gift_card SET status = 'exprd' WHERE id = :id", id=second.id)
    await send(staff, _consent="1")
    assert [(await tenants.row("gift_card", it.id))["status"] for it in (first, second)] == ["cncld", "cncld"]


async def test_what_changed_since_the_preview_is_refused_alone(office: Office) -> None:
    tenants = office.tenants
    first, second = await gift_card(tenants, status=S.DRAFT), await gift_card(tenants, status=S.DRAFT)
    staff = await office.choose("a1", CARDS, "activate-gift-card", first.id, second.id)
    await tenants.execute("UPDATE gift_card SET status = 'cncld' WHERE id = :id", id=second.id)
    await send(staff)
    assert notices(staff) == ["1 is done.", "1 was refused."]
    assert rows_of(staff)[f"{CARDS}{second.id}/"].startswith("Refused")
    assert (await tenants.row("gift_card", first.id))["status"] == "paid"
    assert (await tenants.row("gift_card", second.id))["status"] == "cncld"


async def test_a_state_that_is_known_is_not_tried(office: Office) -> None:
    order = office.tenants.owned["a1"].order
    before = await office.tenants.snapshot()
    staff = await office.choose("a1", f"{ROOT}orders/", "mark-order-delivered", order)
    assert rows_of(staff) == {f"{ROOT}orders/{order}/": f"Left out {OUT_OF_STATE}"}
    assert change_form(staff).all("button") == []
    assert await office.tenants.snapshot() == before


@pytest.mark.parametrize("who", ["b1", "a2"])
async def test_an_object_of_others_is_not_seen_nor_changed(office: Office, who: str) -> None:
    tenants = office.tenants
    own, theirs = await gift_card(tenants, who), await gift_card(tenants)
    staff = await office.choose(who, CARDS, "cancel-gift-card", own.id, theirs.id)
    assert rows_of(staff)[f"Gift card {theirs.id}"] == f"Left out {UNKNOWN}"
    before = await tenants.row("gift_card", theirs.id)
    await send(staff, _keys=f"{theirs.id} {own.id}", _consent="1")
    assert notices(staff) == ["1 is done.", "1 was refused."]
    assert rows_of(staff)[f"Gift card {theirs.id}"] == f"Refused {UNKNOWN}"
    assert await tenants.row("gift_card", theirs.id) == before
    assert (await tenants.row("gift_card", own.id))["status"] == "cncld"


async def test_vouchers_are_found_by_what_their_change_needs(office: Office) -> None:
    sold = await sell(office.tenants, "a1")
    voucher = await office.tenants.add(voucher_of(sold, expires_on=clock.now() + dt.timedelta(days=9)))
    staff = await office.choose("a1", f"{ROOT}vouchers/", "extend-voucher", voucher.id)
    assert voucher.code not in staff.page.one("main").text, "codes are masked"
    await send(staff, expiresOn=later(90))
    await send(staff)
    assert notices(staff) == ["1 is done."]
    row = await office.tenants.row("voucher", voucher.id)
    assert dt.datetime.fromisoformat(row["expires_on"]) > clock.now() + dt.timedelta(days=80)


async def test_many_are_switched_off(office: Office) -> None:
    coupon = office.tenants.owned["a1"].coupon
    staff = await office.choose("a1", COUPONS, "update-coupon", coupon)
    assert [each.attributes["name"] for each in change_form(staff).all("select")] == ["isActive"]
    assert typed(staff).keys() >= {"isActive", "startsOn", "endsOn"}
    before = await office.tenants.row("coupon", coupon)
    await send(staff)
    assert (staff.response.status_code, errors(staff)) == (400, {"isActive": "Fill this in."})
    await send(staff, isActive="0", maxUsages="1")
    assert "Active: Yes → becomes No" in rows_of(staff)[f"{COUPONS}{coupon}/"]
    await send(staff, maxUsages="1")
    changed = await office.tenants.row("coupon", coupon)
    assert changed["is_active"] is False
    assert changed["max_usages"] == before["max_usages"], "the form has no such field"


async def test_further_fields_are_set_for_many_and_empty_ones_stay(office: Office) -> None:
    tenants = office.tenants
    id, other = tenants.owned["a1"].product, tenants.owned["b1"].product
    await tenants.execute("UPDATE product SET stock = 3, vat_rate = 20")
    before = await tenants.snapshot()
    staff = await office.choose("a1", PRODUCTS, "update-product", id, other)
    assert staff.h1 == "Edit"
    assert "What you leave empty stays as it is." in staff.page.one("main").text
    await send(staff, vatRate="x")
    assert (staff.response.status_code, errors(staff)) == (400, {"vatRate": "Enter a number."})
    await send(staff, vatRate="5.5", price="1")
    told = rows_of(staff)[f"{PRODUCTS}{id}/"]
    assert "VAT rate: 20% → becomes 5.5%" in told
    assert "Stock" not in told
    assert await tenants.snapshot() == before
    await send(staff)
    after, was = await tenants.row("product", id), {row["id"]: row for row in before["product"]}
    changed = {name for name, value in after.items() if value != was[id][name]}
    assert (str(after["vat_rate"]), changed - {"updated_on"}) == ("5.5", {"vat_rate"})
    assert (await tenants.row("product", other))["vat_rate"] == was[other]["vat_rate"]


async def test_all_rows_of_a_filter_are_changed_page_after_page(office: Office) -> None:
    tenants = office.tenants
    await copy_rows(tenants, "coupon", 130, code="'C' || n", normal_code="'C' || n", is_active="n > 10")
    staff = await office.open("a1", f"{COUPONS}?isActive=1&size=50")
    assert len(staff.page.all("td", class_="pick")) == 50
    form = staff.page.one("form", id="bulk")
    query = form.one("input", name="_list").attributes["value"]
    assert query == "isActive=1"
    await office.choose("a1", COUPONS, "update-coupon", all="list", _list=query)
    await send(staff, isActive="0")
    ids = "SELECT count(*) FROM coupon WHERE is_active AND partner_id = :id"
    count = await tenants.one(ids, id=tenants.partners["a1"].id)
    text = staff.page.one("main").text
    assert count > 120
    assert f"{count} will be changed." in text
    assert f"And {count - 100} more." in text
    assert len(rows_of(staff)) == 100
    await send(staff)
    assert notices(staff) == [f"{count} are done."]
    assert await tenants.one(ids, id=tenants.partners["a1"].id) == 0


async def test_a_list_that_is_too_long_or_filtered_wrongly_is_refused(office: Office) -> None:
    await copy_rows(office.tenants, "coupon", 501, code="'C' || n", normal_code="'C' || n")
    for query, words in (
        ("", "At most 500"),
        ("isActive=0", "Choose at least one"),
        ("partnerUuid=x", "Choose at least one"),
    ):
        staff = await office.choose("a1", COUPONS, "update-coupon", all="list", _list=query)
        assert staff.response.status_code == 400
        assert notices(staff)[0].startswith(words)


async def test_a_page_has_as_many_rows_as_asked_for(office: Office) -> None:
    await copy_rows(office.tenants, "coupon", 60, code="'C' || n", normal_code="'C' || n")
    for size, count in (("50", 50), ("25", 25), ("7", 25), ("x", 25)):
        staff = await office.open("a1", f"{COUPONS}?size={size}")
        assert len(staff.page.all("td", class_="pick")) == count
    await office.open("a1", f"{COUPONS}?size=50")
    (older,) = staff.page.all("a", rel="next")
    await staff.open(older.attributes["href"])
    assert staff.page.one("select", id="size").one("option", selected="").text == "50"
    assert staff.page.all("a", rel="prev")


async def test_at_most_five_hundred_and_at_least_one(office: Office) -> None:
    before = await office.tenants.snapshot()
    for keys, words in ((range(1, 502), "At most 500"), ((), "Choose at least one row")):
        staff = await office.choose("a1", CARDS, "cancel-gift-card", *keys)
        assert staff.response.status_code == 400
        assert notices(staff)[0].startswith(words)
        csrf = await office.csrf("a1")
        sent = {"csrf": csrf, "_keys": " ".join(map(str, keys)), "_key": "x" * 20, "_step": "confirm", "_consent": "1"}
        await staff.post(f"{CARDS}bulk/cancel-gift-card/", sent)
        assert (staff.response.status_code, notices(staff)[0].startswith(words)) == (400, True)
    most = await office.choose("a1", CARDS, "cancel-gift-card", *range(10**6, 10**6 + 500))
    assert (most.response.status_code, len(rows_of(most))) == (200, 500), "what is left out is all listed"
    assert (await office.choose("a1", CARDS, "", 1)).response.status_code == 400
    assert await office.tenants.snapshot() == before


async def test_what_takes_too_long_is_continued(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_objects, "PATIENCE", -1.0)
    tenants = office.tenants
    cards = [(await gift_card(tenants)).id for _ in range(3)]
    staff = await office.choose("a1", CARDS, "cancel-gift-card", *cards)
    await send(staff, _consent="1")
    for done in (1, 2, 3):
        assert notices(staff) == ["1 is done."]
        assert await tenants.one("SELECT count(*) FROM gift_card WHERE status = 'cncld'") == done
        rest = [form.one("button").text for form in staff.page.one("main").all("form")]
        assert rest == ([f"Continue with the remaining {3 - done}"] if done < 3 else [])
        if rest:
            await send(staff)


async def test_the_way_back_leads_to_the_list_as_it_was(office: Office) -> None:
    await copy_rows(office.tenants, "coupon", 3, code="'C' || n", normal_code="'C' || n")
    asked = f"{COUPONS}?isActive=1&order=OLDEST"
    staff = await office.open("a1", asked)
    form = page_fields_of(staff.page.one("form", id="bulk"), staff.page)
    for action in ("update-coupon", ""):
        await staff.post(f"{COUPONS}bulk/", form | {"all": "1", "action": action})
        assert staff.page.one("nav", class_="crumbs").one("a").attributes["href"] == asked
    await staff.post(f"{COUPONS}bulk/", form | {"all": "1", "action": "update-coupon"})
    await send(staff, isActive="false")
    await send(staff)
    assert [link.attributes["href"] for link in staff.page.one("p", class_="does").all("a")] == [asked]


@pytest.mark.parametrize("key", ["x", "99999999999", "1/2", "٣"])
async def test_what_is_no_key_is_not_found(office: Office, key: str) -> None:
    assert (await office.choose("a1", CARDS, "cancel-gift-card", key)).response.status_code == 404


async def test_only_who_may_change_one_may_change_many(office: Office) -> None:
    tenants = office.tenants
    card, of = await gift_card(tenants), {"partner_id": tenants.partners["a1"].id}
    await tenants.user("reader", "partner", [Permission.VIEW_GIFT_CARD], **of)
    staff = await office.open("reader", CARDS)
    assert staff.page.all("form", id="bulk") == []
    assert staff.page.all("td", class_="pick") == []
    csrf = await office.csrf("reader")
    before = await tenants.snapshot()
    assert (await office.choose("reader", CARDS, "cancel-gift-card", card.id)).response.status_code == 403
    sent = {"csrf": csrf, "_keys": str(card.id), "_key": "x" * 20, "_step": "confirm", "_consent": "1"}
    staff = await office.browser("reader").post(f"{CARDS}bulk/cancel-gift-card/", sent)
    assert staff.response.status_code == 403
    for slug in ("spend-gift-card", "issue-gift-card", "nothing"):
        assert (await office.choose("a1", CARDS, slug, card.id)).response.status_code == 404
    assert await tenants.snapshot() == before


async def test_rows_are_chosen_in_the_list(office: Office) -> None:
    cards = [await gift_card(office.tenants) for _ in range(3)]
    staff = await office.open("a1", CARDS)
    boxes = [cell.one("input") for cell in staff.page.all("td", class_="pick")]
    assert {box.attributes["form"] for box in boxes} == {"bulk"}
    keys = [box.attributes["value"] for box in boxes]
    assert set(keys) >= {str(card.id) for card in cards}
    form = staff.page.one("form", id="bulk")
    assert form.one("input", name="page").attributes["value"].split() == keys
    offered = [each.attributes["value"] for each in form.all("option")]
    assert offered == ["", "activate-gift-card", "extend-gift-card", "cancel-gift-card"]
    await office.choose("a1", CARDS, "cancel-gift-card", *keys)
    assert len(rows_of(staff)) == len(keys)
    await staff.open(CARDS)
    form = staff.page.one("form", id="bulk")
    fields = page_fields_of(form, staff.page) | {"action": "cancel-gift-card", "id": keys[:2]}
    assert form.attributes["enctype"] == "multipart/form-data"
    answer = await staff.http.post(f"{CARDS}bulk/", data=fields, files={"no": ("", b"")}, headers=FROM_PAGE)
    assert [f'href="{CARDS}{key}/"' in answer.text for key in keys] == [True, True, *[False] * len(keys[2:])]
    assert (await office.open("a1", f"{CARDS}bulk/cancel-gift-card/")).path == CARDS, "a reload leads to the list"


async def test_a_form_without_its_key_is_refused(office: Office) -> None:
    card = await gift_card(office.tenants)
    staff = await office.choose("a1", CARDS, "cancel-gift-card", card.id)
    before = await office.tenants.snapshot()
    for key in ("", "x" * 65, "é" * 20):
        await office.choose("a1", CARDS, "cancel-gift-card", card.id)
        await send(staff, _consent="1", _key=key)
        assert staff.response.status_code == 400
    assert await office.tenants.snapshot() == before


def test_what_is_offered_for_many_follows_from_the_declarations() -> None:
    every = {each.action.mutation: each for of in resources().values() for each in bulk_actions(of)}
    assert every.keys() >= {
        "markOrderReady",
        "markOrderCollected",
        "markOrderSent",
        "extendVoucher",
        "extendGiftCard",
        "cancelGiftCard",
        "archiveMedia",
        "retryJob",
        "resendMail",
        "acceptOffer",
        "approveRefundRequest",
        "updateCoupon",
    }
    assert not every.keys() & {"spendGiftCard", "refundOrder", "importVoucher", "updateVoucher", "changeSiteDomain"}
    for each in every.values():
        fields = {it.name: it for it in fields_of(each.input)}
        assert all(not fields[name].is_required or name in each.action.bound for name in each.hidden), each.label
        assert not {fields[name].kind for name in each.shown} & {Kind.FILE, Kind.ROWS}, each.label
    assert list(every["markOrderSent"].shown) == ["carrier"]


def test_what_is_done_one_by_one_would_be_offered_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "ONE_BY_ONE", frozenset())
    every = {each.action.mutation for of in resources().values() for each in bulk_actions(of)}
    monkeypatch.undo()
    left = {each.action.mutation for of in resources().values() for each in bulk_actions(of)}
    assert every - left == declared.ONE_BY_ONE
    assert {
        each.action.mutation for of in resources().values() for each in bulk_actions(of) if not each.can_be_tried
    } == {"acceptDispute"}


async def test_what_cannot_be_rolled_back_is_not_tried(office: Office) -> None:
    document = "mutation($input: AcceptDisputeInput!) { acceptDispute(input: $input) { userErrors { code } } }"
    context = await office.tenants.context("master")
    answer = await run(context, document, {"input": {"id": str(uuid4())}}, dry_run=True)
    assert [error.code for error in answer.errors] == ["INTERNAL_ERROR"]
