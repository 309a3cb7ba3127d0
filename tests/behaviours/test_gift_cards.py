"""Gift cards as they are read, over both transports: every documented key, one by its id and its code, lists page by page."""

import datetime as dt
import random
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from resolvers.gift_card.holds import capture_gift_card, hold_gift_card
from rest_compat.resources.gift_card import GIFT_CARD
from schema.gift_card.gift_card import GiftCardStatus as S
from store.gift_card.gift_cards import GiftCardRow
from tests.changes import Direct
from tests.fixtures.gift_card import gift_card
from tests.fixtures.partner_rows import PartnerRows
from tests.fixtures.tenants import Tenants
from tests.statements import fetched
from tests.transports import BAD_TOKEN, NO_TOKEN, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

START = dt.datetime(2026, 1, 1, 23, 30, tzinfo=dt.UTC)
KEYS = (
    "id code status createdOn expiresOn value { amount } remainingValue { amount } gifterDetails { firstName lastName }"
)
ORDERS = {"-created_on": "NEWEST", "created_on": "OLDEST", "expires_on": "ENDING", "-expires_on": "ENDING_DESCENDING"}


GiftCards = PartnerRows[GiftCardRow]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cards(tenants: Tenants) -> AsyncIterator[GiftCards]:
    """Some dozens of gift cards."""
    await tenants.execute("DELETE FROM gift_card")
    rows, pick = [], random.Random(4)
    for partner, count in (("a1", 45), ("a2", 6), ("b1", 4)):
        for number in range(count):
            made = START + dt.timedelta(hours=6 * number)
            more: dict[str, Any] = {
                "status": pick.choice(list(S)),
                "created_on": made,
                "expires_on": pick.choice([None, made + dt.timedelta(days=pick.randrange(900))]),
                "gifter_first_name": pick.choice(["Ada", "Élodie"]),
                "gifter_last_name": pick.choice(["Martin", "O'Neil"]),
                "giftee_email": pick.choice([None, f"for.{number}@mail.example"]),
            }
            rows.append(await gift_card(tenants, partner, **more))
    yield GiftCards(tenants, rows)


async def one(transport: Transport, who: str, **by: Any) -> tuple[int, dict[str, Any] | None]:
    """The status of the answer, and one gift card with the documented keys."""
    if isinstance(transport, OverRest):
        path = f"/api/giftcards/{by['id']}/" if "id" in by else f"/api/giftcards_by_code/{by['code']}/"
        answer = transport.to_answer(await transport.tenants.client.get(path, headers=transport.headers(who)))
        return answer.status, answer.result
    assert isinstance(transport, OverGraphQL)
    kind = "$id: Int" if "id" in by else "$code: String"
    given = "id: $id" if "id" in by else "code: $code"
    answer = await transport.ask_graphql(f"query ({kind}) {{ giftCard({given}) {{ {KEYS} }} }}", who, by)
    if answer.status == 200 and answer.result is None:
        return 404, None
    return answer.status, None if answer.result is None else as_rest(answer.result)


def as_rest(card: dict[str, Any]) -> dict[str, Any]:
    """A gift card of GraphQL under the documented keys."""
    return {
        "id": card["id"],
        "code": card["code"],
        "status": S[card["status"]].value,
        "created_on": moment(card["createdOn"]),
        "expires_on": moment(card["expiresOn"]),
        "value": card["value"]["amount"],
        "remaining_value": card["remainingValue"]["amount"],
        "gifter_first_name": card["gifterDetails"]["firstName"],
        "gifter_last_name": card["gifterDetails"]["lastName"],
    }


def moment(text: str | None) -> str:
    """A time as REST writes it."""
    if not text:
        return ""
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def test_the_documented_keys(transport: Transport, cards: GiftCards) -> None:
    some = cards.visible_to("a1")[:12]
    assert some
    for row in some:
        wanted = {
            "id": row.id,
            "code": row.code,
            "status": row.status.value,
            "created_on": moment(row.created_on.isoformat()),
            "expires_on": moment(row.expires_on.isoformat()) if row.expires_on else "",
            "value": "50.00",
            "remaining_value": "50.00",
            "gifter_first_name": row.gifter_first_name,
            "gifter_last_name": row.gifter_last_name,
        }
        spelled = row.code.lower().replace("-", " ")
        assert list(wanted) == list(GIFT_CARD.keys)
        assert await one(transport, "a1", id=row.id) == (200, wanted)
        assert await one(transport, "a1", code=spelled) == (200, wanted)


async def test_for_whom_it_is_there(transport: Transport, cards: GiftCards) -> None:
    row = cards.visible_to("a1")[0]
    for who, found in {"a1": 200, "market a": 200, "master": 200, "a2": 404, "b1": 404, "market b": 404}.items():
        for by in ({"id": row.id}, {"code": row.code}):
            assert (await one(transport, who, **by))[0] == found, who
    for who, refused in {NO_TOKEN: 401, BAD_TOKEN: 401, "powerless": 403}.items():
        for by in ({"id": row.id}, {"code": row.code}, {"code": "NO-SUCH"}):
            assert (await one(transport, who, **by))[0] == refused, who
    assert (await one(transport, "a1", id=999_999))[0] == 404


async def test_unknown_and_foreign_codes_are_the_same(cards: GiftCards) -> None:
    foreign = cards.visible_to("b1")[0].code
    said = [await cards.get(f"/api/giftcards_by_code/{code}/", "a2") for code in (foreign, "NO-SUCH-CODE")]
    assert {(answer.status_code, answer.text) for answer in said} == {(404, said[0].text)}
    assert list(said[0].json()) == ["detail"]
    wrong = await cards.get("/api/giftcards/x/")
    assert wrong.status_code == 404


@pytest.mark.parametrize("who", ["a1", "a2", "market a", "master"])
@pytest.mark.parametrize("order", ORDERS)
async def test_lists_page_by_page(cards: GiftCards, who: str, order: str) -> None:
    latest = dt.datetime.max.replace(tzinfo=dt.UTC)
    name = order.lstrip("-")
    rows = sorted(
        cards.visible_to(who), key=lambda row: (getattr(row, name) or latest, row.id), reverse=order[0] == "-"
    )
    wanted, found, page = [row.id for row in rows], [], 1
    while True:
        body = (await cards.get("/api/giftcards/", who, ordering=order, page=page, page_size=7)).json()
        assert list(body) == ["count", "previous", "has_previous", "has_next", "current_page", "page_range", "results"]
        assert (body["count"], body["current_page"]) == (len(wanted), page)
        found += [row["id"] for row in body["results"]]
        page += 1
        if not body["has_next"]:
            break
    assert found == wanted
    found, after = [], None
    document = f"""query ($after: String) {{ giftCards(first: 9, after: $after, orderBy: {ORDERS[order]}) {{
        totalCount edges {{ node {{ id }} }} pageInfo {{ hasNextPage endCursor }} }} }}"""
    while True:
        answer = (await cards.ask(document, who, after=after))["giftCards"]
        assert answer["totalCount"] == len(wanted)
        found += [edge["node"]["id"] for edge in answer["edges"]]
        after = answer["pageInfo"]["endCursor"]
        if not answer["pageInfo"]["hasNextPage"]:
            break
    assert found == wanted


async def test_periods_include_their_days_in_the_marketplace_s_time(cards: GiftCards) -> None:
    first, last = dt.datetime(2026, 1, 2, 23, tzinfo=dt.UTC), dt.datetime(2026, 1, 5, 23, tzinfo=dt.UTC)
    wanted = {row.id for row in cards.visible_to("a1") if first <= row.created_on < last}
    assert 0 < len(wanted) < 20
    ranges: tuple[dict[str, str], ...] = (
        {"created_on__range": "2026-01-03,2026-01-05"},
        {"created_on__gte": "2026-01-03", "created_on__lte": "2026-01-05"},
    )
    for query in ranges:
        listed = (await cards.get("/api/giftcards/", **query)).json()
        assert {row["id"] for row in listed["results"]} == wanted
    filtered = """query ($from: DateTime, $until: DateTime) { giftCards(first: 100, filter: {createdFrom: $from,
        createdUntil: $until}) { edges { node { id } } } }"""
    found = await cards.ask(filtered, **{"from": first.isoformat(), "until": last.isoformat()})
    assert {edge["node"]["id"] for edge in found["giftCards"]["edges"]} == wanted


@pytest.mark.parametrize(
    ("query", "key"),
    [("created_on__gte=soon", "created_on__gte"), ("created_on__range=2026-01-01", "created_on__range"), ("ordering=code", "ordering"), ("page=0", "page"), ("page_size=101", "page_size")],
)  # fmt: skip
async def test_a_malformed_parameter_is_told_at_its_name(cards: GiftCards, query: str, key: str) -> None:
    name, _, value = query.partition("=")
    answer = await cards.get("/api/giftcards/", **{name: value})
    assert (answer.status_code, list(answer.json())) == (400, [key])
    assert (await cards.get("/api/giftcards/", NO_TOKEN)).status_code == 401
    assert (await cards.get("/api/giftcards/", "powerless")).status_code == 403


async def test_what_is_filtered(cards: GiftCards) -> None:
    rows = cards.visible_to("a1")
    ends = START + dt.timedelta(days=300)
    picked = {
        f'{{code: "{rows[3].code.lower()}"}}': [rows[3]],
        "{status: CANCELLED}": [row for row in rows if row.status is S.CANCELLED],
        "{statuses: [PAID, USING]}": [row for row in rows if row.status in (S.PAID, S.USING)],
        '{gifter: "élodie o\'n"}': [
            row for row in rows if (row.gifter_first_name, row.gifter_last_name) == ("Élodie", "O'Neil")
        ],
        '{giftee: "FOR.7@"}': [row for row in rows if row.giftee_email == "for.7@mail.example"],
        f'{{expiresUntil: "{ends.isoformat()}"}}': [row for row in rows if row.expires_on and row.expires_on <= ends],
        f'{{expiresFrom: "{ends.isoformat()}"}}': [row for row in rows if row.expires_on and row.expires_on >= ends],
    }
    for filtered, wanted in picked.items():
        found = await cards.ask(f"{{ giftCards(first: 100, filter: {filtered}) {{ edges {{ node {{ id }} }} }} }}")
        assert {edge["node"]["id"] for edge in found["giftCards"]["edges"]} == {row.id for row in wanted}, filtered


WHOLE = """query ($id: Int!) { giftCard(id: $id) { isSpendable documentUrl message receptionMode language orderId
    gifterDetails { firstName lastName email } gifteeDetails { firstName lastName email address }
    remainingValue { amount currency }
    movements { kind change { amount currency } reference holdId }
    holds { id state amount { amount } captured { amount } reference closedOn giftCard { id } } } }"""


async def test_all_of_one(cards: GiftCards) -> None:
    tenants, ask = cards.tenants, Direct(cards.tenants)
    card = await gift_card(
        tenants, "a2", giftee_first_name="Noé", recipient_address="1 rue", message="Hi", language="fr"
    )
    cards.rows.append(card)
    hold = (await ask.change("a2", hold_gift_card, id=card.id, amount="20.00", reference="till 2")).result
    assert (await ask.change("a2", capture_gift_card, hold_id=hold.id, amount="15.00")).done
    shown = (await cards.ask(WHOLE, "a2", id=card.id))["giftCard"]
    assert shown["holds"][0].pop("closedOn")
    amounts = {"amount": {"amount": "20.00"}, "captured": {"amount": "15.00"}}
    assert shown == {
        "isSpendable": True,
        "documentUrl": f"{tenants.services.settings.public_url}/documents/gift-cards/{card.document_token}.pdf",
        "message": "Hi",
        "receptionMode": "PRINT_AT_HOME",
        "language": "fr",
        "orderId": None,
        "gifterDetails": {"firstName": "", "lastName": "", "email": ""},
        "gifteeDetails": {"firstName": "Noé", "lastName": None, "email": None, "address": "1 rue"},
        "remainingValue": {"amount": "35.00", "currency": "EUR"},
        "movements": [
            {"kind": kind, "change": {"amount": amount, "currency": "EUR"}, "reference": said, "holdId": of}
            for kind, amount, said, of in (
                ("ISSUE", "50.00", "", None),
                ("HOLD", "-20.00", "till 2", hold.id),
                ("RELEASE", "20.00", "till 2", hold.id),
                ("CAPTURE", "-15.00", "till 2", hold.id),
            )
        ],
        "holds": [
            {"id": hold.id, "state": "CAPTURED", "reference": "till 2"} | amounts | {"giftCard": {"id": card.id}}
        ],
    }
    moved = sum(Decimal(each["change"]["amount"]) for each in shown["movements"])
    assert str(moved) == shown["remainingValue"]["amount"]


async def test_a_cancelled_one_can_neither_be_spent_nor_printed(cards: GiftCards) -> None:
    cancelled = next(row for row in cards.visible_to("a1") if row.status is S.CANCELLED)
    gone = await cards.ask("query ($id: Int!) { giftCard(id: $id) { isSpendable documentUrl } }", id=cancelled.id)
    assert gone["giftCard"] == {"isSpendable": False, "documentUrl": None}


async def test_statements_do_not_grow_with_the_list(cards: GiftCards) -> None:
    counts = []
    for size in (2, 40):
        document = f"{{ giftCards(first: {size}) {{ edges {{ node {{ id movements {{ kind }} holds {{ id }} }} }} }} }}"
        with fetched(cards.tenants.services.db) as seen:
            assert len((await cards.ask(document))["giftCards"]["edges"]) == size
        counts.append(len(seen))
    assert counts == [3, 3]
