"""The forms of changes: what they begin with, what they send, what is wrong with them."""

import datetime as dt
import io
from typing import Any

import pytest
from PIL import Image

from schema.validation.languages import LANGUAGES
from store.limits.rate_limits import RateLimits
from tests.admin.office import ROOT, Office, errors, notices, send, typed
from tests.funnel.checkout.customer import Customer

NEW_COUPON = f"{ROOT}coupons/new/create-coupon/"
NEW_MODE = f"{ROOT}delivery-modes/new/create-delivery-mode/"
NEW_MEDIA = f"{ROOT}media/new/create-media/"
ANY_COUPON = {"code": "SPRING", "discount__percentage": "10"}


def moment(text: str) -> dt.datetime:
    """A point in time as the database has it."""
    return dt.datetime.fromisoformat(text)


def coupon_form(office: Office) -> str:
    """The form of the coupon of the first shop."""
    return f"{ROOT}coupons/{office.tenants.owned['a1'].coupon}/update-coupon/"


async def test_a_coupon_is_made_and_edited(office: Office) -> None:
    staff = await office.open("a1", NEW_COUPON)
    assert typed(staff)["isCombinable"] == "1"
    times = {"startsOn": "2027-03-27T23:30", "endsOn": "2027-03-28T23:30"}
    await send(staff, code="SPRING", discount__percentage="12,5", maxUsages="5", **times, conditions__email="")
    assert (staff.response.status_code, staff.h1) == (200, "SPRING")
    assert notices(staff) == ["Done: New coupon"]
    made = await office.tenants.newest("coupon")
    assert (made["discount_percentage"], made["max_usages"], made["is_combinable"]) == (12.5, 5, True)
    assert made["partner_id"] == office.tenants.partners["a1"].id
    assert moment(made["starts_on"]) == moment("2027-03-27T22:30+00:00")  # an hour before UTC in winter, two in summer
    assert moment(made["ends_on"]) == moment("2027-03-28T21:30+00:00")
    form = f"{ROOT}coupons/{made['id']}/update-coupon/"
    assert (await office.open("a1", form)).h1 == "Edit: SPRING"
    assert typed(staff).items() >= {**times, "maxUsages": "5", "isCombinable": "1"}.items()
    await send(staff)
    assert notices(staff) == ["Done: Edit"]
    assert await office.tenants.row("coupon", made["id"]) == made, "nothing was changed"
    await office.open("a1", form)
    await send(staff, maxUsages="", isCombinable="0", discount__percentage="", discount__amount="7.50")
    changed = await office.tenants.row("coupon", made["id"])
    assert (changed["max_usages"], changed["is_combinable"], changed["discount_percentage"]) == (None, False, None)
    assert changed["discount_amount"] == 7.5
    assert (changed["starts_on"], changed["ends_on"], changed["code"]) == (made["starts_on"], made["ends_on"], "SPRING")


async def test_only_links_of_the_back_office_fill_a_form(office: Office) -> None:
    uuid = str(office.tenants.partners["a1"].uuid)
    given = f"username=x&email=evil@example.com&role=MARKETPLACE&firstName=Eve&partnerUuid={uuid}"
    empty = typed(await office.open("market a", f"{ROOT}users/new/invite-user/"))
    staff = await office.open("market a", f"{ROOT}users/new/invite-user/?{given}")
    filled = {name for name, value in typed(staff).items() if empty.get(name) != value and name[0] != "_"}
    assert filled - {"csrf"} == {"partnerUuid"}
    await office.open("market a", f"{ROOT}legal-documents/new/publish-legal-document/?kind=TERMS&partnerUuid={uuid}")
    assert (typed(staff)["kind"], typed(staff)["partnerUuid"]) == ("TERMS", uuid)


async def test_what_somebody_else_has_changed_meanwhile_stays(office: Office) -> None:
    id = office.tenants.owned["a1"].coupon
    staff = await office.open("a1", coupon_form(office))
    await office.tenants.execute("UPDATE coupon SET max_usages = 9, is_active = false WHERE id = :id", id=id)
    await send(staff, endsOn="2030-01-02T03:04")
    changed = await office.tenants.row("coupon", id)
    assert (changed["max_usages"], changed["is_active"]) == (9, False)
    assert moment(changed["ends_on"]) == moment("2030-01-02T02:04+00:00")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("discount.percentage", "1.2.3", "Enter a number."),
        ("discount.percentage", "ten", "Enter a number."),
        ("conditions.minimumBasket", "1e3", "Enter a number."),
        ("maxUsages", "1.5", "Enter a whole number."),
        ("maxUsages", "1٣", "Enter a whole number."),
        ("startsOn", "tomorrow", "Enter a day and a time, such as 24/12/2026, 18:30."),
        ("startsOn", "0001-01-01T00:00", "Enter a day and a time, such as 24/12/2026, 18:30."),
        ("endsOn", "2027-02-30T10:00", "Enter a day and a time, such as 24/12/2026, 18:30."),
        ("code", "", "Fill this in."),
    ],
)
async def test_what_cannot_be_read_is_told_at_its_field(office: Office, field: str, value: str, problem: str) -> None:
    staff = await office.open("a1", NEW_COUPON)
    before = await office.tenants.snapshot()
    await send(staff, **ANY_COUPON | {field.replace(".", "__"): value})
    assert (staff.response.status_code, errors(staff)) == (400, {field: problem})
    assert typed(staff)[field] == value, "it can be corrected"
    assert await office.tenants.snapshot() == before
    wrong = next(it for it in staff.page.all("input") if it.attributes.get("name") == field)
    assert wrong.attributes["aria-invalid"] == "true"
    assert wrong.attributes["aria-describedby"].split()[0].endswith("-wrong")


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("code", {"code": "a1-ten"}),
        ("discount.percentage", {"discount__percentage": "101"}),
        ("maxUsages", {"maxUsages": "-1"}),
        ("endsOn", {"startsOn": "2027-05-02T10:00", "endsOn": "2027-05-01T10:00"}),
    ],
)
async def test_what_the_api_refuses_is_told_at_its_field(office: Office, field: str, changes: dict[str, str]) -> None:
    staff = await office.open("a1", NEW_COUPON)
    before = await office.tenants.snapshot()
    await send(staff, **ANY_COUPON | changes)
    assert (staff.response.status_code, list(errors(staff))) == (400, [field])
    assert await office.tenants.snapshot() == before
    fixed = {"code": "OTHER", "discount__percentage": "10", "maxUsages": "1", "startsOn": "", "endsOn": ""}
    await send(staff, **fixed)
    assert staff.h1 == "OTHER"


async def test_a_refused_update_keeps_what_it_began_with(office: Office) -> None:
    id = office.tenants.owned["a1"].coupon
    staff = await office.open("a1", coupon_form(office))
    await send(staff, maxUsages="many")
    assert (staff.response.status_code, list(errors(staff))) == (400, ["maxUsages"])
    await office.tenants.execute("UPDATE coupon SET is_active = false WHERE id = :id", id=id)
    await send(staff, maxUsages="12")
    changed = await office.tenants.row("coupon", id)
    assert (changed["max_usages"], changed["is_active"]) == (12, False)


async def test_a_form_that_is_sent_twice_makes_one(office: Office) -> None:
    staff = await office.open("a1", NEW_COUPON)
    fields = typed(staff) | {"code": "ONCE", "discount.percentage": "10"}
    urls = [(await staff.post(NEW_COUPON, fields)).path for _ in range(2)]
    assert urls[0] == urls[1]
    assert await office.tenants.one("SELECT count(*) FROM coupon WHERE code = 'ONCE'") == 1
    other = typed(await office.open("a1", NEW_COUPON))
    assert other["_key"] != fields["_key"]
    await staff.post(NEW_COUPON, fields | {"code": "ANOTHER"})
    assert staff.response.status_code == 400, "the key belongs to what was sent with it"
    assert await office.tenants.one("SELECT count(*) FROM coupon WHERE code = 'ANOTHER'") == 0


async def test_a_form_of_nobody_is_refused(office: Office) -> None:
    staff = await office.open("a1", NEW_COUPON)
    fields = typed(staff) | {"code": "FORGED", "discount.percentage": "10"}
    stolen = await office.csrf("a2")
    before = await office.tenants.snapshot()
    for csrf in ("", "nonsense", stolen):
        await staff.post(NEW_COUPON, fields | {"csrf": csrf})
        assert (staff.response.status_code, staff.h1) == (403, "This form is too old")
    without = {name: value for name, value in fields.items() if name != "csrf"}
    assert (await staff.post(NEW_COUPON, without)).response.status_code == 403
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert (await staff.post(NEW_COUPON, fields, **headers)).response.status_code == 403
    assert await office.tenants.snapshot() == before


GARBAGE: list[dict[str, str]] = [
    {"_before": "["},
    {"_before": "[]"},
    {"_before": "1"},
    {"_before": '"text"'},
    {"_before": "null"},
    {"maxUsages": "1\x00"},
    {"code\x00": "x"},
    {"_key": "k" * 5000},
    {"limitedTo.productIds.x": "1"},
    {"limitedTo.productIds.99999999999": "1"},
    {"endsOn": "9999-12-31T23:59:59.999999999"},
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=str)
async def test_garbage_is_refused(office: Office, garbage: dict[str, str]) -> None:
    form = coupon_form(office)
    fields = typed(await office.open("a1", form))
    before = await office.tenants.snapshot()
    staff = await office.browser("a1").post(form, fields | garbage)
    assert staff.response.status_code == 400
    assert await office.tenants.snapshot() == before


@pytest.mark.parametrize("name", ["", "nothing", "discount", "code", "a.b.c", "limitedTo.productIds"])
async def test_rows_that_no_form_has_are_not_added(office: Office, name: str) -> None:
    form = coupon_form(office)
    fields = typed(await office.open("a1", form))
    before = await office.tenants.snapshot()
    staff = await office.browser("a1").post(form, fields | {"_add": name})
    assert staff.response.status_code in (200, 400)
    assert await office.tenants.snapshot() == before


async def test_a_form_that_is_too_large_is_refused(office: Office) -> None:
    staff = await office.open("a1", NEW_COUPON)
    fields = typed(staff)
    assert (await staff.post(NEW_COUPON, fields | {"type": "x" * 300_000})).response.status_code == 413
    many = {f"x{number}": "" for number in range(5000)}
    assert (await staff.post(NEW_COUPON, fields | many)).response.status_code == 400
    answer = await staff.http.post(NEW_COUPON, content=b"{}", headers={"Content-Type": "application/json"})
    assert answer.status_code == 415


async def test_rows_are_added_and_removed(office: Office) -> None:
    staff = await office.open("a1", NEW_MODE)
    before = await office.tenants.snapshot()
    texts = {f"name__{language}": f"Post {language}" for language in LANGUAGES}
    await send(staff, kind="HOME_DELIVERY", **texts, _add="rates")
    await send(staff, rates__0__country="FR", rates__0__price="4,90", _add="rates")
    await send(staff, rates__1__country="DE", rates__1__price="9.90", _add="rates")
    await send(staff, rates__2__country="ES", rates__2__price="7.90", _add="rates")
    assert await office.tenants.snapshot() == before, "to add a row changes nothing"
    assert typed(staff).items() >= {"rates.0.price": "4,90", "rates.1.country": "DE", "name.ca": "Post ca"}.items()
    await send(staff, **{"rates.1.-": "1"})
    assert notices(staff) == ["Done: New delivery mode"]
    mode = await office.tenants.newest("delivery_mode")
    assert mode["name"] == {language: f"Post {language}" for language in LANGUAGES}
    assert await rates(office, mode["id"]) == [("ES", 7.9), ("FR", 4.9)]
    await office.open("a1", f"{ROOT}delivery-modes/{mode['id']}/update-delivery-mode/")
    shown = [value for name, value in typed(staff).items() if name.startswith("rates.") and name.endswith(".country")]
    assert sorted(shown) == ["ES", "FR"]
    await office.tenants.execute(
        """UPDATE delivery_mode SET name = name || '{"de": "Paket"}' WHERE id = :id""", id=mode["id"]
    )
    gone = shown.index("FR")
    await send(staff, **{f"rates.{gone}.-": "1"}, name__en="Parcel", name__nl="")
    changed = await office.tenants.row("delivery_mode", mode["id"])
    kept = {language: f"Post {language}" for language in LANGUAGES if language != "nl"}
    assert {language: text for language, text in changed["name"].items() if text} == kept | {
        "en": "Parcel",
        "de": "Paket",
    }
    assert await rates(office, mode["id"]) == [("ES", 7.9)]
    await office.open("a1", f"{ROOT}delivery-modes/{mode['id']}/update-delivery-mode/")
    await send(staff, ranking="3")
    assert await rates(office, mode["id"]) == [("ES", 7.9)], "rows that nobody has touched stay"
    await office.open("a1", f"{ROOT}delivery-modes/{mode['id']}/update-delivery-mode/")
    await send(staff, rates__0__price="-1")
    assert (staff.response.status_code, list(errors(staff))) == (400, ["rates.0.price"])
    assert await rates(office, mode["id"]) == [("ES", 7.9)]


async def rates(office: Office, mode: int) -> list[tuple[str, float]]:
    """The rates of a delivery mode: country and price."""
    statement = "SELECT country, price_amount FROM delivery_rate WHERE delivery_mode_id = :id ORDER BY country"
    return [(country, float(price)) for country, price in await office.tenants.rows(statement, id=mode)]


def picture() -> bytes:
    """A small picture."""
    file = io.BytesIO()
    Image.new("RGB", (640, 480), "teal").save(file, "PNG")
    return file.getvalue()


async def upload(staff: Customer, content: bytes | None, **fields: str) -> Customer:
    """Send the form with a file."""
    files: dict[str, Any] = {} if content is None else {"file": ("a.png", content, "image/png")}
    sent = {name: value for name, value in typed(staff).items() if name != "file"} | fields
    parts = {name: (None, value) for name, value in sent.items()}  # httpx sends multipart only with files
    answer = await staff.http.post(NEW_MEDIA, files={**parts, **files})
    if answer.has_redirect_location:
        return await staff.open(answer.headers["location"])
    staff.response = answer
    return await staff._follow(answer)


async def test_a_picture_is_uploaded_and_shown_with_a_prototype(office: Office) -> None:
    staff = await office.open("a1", NEW_MEDIA)
    before = await office.tenants.snapshot()
    await upload(staff, None, name="Lake")
    assert (staff.response.status_code, errors(staff)) == (400, {"file": "Fill this in."})
    await upload(staff, b"not a picture", name="Lake")
    assert (staff.response.status_code, list(errors(staff))) == (400, ["file"])
    await upload(staff, picture(), name="Lake", csrf="nonsense")
    assert staff.response.status_code == 403
    await office.open("a1", NEW_MEDIA)
    await upload(staff, b"x" * 11 * 1024 * 1024, name="Lake")
    assert staff.response.status_code == 413
    assert await office.tenants.snapshot() == before
    await office.open("a1", NEW_MEDIA)
    await upload(staff, picture(), name="Hill")
    await office.open("a1", NEW_MEDIA)
    await upload(staff, picture(), name="Lake")
    assert notices(staff) == ["Done: Add a picture"]
    media = await office.tenants.newest("media")
    assert (media["name"], media["width"], media["height"]) == ("Lake", 640, 480)
    master = await office.open("master", f"{ROOT}universes/new/create-universe/")
    await send(master, name__en="Wellness", marketplaceUuid=str(office.tenants.marketplaces["a"].uuid))
    universe = await office.tenants.newest("universe")
    await office.open("a1", f"{ROOT}voucher-prototypes/new/create-voucher-prototype/")
    texts = {f"{name}__en": "Two nights" for name in ("name", "description", "longDescription")}
    chosen = {f"imageIds.{media['id']}": "1"}
    await send(staff, **texts, type="STAY", stayPrice="199,00", universeId=str(universe["id"]), nbNights="2", **chosen)
    assert notices(staff) == ["Done: New experience"], errors(staff)
    made = await office.tenants.newest("voucher_prototype")
    assert made["stay_price_amount"] == 199
    assert await pictures(office, made["id"]) == [media["id"]]
    await office.open("a1", f"{ROOT}voucher-prototypes/{made['id']}/update-voucher-prototype/")
    assert typed(staff)[f"imageIds.{media['id']}"] == "1"
    fields = {name: value for name, value in typed(staff).items() if not name.startswith("imageIds.")}
    await staff.post(f"{ROOT}voucher-prototypes/{made['id']}/update-voucher-prototype/", fields)
    assert notices(staff) == ["Done: Edit"]
    assert await pictures(office, made["id"]) == []


async def pictures(office: Office, prototype: int) -> list[int]:
    """The pictures of a prototype."""
    query = "query($id: Int!) { voucherPrototype(id: $id) { images { mediaId } } }"
    answer = await office.tenants.graphql("a1", query, id=prototype)
    return [image["mediaId"] for image in answer["data"]["voucherPrototype"]["images"]]


async def test_a_change_that_came_too_late_is_refused(office: Office) -> None:
    card = office.tenants.owned["a1"].gift_card
    staff = await office.open("a1", f"{ROOT}gift-cards/{card}/spend-gift-card/")
    other = await office.open("market a", f"{ROOT}gift-cards/{card}/cancel-gift-card/")
    await send(other)
    assert notices(other) == ["Done: Cancel"]
    before = await office.tenants.snapshot()
    await send(staff, amount="10")
    assert staff.response.status_code == 400
    assert len(staff.page.all(role="alert")) + len(errors(staff)) == 1
    assert await office.tenants.snapshot() == before


async def test_too_many_requests_are_told_on_a_page(office: Office) -> None:
    """Before the user is known: the page has no menu."""
    services = office.tenants.services
    settings = services.settings.model_copy(update={"rate_limit_pages": "1/minute"})
    services.limits.pages = RateLimits(settings, services.kv, services.clock).pages
    assert (await office.open("a1", NEW_COUPON)).response.status_code == 200
    staff = await office.open("a1", NEW_COUPON)
    assert (staff.response.status_code, staff.h1) == (429, "Too many requests")
    assert int(staff.response.headers["retry-after"]) > 0
