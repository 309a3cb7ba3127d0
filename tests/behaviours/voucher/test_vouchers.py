"""Vouchers as they are read: every documented key, one by its code, lists that are what a plain filter of them gives."""

import datetime as dt
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rest_compat.resources.voucher import VOUCHER
from schema.core.text import Text
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.voucher.voucher import ExpeditionStatus, VoucherKind, VoucherState
from store.coupon.coupons import CouponRow
from store.customer import CustomerRow
from store.database import filtered_page
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRentalRow, VoucherRow
from tests.behaviours.voucher.voucher_filters import FIELDS, ORDERS, REST_ORDERS, START, WHO, filters, ordered, plainly
from tests.fixtures.partner_rows import PartnerRows
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import Sold, sell, voucher_of
from tests.statements import fetched
from tests.transports import NO_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = [
    Text(en="Nights above the lake", fr="Nuits au-dessus du lac"),
    Text(en="A table for two", de="Ein Tisch für zwei"),
    Text(fr="100% détente", en="Spa_day"),
    Text(it="Notte sul lago"),
]
FIRST, LAST = ["Ada", "Noé", "ÉLODIE", "Zoë", ""], ["Martin", "Bernard", "O'Neil", "van Dyck"]
ORIGINS = ["https://shop.example/", "counter", "", "https://Other.example/x?a=1"]
HEADERS = {"a1": 200, "a2": 40, "b1": 20}
"""How many vouchers each partner has."""


@dataclass
class Vouchers(PartnerRows[VoucherRow]):
    """Vouchers of three partners."""

    sold: Mapping[str, Sold]


def _voucher(sold: Sold, number: int, pick: random.Random) -> VoucherRow:
    state = pick.choice(list(VoucherState))
    made = START + dt.timedelta(hours=number // 3)
    more: dict[str, Any] = {
        "prototype_name": pick.choice(NAMES),
        "gifter_first_name": pick.choice(FIRST),
        "gifter_last_name": pick.choice(LAST),
        "gifter_email": pick.choice(["", f"Buyer{number}@mail.example"]),
        "giftee_first_name": pick.choice([None, *FIRST]),
        "giftee_last_name": pick.choice([None, *LAST]),
        "giftee_email": pick.choice([None, f"for.{number}@mail.example"]),
        "origin": pick.choice(ORIGINS),
        "created_on": made,
        "expires_on": pick.choice([None, made + dt.timedelta(days=pick.randrange(30))]),
    }
    return voucher_of(sold, state, **more)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def vouchers(tenants: Tenants) -> AsyncIterator[Vouchers]:
    """Some hundreds of vouchers; searches look at so few next rows that both ways of finding are gone."""
    sold, rows, pick = {}, [], random.Random(5)
    for name, count in HEADERS.items():
        sold[name] = await sell(tenants, name)
        rows += [_voucher(sold[name], number, pick) for number in range(count)]
    pick.shuffle(rows)
    await tenants.add(*rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filtered_page, "SCANNED_ROWS", 30)
        yield Vouchers(tenants, rows, sold)


# ---- every key


def _coupon(sold: Sold) -> CouponRow:
    return CouponRow(
        partner_id=sold.stay.partner_id,
        code="SPRING-10",
        normal_code="SPRING10",
        discount_percentage=Decimal("10.00"),
        targets=[CouponTarget.VOUCHERS],
        reception_modes=[ReceptionMode.ON_SITE],
        voucher_prototype_ids=[sold.stay.id],
        minimum_basket_amount=Decimal("50.00"),
    )


def _options_and_rental(sold: Sold, voucher: VoucherRow) -> Sequence[Any]:
    of: dict[str, Any] = {"partner_id": voucher.partner_id, "voucher_id": voucher.id}
    chosen = VoucherChosenOptionRow(
        **of,
        option_id=sold.robe.id,
        name=Text(en="Robe"),
        count=2,
        unit_price_amount=Decimal("12.50"),
        total_price_amount=Decimal("25.00"),
    )
    included = VoucherIncludedOptionRow(
        **of, option_id=sold.breakfast.id, name=Text(en="Old breakfast"), source_id="brk", count=2
    )
    return chosen, included, VoucherRentalRow(**of, starts_on=dt.date(2026, 8, 23), reference="B-1")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def with_everything(vouchers: Vouchers) -> VoucherRow:
    """A voucher that has all that one can have."""
    tenants, sold = vouchers.tenants, vouchers.sold["a1"]
    giver = await tenants.add(
        CustomerRow(partner_id=sold.stay.partner_id, first_name="Ada", last_name="Martin", email="ada@mail.example")
    )
    coupon = await tenants.add(_coupon(sold))
    row = voucher_of(
        sold,
        VoucherState.PAID,
        language="fr",
        summary=None,
        gifter_first_name="Ada",
        gifter_last_name="Martin",
        gifter_postal_code="69002",
        gifter_id=giver.id,
        coupon_id=coupon.id,
        reception_mode=ReceptionMode.GIFTEE_EMAIL,
        purchase_price_amount=Decimal("180.50"),
        expedition_status=ExpeditionStatus.NONE,
        expires_on=dt.datetime(2100, 5, 2, 21, 59, 59, tzinfo=dt.UTC),
    )
    await tenants.add(row)
    await tenants.add(*_options_and_rental(sold, row))
    vouchers.rows.append(row)
    return row


SHOWN: Mapping[str, Any] = {
    "summary": None,
    "voucher_prototype_name": "Nuits au-dessus du lac",
    "voucher_prototype_name_en": "Nights above the lake",
    "voucher_prototype_name_de": None,
    "voucher_prototype_type": 1,
    "reception_mode": 3,
    "reception_mode_display": "E-mail to the giftee",
    "gifter_fullname": "Ada Martin",
    "gifter_zipcode": 69002,
    "gifter_wired_phone": None,
    "giftee_email": None,
    "total_price": "200.00",
    "purchase_price": "180.50",
    "usage_date": "",
    "expiration_date": "2100-05-02T21:59:59.000000Z",
    "expiration_date_display": "2100-05-02",
    "giftee": None,
    "state": "paid",
    "coupon": "SPRING-10",
    "coupon_details": "10 %",
    "api_version": 1,
    "type": 1,
    "expedition_status": "none",
    "expedition_date": "",
    "is_usable": True,
    "is_extendable": True,
    "is_refundable": True,
}
"""What is shown of it, but for ids and codes."""


async def test_every_key_of_a_voucher_with_everything(vouchers: Vouchers, with_everything: VoucherRow) -> None:
    tenants, sold, row = vouchers.tenants, vouchers.sold["a1"], with_everything
    shown = (await vouchers.get(f"/api/vouchers/{row.code.replace('-', ' ').lower()}/")).json()
    assert list(shown) == list(VOUCHER.keys)
    told = {
        **SHOWN,
        "id": row.id,
        "code": row.code,
        "voucher_prototype": sold.stay.id,
        "gifter": row.gifter_id,
        "printable_pdf_file": f"{tenants.services.settings.public_url}/documents/vouchers/{row.document_token}.pdf",
    }
    assert {key: shown[key] for key in told} == told
    listed = (await vouchers.get("/api/vouchers/", code=row.code.lower())).json()["results"]
    assert listed == [shown]


async def test_what_belongs_to_a_voucher_with_everything(vouchers: Vouchers, with_everything: VoucherRow) -> None:
    sold, row = vouchers.sold["a1"], with_everything
    shown = (await vouchers.get(f"/api/vouchers/{row.code}/")).json()
    (chosen,) = shown["options"]
    assert (chosen["count"], chosen["total_price"], chosen["option"]["id"]) == (2, 25.0, sold.robe.id)
    assert (chosen["option"]["price"], chosen["option"]["category"]) == (12.5, None)
    assert [each["id"] for each in chosen["option"]["voucher_prototypes"]] == [sold.stay.id]
    (included,) = shown["voucher_prototype_included_options"]
    assert included["count"] == 2
    assert (included["option"]["name_en"], included["option"]["source_id"]) == ("Old breakfast", "brk")
    assert [(each["start_date"], each["end_date"]) for each in shown["rentals"]] == [("2026-08-23", "")]
    details = shown["coupon_for_email_details"]
    expected = {
        "valid": True,
        "discount": "10.00",
        "discount_type": "percentage",
        "discount_text": "10 %",
        "start": "",
        "activate_for_vouchers": True,
        "activate_for_giftcards": False,
        "on_site_expedition_mode": True,
        "expedition_reception_mode": False,
        "price_condition_min_amount": "50.00",
        "payment_amount_condition_minimum": "",
        "voucher_prototypes_ids": [sold.stay.id],
        "partner": sold.stay.partner_id,
    }
    assert {key: details[key] for key in expected} == expected


async def test_where_there_is_nothing(vouchers: Vouchers) -> None:
    row = voucher_of(vouchers.sold["a1"], VoucherState.DRAFT, kind=VoucherKind.IMPORTED, gifter_postal_code="SW1A 1AA")
    await vouchers.tenants.add(row)
    vouchers.rows.append(row)
    shown = (await vouchers.get(f"/api/vouchers/{row.code}/")).json()
    empty = ("activation_date", "expiration_date", "expiration_date_display", "printable_pdf_file", "coupon")
    assert {key: shown[key] for key in (*empty, "coupon_details", "imported_from")} == dict.fromkeys(
        (*empty, "coupon_details", "imported_from"), ""
    )
    nothing = ("coupon_for_email_details", "gifter", "giftee", "gifter_zipcode", "summary", "message")
    assert {key: shown[key] for key in nothing} == dict.fromkeys(nothing)
    assert (shown["type"], shown["options"], shown["rentals"]) == (2, [], [])
    assert (shown["is_usable"], shown["is_extendable"], shown["is_refundable"]) == (False, False, False)


async def test_a_page_takes_the_same_statements_however_many_rows_it_has(
    vouchers: Vouchers, with_everything: VoucherRow
) -> None:
    assert with_everything in vouchers.rows, "what belongs to it is read, too"
    counts = []
    for size in (2, 100):
        with fetched(vouchers.tenants.services.db) as seen:
            assert len((await vouchers.get("/api/vouchers/", page_size=size)).json()["results"]) == size
        counts.append(len(seen))
    assert counts == [10, 10]


# ---- one


@pytest.mark.parametrize(("who", "visible"), [("a1", True), ("a2", False), ("b1", False), ("market a", True), ("market b", False), ("master", True)])  # fmt: skip
async def test_one_by_its_code_for_whom_it_is_there(vouchers: Vouchers, who: str, *, visible: bool) -> None:
    row = vouchers.visible_to("a1")[0]
    spelled = row.code.lower().replace("-", " ")
    answer = await vouchers.get(f"/api/vouchers/{spelled}/", who)
    assert answer.status_code == (200 if visible else 404)
    document = "query ($code: String!) { voucher(code: $code) { id isUsable documentUrl prototype { id } } }"
    one = (await vouchers.ask(document, who, code=spelled))["voucher"]
    assert (one["id"] if one else None) == (row.id if visible else None)
    assert (await vouchers.ask("query ($id: Int!) { voucher(id: $id) { code } }", who, id=row.id))["voucher"] == (
        {"code": row.code} if visible else None
    )


async def test_without_a_token_or_the_permission_nothing_is_told(vouchers: Vouchers) -> None:
    code = vouchers.rows[0].code
    for path in ("/api/vouchers/", f"/api/vouchers/{code}/"):
        assert (await vouchers.get(path, NO_TOKEN)).status_code == 401
        assert (await vouchers.get(path, "powerless")).status_code == 403


# ---- lists
QUERY = """query ($f: VoucherFilter, $o: VoucherSort!, $first: Int, $after: String, $last: Int, $before: String) {
    vouchers(filter: $f, orderBy: $o, first: $first, after: $after, last: $last, before: $before) {
        totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(asked=filters(), who=WHO, order=st.sampled_from(list(REST_ORDERS)), down=st.booleans(), size=st.integers(1, 100), page=st.integers(1, 4))  # fmt: skip
async def test_any_page_over_rest_is_what_a_plain_filter_gives(
    vouchers: Vouchers, asked: dict[str, Any], who: str, order: str, *, down: bool, size: int, page: int
) -> None:
    sign = "-" if down else ""
    wanted = ordered(plainly(vouchers.visible_to(who), asked), f"{sign}{REST_ORDERS[order]}")
    query = {name: value.isoformat() if isinstance(value, dt.datetime) else value for name, value in asked.items()}
    answer = await vouchers.get("/api/vouchers/", who, **query, ordering=f"{sign}{order}", page=page, page_size=size)
    part = wanted[(page - 1) * size : page * size]
    if page > 1 and not part:
        assert answer.status_code == 404
    else:
        found = answer.json()
        assert [row["id"] for row in found["results"]] == part
        assert (found["count"], found["has_next"]) == (len(wanted), page * size < len(wanted))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(asked=filters(), state=st.none() | st.sampled_from(VoucherState), who=WHO, order=st.sampled_from(list(ORDERS)), size=st.integers(15, 100), back=st.booleans())  # fmt: skip
async def test_any_walk_over_graphql_is_what_a_plain_filter_gives(
    vouchers: Vouchers,
    asked: dict[str, Any],
    state: VoucherState | None,
    who: str,
    order: str,
    *,
    size: int,
    back: bool,
) -> None:
    asked = asked | ({} if state is None else {"state": state})
    wanted = ordered(plainly(vouchers.visible_to(who), asked), ORDERS[order])
    sent = {
        FIELDS[name]: value.isoformat() if isinstance(value, dt.datetime) else value for name, value in asked.items()
    }
    if state is not None:
        sent["state"] = state.name
    found: list[int] = []
    place: dict[str, Any] = {}
    while True:
        window = {"last": size, "before": place.get("at")} if back else {"first": size, "after": place.get("at")}
        page = (await vouchers.ask(QUERY, who, f=sent, o=order, **window))["vouchers"]
        assert page["totalCount"] == len(wanted)
        ids = [node["id"] for node in page["nodes"]]
        found = [*ids, *found] if back else [*found, *ids]
        if not page["pageInfo"]["hasPreviousPage" if back else "hasNextPage"]:
            break
        place["at"] = page["pageInfo"]["startCursor" if back else "endCursor"]
    assert found == wanted


@pytest.mark.parametrize(
    ("query", "key"),
    [("creation_date__gte=soon", "creation_date__gte"), ("creation_date__range=2026-01-01", "creation_date__range"), ("ordering=code", "ordering"), ("page=0", "page"), ("gifter=" + "x" * 201, "gifter"), ("origin_url=%00", "origin_url")],
)  # fmt: skip
async def test_a_malformed_parameter_is_told_at_its_name(vouchers: Vouchers, query: str, key: str) -> None:
    name, _, value = query.partition("=")
    answer = await vouchers.get("/api/vouchers/", **{name: "\0" if value == "%00" else value})
    assert (answer.status_code, list(answer.json())) == (400, [key])


async def test_another_state_over_rest(vouchers: Vouchers) -> None:
    row = voucher_of(vouchers.sold["a2"], VoucherState.PAID)
    await vouchers.tenants.add(row)
    headers = {"Authorization": f"Token {vouchers.tenants.tokens['a2']}"}
    path = f"/api/vouchers/{row.code.lower()}/"
    changed = await vouchers.tenants.client.patch(path, json={"state": "used"}, headers=headers)
    assert changed.status_code == 200, changed.text
    assert list(changed.json()) == list(VOUCHER.keys)
    assert (changed.json()["state"], changed.json()["is_usable"]) == ("used", False)
    assert changed.json() == (await vouchers.get(path, "a2")).json()
    refused = await vouchers.tenants.client.put(path, json={"state": "draft"}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid_transition")
    wrong = await vouchers.tenants.client.patch(path, json={"state": "gone"}, headers=headers)
    assert (wrong.status_code, list(wrong.json())) == (400, ["state"])
    assert (await vouchers.get(path, "a2")).json()["state"] == "used"
    await vouchers.tenants.rows("DELETE FROM voucher WHERE id = :id RETURNING id", id=row.id)
