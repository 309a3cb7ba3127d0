"""Payments as they are created and changed, over both transports: what a customer, a gift card and a date must be."""

from collections.abc import AsyncIterator, Mapping
from itertools import combinations
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.behaviours.payment.test_payment_requests import camel
from tests.fixtures.gift_card import gift_card
from tests.fixtures.tenants import Tenants
from tests.transports import Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/payments/"
ADA = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"}
DAY = "2026-06-01T12:00:00.000000Z"
BLANK = [dict.fromkeys(names, "") for count in (1, 3) for names in combinations(ADA, count)]


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def partners_that_are_paid(tenants: Tenants) -> AsyncIterator[None]:
    """All partners can be paid, and one may choose when a payment counts for its payout."""
    await tenants.execute("UPDATE partner SET payments_active = true, provider_wallet_id = 'wallet-' || id")
    await tenants.execute("UPDATE partner SET freeze_payout = true WHERE id = :id", id=tenants.partners["a2"].id)
    yield


async def pay(transport: Transport, partner: str = "a1", **changes: Any) -> Answer:
    """Create a payment; its result has `id`, `status`, `url` and `freeze_payout_date`."""
    tenants = transport.tenants
    wanted = {"partner_uuid": str(tenants.partners[partner].uuid), "amount": "100.00", "discount": "0", "customer": ADA}
    values: dict[str, Any] = {**wanted, "product": "stay", "type": "credit_card", **changes}
    if isinstance(transport, OverRest):
        response = await tenants.client.post(PATH, json=values, headers=transport.headers(partner))
        answer = transport.to_answer(response)
        return await read(transport, partner, answer.result["id"]) if answer.done else answer
    assert isinstance(transport, OverGraphQL)
    query = """mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
        payment { id } userErrors { field code message } } }"""
    answer = await transport.changed(query, partner, camel({**values, "type": "CREDIT_CARD"}))
    return await read(transport, partner, answer.result["id"]) if answer.done else answer


async def read(transport: Transport, who: str, id: str) -> Answer:
    """A payment, under the keys of `pay`."""
    if isinstance(transport, OverRest):
        response = await transport.tenants.client.get(f"{PATH}{id}/", headers=transport.headers(who))
        url = response.headers.get("link", "").partition(">; ")[0].strip("<") or None
        taken = response.json()["extra_source_amount"]
        return Answer(200, {"id": id, "status": response.json()["status"], "url": url, "taken": taken})
    assert isinstance(transport, OverGraphQL)
    query = "query ($id: UUID!) { payment(id: $id) { id status paymentUrl extraPart { amount } } }"
    found = (await transport.ask_graphql(query, who, {"id": id})).result
    status = {"OK": "ok", "IN_PROGRESS": "ip"}[found["status"]]
    taken = float(found["extraPart"]["amount"])
    return Answer(200, {"id": id, "status": status, "url": found["paymentUrl"], "taken": taken})


async def freeze(transport: Transport, who: str, id: str, date: str | None) -> Answer:
    """Change the date that decides about the payout of a payment."""
    if isinstance(transport, OverRest):
        headers = transport.headers(who)
        changed = await transport.tenants.client.patch(
            f"{PATH}{id}/", json={"freeze_payout_date": date}, headers=headers
        )
        return transport.to_answer(changed)
    assert isinstance(transport, OverGraphQL)
    query = """mutation ($input: UpdatePaymentInput!) { updatePayment(input: $input) {
        payment { freezePayoutDate } userErrors { field code message } } }"""
    return await transport.changed(query, who, {"id": id, "freezePayoutDate": date})


async def wallet_with(tenants: Tenants, value: str) -> str:
    """The uuid of the wallet of a new gift card."""
    card = await gift_card(tenants, "a1", value)
    return str((await tenants.row("wallet", card.wallet_id))["uuid"])


@pytest.mark.parametrize("blank", BLANK, ids="-".join)
async def test_who_pays_by_card_has_a_name_and_an_address(
    transport: Transport, tenants: Tenants, blank: Mapping[str, str]
) -> None:
    wallet = await wallet_with(tenants, "50.00")
    before = await tenants.snapshot()
    for of_card in ({}, {"extra_source_wallet_uuid": wallet, "extra_source_amount": "50.00"}):
        answer = await pay(transport, customer={**ADA, **blank}, **of_card)
        assert (answer.status, answer.fields) == (400, {f"customer.{name}" for name in blank})
        assert set(answer.wrong.values()) == {"Fill this in."}
    blanks = await pay(transport, customer={**ADA, "first_name": " \t "})
    assert blanks.fields == {"customer.first_name"}
    assert await tenants.snapshot() == before


async def test_who_pays_by_gift_card_only_needs_neither(transport: Transport, tenants: Tenants) -> None:
    wallet = await wallet_with(tenants, "100.00")
    nobody = dict.fromkeys(ADA, "")
    answer = await pay(transport, customer=nobody, extra_source_wallet_uuid=wallet, extra_source_amount="100.00")
    assert (answer.result["status"], answer.result["url"], answer.result["taken"]) == ("ok", None, 100.0)


async def test_nothing_may_be_taken_from_a_wallet(transport: Transport, tenants: Tenants) -> None:
    wallet = await wallet_with(tenants, "100.00")
    answer = await pay(transport, extra_source_wallet_uuid=wallet, extra_source_amount="0.00")
    assert (answer.result["status"], answer.result["taken"]) == ("ip", 0.0)
    before = await tenants.snapshot()
    assert (await pay(transport, extra_source_wallet_uuid=wallet)).fields == {"extra_source_amount"}
    unknown = await pay(transport, extra_source_wallet_uuid=str(uuid4()), extra_source_amount="0.00")
    assert unknown.fields == {"extra_source_wallet_uuid"}
    assert await tenants.snapshot() == before


async def test_only_some_partners_choose_the_date_of_their_payout(transport: Transport, tenants: Tenants) -> None:
    plain = (await pay(transport)).result["id"]
    before = await tenants.snapshot()
    assert (await pay(transport, freeze_payout_date=DAY)).fields == {"freeze_payout_date"}
    assert (await freeze(transport, "a1", plain, DAY)).fields == {"freeze_payout_date"}
    assert await tenants.snapshot() == before
    assert (await freeze(transport, "a1", plain, None)).done
    chosen = await pay(transport, "a2", freeze_payout_date=DAY)
    assert chosen.done, chosen
    date = "SELECT freeze_payout_date IS NOT NULL FROM payment WHERE id = :id"
    for new, is_set in ((None, False), (DAY, True)):
        assert (await freeze(transport, "a2", chosen.result["id"], new)).done
        assert await tenants.one(date, id=chosen.result["id"]) is is_set


async def test_where_to_pay_is_told_until_its_time_is_over(transport: Transport, tenants: Tenants) -> None:
    told = (await pay(transport)).result
    assert told["url"].startswith(f"{tenants.services.settings.public_url}/pay/")
    await tenants.execute("UPDATE payment SET expires_on = now() - interval '1 second' WHERE id = :id", id=told["id"])
    after = (await read(transport, "a1", told["id"])).result
    assert (after["status"], after["url"]) == ("ip", None)
