"""Payout requests over the API: who sees them and what they contain, validating, cancelling, paying out now."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from resolvers.core.lists.listing import PageArguments
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.payment.payouts.adjustments import create_payout_adjustment
from resolvers.payment.payouts.payouts import (
    cancel_payout_request,
    create_payout_request,
    payout_request,
    payout_requests,
    validate_payout_request,
)
from resolvers.payment.payouts.validation import TAKEN_BACK
from store.core.clock import clock
from tests.changes import Direct, Transport
from tests.fixtures.network import is_proved, link, network_card
from tests.fixtures.payment.payout import GOOD_IBAN, make_ready, put_into_payout
from tests.fixtures.tenants import Tenants


async def earn(tenants: Tenants, partner: str = "a1", value: str = "30.00") -> int:
    """A card of the network is used at a partner; the id of the usage."""
    await link(tenants, "a1", "a2")
    card = await network_card(tenants)
    used = {"code": card.code, "value": value, "partner_id": tenants.partners[partner].id}
    assert (await Direct(tenants).change("market a", use_network_gift_card, **used)).done
    return int(await tenants.one("SELECT max(id) FROM network_gift_card_usage"))


async def opened(tenants: Tenants, partner: str = "a1", value: str = "30.00") -> int:
    """A payout request that is not validated yet."""
    await earn(tenants, partner, value)
    return await put_into_payout(tenants.services, tenants.partners[partner].id, is_validated=False)


async def status_of(tenants: Tenants, id: int) -> str:
    return str(await tenants.one("SELECT status FROM payout_request WHERE id = :id", id=id))


async def refusal(tenants: Tenants, ask: Transport, who: str, operation: Any, **values: Any) -> set[tuple[str, str]]:
    """What is wrong with a change, which changes nothing."""
    before = await tenants.snapshot()
    wrong = (await ask.change(who, operation, **values)).wrong
    assert await tenants.snapshot() == before
    return set(wrong)


async def test_it_is_validated_once(tenants: Tenants, ask: Transport) -> None:
    id = await opened(tenants)
    await make_ready(tenants, "a1")
    for _ in range(2):
        assert (await ask.change("market a", validate_payout_request, id=id)).done
    row = (await tenants.rows("SELECT * FROM payout_request"))[0]
    assert (row.status, str(row.payout_amount), str(row.network_amount)) == ("validated", "30.00", "30.00")
    assert (row.bank_account_iban, row.validated_on is None, row.settled_on) == (GOOD_IBAN, False, None)
    journals = "SELECT count(*) FROM ledger_journal WHERE kind = 'payout_validated'"
    assert await tenants.one(journals) == 1
    told = await tenants.rows("SELECT data FROM event WHERE type = 'payout_request.validated'")
    assert [each[0]["id"] for each in told] == [id]
    assert await refusal(tenants, ask, "market a", cancel_payout_request, id=id) == {("", "INVALID_TRANSITION")}
    assert await is_proved(tenants)


async def test_it_says_what_is_missing(tenants: Tenants) -> None:
    id = await opened(tenants)
    ask = Direct(tenants)
    before = await tenants.snapshot()
    answer = await tenants.graphql(
        "market a", f"mutation {{ validatePayoutRequest(input: {{id: {id}}}) {{ userErrors {{ code message }} }} }}"
    )
    (error,) = answer["data"]["validatePayoutRequest"]["userErrors"]
    assert error == {
        "code": "PAYOUT_NOT_READY",
        "message": "The payment provider has not identified the partner yet. The partner has no active bank account: "
        "register its IBAN with `registerBankAccount`.",
    }
    assert await tenants.snapshot() == before
    await make_ready(tenants, "a1")
    await tenants.execute("UPDATE partner SET block_payout_validation = true")
    assert await refusal(tenants, ask, "market a", validate_payout_request, id=id) == {("", "PAYOUT_BLOCKED")}
    await tenants.execute("UPDATE partner SET block_payout_validation = false")
    await tenants.execute("UPDATE wallet SET kind = 'partner', partner_id = 1 WHERE kind = 'marketplace'")
    assert await refusal(tenants, ask, "market a", validate_payout_request, id=id) == {
        ("", "MARKETPLACE_PAYMENTS_NOT_ACTIVE")
    }
    for who in ("a1", "market b"):
        expected = {("", "FORBIDDEN")} if who == "a1" else {("", "NOT_FOUND")}
        assert await refusal(tenants, ask, who, validate_payout_request, id=id) == expected


async def test_a_cancelled_one_gives_its_content_to_the_next(tenants: Tenants, ask: Transport) -> None:
    id = await opened(tenants)
    for _ in range(2):
        assert (await ask.change("market a", cancel_payout_request, id=id)).done
    assert await status_of(tenants, id) == "cancelled"
    assert await tenants.one("SELECT count(*) FROM event WHERE type = 'payout_request.cancelled'") == 1
    assert await refusal(tenants, ask, "market a", validate_payout_request, id=id) == {("", "INVALID_TRANSITION")}
    following = await put_into_payout(tenants.services, tenants.partners["a1"].id)
    assert str(await tenants.one("SELECT payout_amount FROM payout_request WHERE id = :id", id=following)) == "30.00"
    query = "query ($id: Int!) { payoutExplain(id: $id) { lines { nodes { amount { amount } reason former { id status } } } } }"
    for each in (id, following):  # what a cancelled one contained is still told
        (line,) = (await tenants.graphql("market a", query, id=each))["data"]["payoutExplain"]["lines"]["nodes"]
        former = [{"id": id, "status": "CANCELLED"}] if each == following else []
        assert line == {"amount": {"amount": "30.00"}, "reason": "IN_PERIOD", "former": former}
    assert await is_proved(tenants)


async def test_what_is_due_is_paid_out_now(tenants: Tenants, ask: Transport) -> None:
    uuid = tenants.partners["a1"].uuid
    assert await refusal(tenants, ask, "market a", create_payout_request, partner_uuid=uuid) == {
        ("", "NOTHING_TO_PAY_OUT")
    }
    await earn(tenants)
    assert (await ask.change("market a", create_payout_request, partner_uuid=uuid)).done
    row = (await tenants.rows("SELECT * FROM payout_request"))[0]
    assert (row.status, str(row.payout_amount)) == ("to be validated", "30.00")
    assert row.first_day <= row.last_day
    assert await refusal(tenants, ask, "market a", create_payout_request, partner_uuid=uuid) == {
        ("", "NOTHING_TO_PAY_OUT")
    }
    other = tenants.partners["b1"].uuid
    assert await refusal(tenants, ask, "market a", create_payout_request, partner_uuid=other) == {("", "NOT_FOUND")}


async def test_a_cancelled_usage_lowers_an_open_one(tenants: Tenants, ask: Transport) -> None:
    first = await earn(tenants)
    id = await opened(tenants, value="20.00")
    assert (await ask.change("market a", cancel_network_gift_card_usage, id=first)).done
    assert str(await tenants.one("SELECT payout_amount FROM payout_request WHERE id = :id", id=id)) == "20.00"
    second = await tenants.one("SELECT max(id) FROM network_gift_card_usage")
    assert (await ask.change("market a", cancel_network_gift_card_usage, id=second)).done
    assert await status_of(tenants, id) == "cancelled"
    assert await is_proved(tenants)


async def test_a_usage_is_not_dated_before_the_last_payout(tenants: Tenants, ask: Transport) -> None:
    await earn(tenants)
    await put_into_payout(tenants.services, tenants.partners["a1"].id)
    card = await network_card(tenants)
    used = {"code": card.code, "value": "1.00", "partner_id": tenants.partners["a1"].id}
    before = (clock.now() - dt.timedelta(minutes=5)).isoformat()
    assert await refusal(tenants, ask, "market a", use_network_gift_card, **used, used_on=before) == {
        ("used_on", "OUT_OF_RANGE")
    }
    await tenants.execute("UPDATE partner SET freeze_payout = true")
    moved = {**used, "used_on": before, "freeze_payout_date": "2099-01-01T00:00:00Z"}
    for values in (used, moved):
        assert (await ask.change("market a", use_network_gift_card, **values)).done


async def test_what_would_be_gathered(tenants: Tenants) -> None:
    await earn(tenants)
    uuid = tenants.partners["a1"].uuid
    query = """query ($uuid: UUID!) { payoutPreview(partnerUuid: $uuid) {
        amount { amount } owed { amount } firstDay lastDay
        sections { section lines amount { amount } } lines { nodes { sourceKind amount { amount } reason } } } }"""
    before = await tenants.snapshot()
    found = (await tenants.graphql("a1", query, uuid=uuid))["data"]["payoutPreview"]
    assert found["sections"] == [{"section": "USAGES", "lines": 1, "amount": {"amount": "30.00"}}]
    assert found["lines"]["nodes"] == [
        {"sourceKind": "network_gift_card_usage", "amount": {"amount": "30.00"}, "reason": "IN_PERIOD"}
    ]
    assert (found["amount"], found["owed"]) == ({"amount": "30.00"}, {"amount": "0.00"})
    today = clock.now().astimezone(ZoneInfo("Europe/Paris")).date()
    assert found["firstDay"] <= today.isoformat() <= found["lastDay"]
    assert (await tenants.graphql("b1", query, uuid=uuid))["data"] == {"payoutPreview": None}
    assert await tenants.snapshot() == before


async def test_lists_and_filters(tenants: Tenants) -> None:
    ids = {name: await opened(tenants, name) for name in ("a1", "a2")}
    await make_ready(tenants, "a1")
    await tenants.execute(
        "UPDATE partner SET block_payout_validation = true WHERE id = :id", id=tenants.partners["a2"].id
    )

    async def listed(who: str, written: str = "") -> list[int]:
        query = f"{{ payoutRequests(first: 100, orderBy: OLDEST, filter: {{{written}}}) {{ nodes {{ id }} }} }}"
        answer = await tenants.graphql(who, query)
        assert "errors" not in answer, answer
        return [node["id"] for node in answer["data"]["payoutRequests"]["nodes"]]

    assert await listed("market a") == [ids["a1"], ids["a2"]]
    assert await listed("a1") == [ids["a1"]]
    assert await listed("market b") == []
    for written, names in {
        "kycValidated: true": ["a1"],
        "kycValidated: false": ["a2"],
        "validationBlocked: true": ["a2"],
        "validationBlocked: false": ["a1"],
        "status: TO_BE_VALIDATED": ["a1", "a2"],
        "statuses: [PAID, FAILED]": [],
        f'partnerUuid: "{tenants.partners["a2"].uuid}"': ["a2"],
        f'createdFrom: "{(clock.now() + dt.timedelta(days=1)).isoformat()}"': [],
    }.items():
        assert await listed("market a", written) == [ids[name] for name in names], written
    page = await payout_requests(await tenants.context("a2"), PageArguments())
    assert [row.id for row in await page.rows.objects()] == [ids["a2"]]
    found = await (await payout_request(await tenants.context("a2"), ids["a2"])).object()
    assert found.id == ids["a2"]


@pytest.mark.parametrize("who", ["a1", "market a"])
async def test_over_rest(tenants: Tenants, who: str) -> None:
    id = await opened(tenants)
    await make_ready(tenants, "a1")
    headers = {"Authorization": f"Token {tenants.tokens[who]}"}

    async def get(path: str, **query: str) -> Any:
        response = await tenants.client.get(f"/api/payout_requests/{path}", headers=headers, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    found = await get(f"{id}/")
    partner = tenants.partners["a1"]
    assert found | {"creation_date": ""} == {
        "id": id,
        "creation_date": "",
        "validation_date": None,
        "partner": partner.id,
        "partner_uuid": str(partner.uuid),
        "partner_agency_name": partner.commercial_name,
        "partner_is_kyc_validated": True,
        "partner_block_payout_validation": False,
        "invoicer_marketplace": partner.marketplace_id,
        "amount": 30.0,
        "status": "to be validated",
        "currency": "EUR",
        "currency_symbol": "€",
        "bank_account_bic": "",
        "bank_account_iban": "",
        "pdf_file": None,
        "xls_file": None,
    }
    for query, count in (({"has_validated_kyc": "true"}, 1), ({"has_blocked_payout_validation": "true"}, 0)):
        assert (await get("", **query))["count"] == count
    assert (await get("", status="to be validated", partner_uuid=str(partner.uuid)))["results"] == [found]
    for part in ("payments", "transactions", "transfers"):
        assert await get(f"{id}/{part}/") == []
    response = await tenants.client.post(f"/api/payout_requests/{id}/validate/", headers=headers)
    if who == "a1":
        assert response.status_code == 403
        return
    (validated,) = response.json()
    assert (response.status_code, validated["status"], validated["bank_account_iban"]) == (200, "validated", GOOD_IBAN)
    assert validated["validation_date"] is not None
    (transfer,) = await get(f"{id}/transfers/")
    assert (transfer["status"], transfer["type"], transfer["amount"]) == ("pen", "settlement", 30.0)
    refused = await tenants.client.post(f"/api/payout_requests/{id}/cancel/", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid_transition")


async def test_one_of_which_all_was_taken_back_is_cancelled(tenants: Tenants, ask: Transport) -> None:
    """By the validation, which says so."""
    id = await opened(tenants, value="30.00")
    await make_ready(tenants, "a1")
    values = {"partner_uuid": tenants.partners["a1"].uuid, "amount": "-30.00", "reason": "A mistake"}
    assert (await ask.change("market a", create_payout_adjustment, **values)).done
    assert await status_of(tenants, id) == "to be validated"
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    assert await status_of(tenants, id) == "cancelled"
    assert await tenants.one("SELECT detail FROM payout_request") == TAKEN_BACK
    assert await tenants.one("SELECT count(*) FROM ledger_journal WHERE kind = 'payout_validated'") == 0
    told = await tenants.rows("SELECT type FROM event WHERE type LIKE 'payout_request.%' ORDER BY id")
    assert [each.type for each in told] == ["payout_request.cancelled"]
    assert await refusal(tenants, ask, "market a", validate_payout_request, id=id) == {("", "INVALID_TRANSITION")}
    assert await is_proved(tenants)
