"""Network gift cards over both transports: creation, look-ups, usages, refusals; every documented key."""

import datetime as dt
import json
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from rest_compat.resources.network_gift_card import FOUND_NETWORK_GIFT_CARD, NETWORK_GIFT_CARD, NETWORK_GIFT_CARD_USAGE
from schema.core.text import Text
from schema.network.gift_card import NetworkGiftCardStatus
from store.core.clock import clock
from store.gift_card.designs import GiftCardDesignRow
from tests.fixtures.network import is_proved, link, network_card, status_and_rest, usages_of
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADA = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"}
CARDS, BY_CODE = "/api/networkgiftcards/", "/api/networkgiftcards_by_code/"
PERSON = "firstName lastName email"
FIELDS = f"""id uuid code status value {{ amount }} remainingValue {{ amount }} createdOn startsOn expiresOn isActive isSplittable
    gifterDetails {{ {PERSON} }} gifteeDetails {{ {PERSON} }} message marketplace {{ uuid }} content {{ theme }}"""
USAGE = "id giftCardId value { amount } isActive comment reservationId freezePayoutDate partner { id sourceId }"


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def linked(tenants: Tenants) -> None:
    """Partners a1 and b1 take part in the gift cards of their networks."""
    await link(tenants, "a1")
    await link(tenants, "b1", source_id=200)


async def rest(transport: Transport, who: str, method: str, path: str, body: Any = None) -> Any:
    """Ask over REST; the whole response."""
    content = None if body is None else json.dumps(body, default=str)
    return await transport.tenants.client.request(method, path, content=content, headers=transport.headers(who))


def new_card(tenants: Tenants, **changes: Any) -> dict[str, Any]:
    """The documented keys of a creation."""
    return {
        "marketplace_uuid": str(tenants.marketplaces["a"].uuid),
        "status": "paid",
        "value": 80.5,
        "gifter": ADA,
        "from_gifter": "For you",
        "activation_date": "2026-01-02T00:00:00Z",
        "expiration_date": "2036-01-02T00:00:00Z",
        **changes,
    }


async def create(transport: Transport, who: str = "market a", **changes: Any) -> Answer:
    """Create a card; the result has its id, status and amounts."""
    sent = new_card(transport.tenants, **changes)
    if isinstance(transport, OverRest):
        response = await rest(transport, who, "POST", CARDS, sent)
        if response.is_success:
            assert response.status_code == 201
            assert list(response.json()) == list(NETWORK_GIFT_CARD.keys)
            assert 'rel="wallet"' in response.headers["link"]
        return transport.to_answer(response)
    assert isinstance(transport, OverGraphQL)
    status = sent["status"]
    named = {status.value: status.name for status in NetworkGiftCardStatus}
    values = {
        "marketplaceUuid": sent["marketplace_uuid"],
        "status": named.get(status, status),
        "value": sent["value"],
        "gifterDetails": {"firstName": "Ada", "lastName": "Martin", "email": sent["gifter"]["email"]},
        "message": sent["from_gifter"],
        "startsOn": sent["activation_date"],
        "expiresOn": sent["expiration_date"],
    }
    query = f"""mutation ($input: CreateNetworkGiftCardInput!) {{ createNetworkGiftCard(input: $input) {{
        networkGiftCard {{ {FIELDS} }} userErrors {{ field code message }} }} }}"""
    return await transport.changed(query, who, values)


async def test_what_is_created_is_answered(transport: Transport) -> None:
    answer = await create(transport)
    assert answer.done, answer
    card = answer.result
    if transport.name == "rest":
        assert (card["status"], card["value"], card["remaining_value"]) == ("paid", 80.5, 80.5)
        assert (card["gifter"], card["from_gifter"], card["is_active"], card["is_splittable"]) == (
            ADA,
            "For you",
            True,
            True,
        )
        assert card["giftee"] == {"first_name": "", "last_name": "", "email": ""}
        assert card["activation_date"] == "2026-01-02T00:00:00.000000Z"
        assert card["marketplace_uuid"] == str(transport.tenants.marketplaces["a"].uuid)
    else:
        assert (card["status"], card["value"]["amount"], card["content"]) == ("PAID", "80.50", None)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"value": 0}, "value"),
        ({"value": "NaN"}, ""),
        ({"status": "used"}, "status"),
        ({"gifter": {**ADA, "email": "nobody"}}, "gifter.email"),
        ({"expiration_date": "2020-01-01T00:00:00Z"}, "expiration_date"),
        ({"activation_date": "0001-01-01T00:00:00Z"}, "activation_date"),
        ({"marketplace_uuid": "00000000-0000-4000-8000-000000000000"}, "marketplace_uuid"),
    ],
)
async def test_what_cannot_be_created(transport: Transport, changes: dict[str, Any], field: str) -> None:
    before = await transport.tenants.one("SELECT count(*) FROM gift_card")
    answer = await create(transport, **changes)
    assert answer.status == 400
    if transport.name == "rest" and field:
        assert answer.fields == {field}
    assert await transport.tenants.one("SELECT count(*) FROM gift_card") == before


async def test_rest_needs_every_documented_key(tenants: Tenants) -> None:
    transport = OverRest(tenants)
    response = await rest(transport, "market a", "POST", CARDS, {})
    told = set(response.json())
    assert told == {
        "marketplace_uuid",
        "status",
        "value",
        "gifter",
        "from_gifter",
        "activation_date",
        "expiration_date",
    }


async def test_who_may_create(transport: Transport) -> None:
    for who, status in {NO_TOKEN: 401, BAD_TOKEN: 401, "a1": 403, "market b": 400}.items():
        assert (await create(transport, who)).status == status, who
    assert (await create(transport, "master")).done


async def look_up(transport: Transport, who: str, code: str) -> tuple[int, Any]:
    """A card by its code: the status, and the look-up shape over REST."""
    if isinstance(transport, OverRest):
        response = await rest(transport, who, "GET", f"{BY_CODE}{quote(code)}/")
        return response.status_code, response.json()
    assert isinstance(transport, OverGraphQL)
    query = f"query ($code: String!) {{ networkGiftCard(code: $code) {{ {FIELDS} }} }}"
    answer = await transport.ask_graphql(query, who, {"code": code})
    return (404 if answer.status == 200 and answer.result is None else answer.status), answer.result


async def test_for_whom_a_code_is_there(transport: Transport) -> None:
    card = await network_card(transport.tenants)
    seen = {"a1": 200, "a2": 404, "b1": 404, "market a": 200, "market b": 404, "master": 200}
    for who in EVERYBODY:
        for spelled in (card.code, card.code.lower().replace("-", " ")):
            assert (await look_up(transport, who, spelled))[0] == seen[who], who
    for who, status in {NO_TOKEN: 401, BAD_TOKEN: 401}.items():
        assert (await look_up(transport, who, card.code))[0] == status


async def test_the_look_up_shape_and_the_older_form(tenants: Tenants) -> None:
    design = await tenants.add(
        GiftCardDesignRow(
            marketplace_id=tenants.marketplaces["a"].id,
            name=Text(en="Birthday", fr="Anniversaire"),
            short_description=Text(en="Short"),
            description=Text(en="Long"),
        )
    )
    card, transport = await network_card(tenants, design_id=design.id, language="fr", message="Hi"), OverRest(tenants)
    _, shown = await look_up(transport, "a1", card.code)
    assert list(shown) == list(FOUND_NETWORK_GIFT_CARD.keys)
    assert (shown["theme"], shown["short_description"], shown["description"]) == ("Anniversaire", "Short", "Long")
    assert (shown["uuid"], shown["order_uuid"], shown["remaining_value"]) == (str(card.uuid), "", 100.0)
    response = await rest(transport, "a1", "GET", f"{CARDS}{card.code}/")
    assert list(response.json()) == list(NETWORK_GIFT_CARD.keys)
    assert response.json()["from_gifter"] == "Hi"
    assert response.headers["deprecation"].startswith("@")
    links = response.headers.get_list("link")
    assert any(f'{BY_CODE}{card.code}/>; rel="successor-version"' in link for link in links)


async def test_by_e_mail(tenants: Tenants) -> None:
    transport, email = OverRest(tenants), "grace.b@example.com"
    older = await network_card(tenants, giftee_email=email, created_on=clock.now() - dt.timedelta(days=2))
    newer = await network_card(tenants, gifter_email=email.upper())
    path = f"/api/networkgiftcards_by_email/{quote(email.title())}/"
    for who, ids in {"market a": [newer.id, older.id], "a1": [], "b1": [], "market b": []}.items():
        response = await rest(transport, who, "GET", path)
        assert [row["id"] for row in response.json()] == ids
    assert all(
        list(row) == list(FOUND_NETWORK_GIFT_CARD.keys)
        for row in (await rest(transport, "market a", "GET", path)).json()
    )
    assert (await rest(transport, "powerless", "GET", path)).status_code in (401, 403)


async def use(transport: Transport, code: str, who: str = "a1", **changes: Any) -> Answer:
    """Use a card by the source id of the partner; its keys are those of REST."""
    sent = {"creation_date": clock.now().isoformat(), "value": "30.00", "partner_source_id": 100, **changes}
    if isinstance(transport, OverRest):
        by_id = "partner_id" in sent
        path = f"{BY_CODE}{code}/{'use_with_coffret_id' if by_id else 'use'}/"
        response = await rest(transport, who, "POST", path, sent)
        if response.is_success:
            assert response.status_code == 200
            assert list(response.json()) == list(NETWORK_GIFT_CARD_USAGE.keys)
        return transport.to_answer(response)
    assert isinstance(transport, OverGraphQL)
    values = {"code": code, "usedOn": sent["creation_date"], "value": sent["value"]}
    if "partner_id" in sent:
        values["partnerId"] = sent["partner_id"]
    else:
        values["partnerSourceId"] = str(sent["partner_source_id"])
    query = f"""mutation ($input: UseNetworkGiftCardInput!) {{ useNetworkGiftCard(input: $input) {{
        networkGiftCardUsage {{ {USAGE} }} userErrors {{ field code message }} }} }}"""
    return await transport.changed(query, who, values)


async def test_a_card_is_used_and_the_usage_cancelled(transport: Transport) -> None:
    tenants = transport.tenants
    card, partner = await network_card(tenants), tenants.partners["a1"].id
    assert (await use(transport, card.code)).done
    by_id = await use(transport, card.code, partner_id=partner, value="20.00")
    assert by_id.done
    assert await status_and_rest(tenants, card) == ("using", "50.00")
    first, second = await usages_of(tenants, card)
    if isinstance(transport, OverRest):
        assert by_id.result == {
            "id": second.id,
            "network_giftcard": card.id,
            "partner": partner,
            "value": 20.0,
            "is_active": True,
            "comment": "",
            "reservation_id": "",
            "partner_source_id": 100,
            "freeze_payout_date": "",
        }
        listed = await rest(transport, "a1", "GET", f"{BY_CODE}{card.code}/usages/")
        assert [row["id"] for row in listed.json()] == [second.id, first.id]
        last = await rest(transport, "a1", "GET", f"{CARDS}{card.code}/usages/")
        assert last.json() == by_id.result
        path = f"/api/networkgiftcard_usages/{second.id}/cancel/"
        cancelled = (await rest(transport, "a1", "POST", path, {"comment": "Rain"})).json()
        assert cancelled == {**by_id.result, "is_active": False, "comment": "Rain"}
        assert (await rest(transport, "a2", "POST", path, {})).status_code == 404
        assert (await rest(transport, "market a", "POST", path, {})).json() == cancelled
    else:
        assert isinstance(transport, OverGraphQL)
        query = f"""mutation ($input: CancelNetworkGiftCardUsageInput!) {{ cancelNetworkGiftCardUsage(input: $input) {{
            networkGiftCardUsage {{ {USAGE} }} userErrors {{ field code message }} }} }}"""
        assert (await transport.changed(query, "a1", {"id": second.id, "comment": "Rain"})).done
    assert await status_and_rest(tenants, card) == ("using", "70.00")
    assert await is_proved(tenants)


async def test_a_usage_that_never_was(tenants: Tenants) -> None:
    card, transport = await network_card(tenants), OverRest(tenants)
    assert (await rest(transport, "a1", "GET", f"{CARDS}{card.code}/usages/")).status_code == 404
    assert (await rest(transport, "a1", "GET", f"{BY_CODE}{card.code}/usages/")).json() == []
    for code in ("NO-SUCH", "7Q4C-KX9M-2H8R-TDWE"):
        assert (await use(transport, code)).status == 404


async def test_what_is_refused_changes_nothing(transport: Transport) -> None:
    tenants = transport.tenants
    card, whole = await network_card(tenants), await network_card(tenants, is_splittable=False)
    before = await tenants.snapshot()
    for code, changes, status, told in (
        (card.code, {"value": "100.01"}, 409, "INSUFFICIENT_BALANCE"),
        (whole.code, {"value": "99.00"}, 409, "NOT_SPLITTABLE"),
        (card.code, {"value": "0"}, 400, ""),
        (card.code, {"value": "1.005"}, 400, ""),
        (card.code, {"partner_source_id": 4711}, 400, ""),
        (card.code, {"creation_date": "0001-01-01T00:00:00Z"}, 400, ""),
        (card.code, {"creation_date": "9999-12-31T23:59:59-14:00"}, 400, ""),
        (card.code, {"partner_id": tenants.partners["b1"].id}, 400, ""),
        (card.code, {"creation_date": (clock.now() + dt.timedelta(days=3)).isoformat()}, 400, ""),
    ):
        answer = await use(transport, code, "market a", **changes)
        assert (answer.status, answer.code if status == 409 else "") == (status, told), changes
    assert (await use(transport, card.code, "a2")).status == 404
    after = await tenants.snapshot()
    assert {name for name in before if before[name] != after[name]} <= {"stored_response"}


async def test_mail_of_a_usage_is_sent_when_it_is_asked_for(tenants: Tenants) -> None:
    transport, card = OverRest(tenants), await network_card(tenants, giftee_email="grace@example.com")
    await tenants.execute("UPDATE marketplace SET email = 'office@network.example' WHERE name = 'a'")
    mails = "SELECT recipient FROM mail WHERE kind = 'network_card_used' ORDER BY id"
    assert (await use(transport, card.code, value="1.00")).done
    assert await tenants.rows(mails) == []
    assert (await use(transport, card.code, value="1.00", send_usage_notification_email=True)).done
    other: dict[str, Any] = {"send_usage_notification_email": True, "giftee_email": "other@example.com"}
    assert (await use(transport, card.code, value="1.00", **other)).done
    told = [row[0] for row in await tenants.rows(mails)]
    assert told == ["office@network.example", "grace@example.com", "office@network.example", "other@example.com"]
