"""Network gift cards that pay in payments, over both transports: who may, what is shown to whom, refunds, refusals."""

from typing import Any

import pytest
import pytest_asyncio

from rest_compat.resources.payment import PAYMENT
from store.gift_card.gift_cards import GiftCardRow
from tests.behaviours.network.test_gift_cards import BY_CODE, rest
from tests.behaviours.payment.test_new_payments import pay
from tests.fixtures.network import is_proved, link, network_card, set_terms, status_and_rest, usages_of
from tests.fixtures.tenants import Tenants
from tests.transports import Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def linked(tenants: Tenants) -> None:
    """Partners a1 and b1 take part in the gift cards of their networks, a2 does not. All can be paid."""
    await link(tenants, "a1")
    await link(tenants, "b1", source_id=200)
    await set_terms(tenants, commission_rate=10, vat_rate=20)
    await tenants.execute("UPDATE partner SET payments_active = true, provider_wallet_id = 'wallet-' || id")


async def from_card(tenants: Tenants, card: GiftCardRow, amount: str) -> dict[str, Any]:
    """What is sent so that a card pays an amount."""
    uuid = (await tenants.row("wallet", card.wallet_id))["uuid"]
    return {"extra_source_wallet_uuid": str(uuid), "extra_source_amount": amount}


async def refund(transport: Transport, who: str, id: str, amount: str, split: dict[str, str] | None = None) -> Answer:
    """Refund an amount of a payment."""
    if isinstance(transport, OverRest):
        sent = {"amount": float(amount), **({"split": {k: float(v) for k, v in split.items()}} if split else {})}
        return transport.to_answer(await rest(transport, who, "POST", f"/api/payments/{id}/refund/", sent))
    assert isinstance(transport, OverGraphQL)
    query = """mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) {
        refund { state } userErrors { field code message } } }"""
    values: dict[str, Any] = {"id": id, "amount": amount}
    if split:
        names = {"extra_source_amount": "extraSourceAmount", "additional_payin_amount": "additionalPayinAmount"}
        values["split"] = {names[key]: value for key, value in split.items()}
    return await transport.changed(query, who, values)


async def cancel_usage(transport: Transport, who: str, id: int) -> Answer:
    """Cancel a usage."""
    if isinstance(transport, OverRest):
        path = f"/api/networkgiftcard_usages/{id}/cancel/"
        return transport.to_answer(await rest(transport, who, "POST", path, {"comment": "x"}))
    assert isinstance(transport, OverGraphQL)
    query = """mutation ($input: CancelNetworkGiftCardUsageInput!) { cancelNetworkGiftCardUsage(input: $input) {
        networkGiftCardUsage { id } userErrors { field code message } } }"""
    return await transport.changed(query, who, {"id": id, "comment": "x"})


async def test_a_card_pays_and_has_it_back(transport: Transport) -> None:
    tenants = transport.tenants
    card = await network_card(tenants)
    paid = await pay(transport, amount="30.00", **await from_card(tenants, card, "30.00"))
    assert (paid.result["status"], paid.result["taken"]) == ("ok", 30.0)
    (usage,) = await usages_of(tenants, card)
    assert (str(usage.payment_id), str(usage.net_amount)) == (paid.result["id"], "26.40")
    before = await tenants.snapshot()
    for who in ("a1", "market a", "master"):
        refused = await cancel_usage(transport, who, usage.id)
        assert (refused.status, refused.code) == (409, "USAGE_OF_PAYMENT")
    assert (await cancel_usage(transport, "a2", usage.id)).status == 404
    too_much = {"extra_source_amount": "30.01", "additional_payin_amount": "-0.01"}
    assert not (await refund(transport, "a1", paid.result["id"], "30.00", too_much)).done
    assert not (await refund(transport, "a1", paid.result["id"], "30.01")).done
    after = await tenants.snapshot()
    assert {name for name in before if before[name] != after[name]} <= {"stored_response"}
    assert (await refund(transport, "a1", paid.result["id"], "10.00")).done
    assert await status_and_rest(tenants, card) == ("using", "80.00")
    split = {"extra_source_amount": "20.00", "additional_payin_amount": "0.00"}
    assert (await refund(transport, "a1", paid.result["id"], "20.00", split)).done
    assert await status_and_rest(tenants, card) == ("paid", "100.00")
    (usage,) = await usages_of(tenants, card)
    assert (usage.is_active, usage.returned_net_amount) == (False, usage.net_amount)
    assert (await cancel_usage(transport, "a1", usage.id)).done
    assert await is_proved(tenants)


async def test_wallets_that_do_not_pay_are_unknown(transport: Transport) -> None:
    """Of cards of another network, at partners that take no part, and of cards that do not exist: one answer."""
    tenants = transport.tenants
    ours, theirs = await network_card(tenants), await network_card(tenants, "b")
    before, told = await tenants.snapshot(), set()
    unknown = {"extra_source_wallet_uuid": "5f1d6d5e-2c0e-4a53-8d0a-6f8f0d7f2a44", "extra_source_amount": "30.00"}
    for partner, sent in (
        ("a1", unknown),
        ("a1", await from_card(tenants, theirs, "30.00")),
        ("a2", await from_card(tenants, ours, "30.00")),
        ("b1", await from_card(tenants, ours, "30.00")),
    ):
        answer = await pay(transport, partner, **sent)
        assert answer.fields == {"extra_source_wallet_uuid"}
        told |= set(answer.wrong.values())
    assert len(told) == 1
    assert await tenants.snapshot() == before


async def test_what_prevents_a_usage_prevents_a_payment(transport: Transport) -> None:
    tenants = transport.tenants
    cases = (
        (await network_card(tenants, "a", "20.00"), "INSUFFICIENT_BALANCE"),
        (await network_card(tenants, is_splittable=False), "NOT_SPLITTABLE"),
        (await network_card(tenants, is_active=False), "DEACTIVATED"),
        (await network_card(tenants, is_test=True), "GIFT_CARD_NOT_SPENDABLE"),
    )
    before = await tenants.snapshot()
    for card, code in cases:
        answer = await pay(transport, **await from_card(tenants, card, "30.00"))
        assert (answer.status, answer.code) == (409, code)
    after = await tenants.snapshot()
    assert {name for name in before if before[name] != after[name]} <= {"stored_response"}


async def test_what_rest_shows_of_the_payment_and_the_usage(tenants: Tenants) -> None:
    transport, card = OverRest(tenants), await network_card(tenants)
    wallet = await from_card(tenants, card, "30.00")
    paid = await pay(transport, amount="30.00", **wallet)
    path = f"/api/payments/{paid.result['id']}/"
    shown = (await rest(transport, "a1", "GET", path)).json()
    assert list(shown) == list(PAYMENT.keys)
    assert (shown["extra_source_amount"], shown["extra_source_wallet_uuid"]) == (30.0, None)
    of_network = (await rest(transport, "market a", "GET", path)).json()
    assert of_network["extra_source_wallet_uuid"] == wallet["extra_source_wallet_uuid"]
    assert wallet["extra_source_wallet_uuid"] not in (await rest(transport, "a1", "GET", "/api/payments/")).text
    assert (shown["amount"], shown["commission"], shown["refunded_amount"]) == ("30.00", 0.0, 0.0)
    (usage,) = (await rest(transport, "a1", "GET", f"{BY_CODE}{card.code}/usages/")).json()
    assert (usage["value"], usage["partner"], usage["is_active"]) == (30.0, tenants.partners["a1"].id, True)


SHOWN = """query ($id: UUID!) { payment(id: $id) { extraPart { amount } extraWallet { uuid }
    sources { kind amount { amount } giftCardId wallet { uuid kind } } transactions { type paymentMethod } journal { kind } } }"""
HIDDEN = "query ($id: Int!) { networkGiftCard(id: $id) { code } giftCard(id: $id) { code } }"
BALANCE = "query ($id: UUID!) { payment(id: $id) { extraWallet { balance { amount } transfers { id } } } }"


async def test_what_staff_see_of_the_card(tenants: Tenants) -> None:
    """A partner's users see that a card has paid; neither its code nor the uuid of its wallet, which would pay again, nor
    the balance, nor what it pays elsewhere.
    """
    transport, card = OverGraphQL(tenants), await network_card(tenants)
    paid = await pay(transport, amount="30.00", **await from_card(tenants, card, "30.00"))
    id = {"id": paid.result["id"]}
    shown = (await transport.ask_graphql(SHOWN, "a1", id)).result
    (source,) = shown["sources"]
    assert (source["kind"], source["giftCardId"], source["amount"]["amount"]) == ("GIFT_CARD", card.id, "30.00")
    assert (source["wallet"], shown["extraWallet"]) == ({"uuid": None, "kind": "GIFT_CARD"}, {"uuid": None})
    assert {journal["kind"] for journal in shown["journal"]} == {"CAPTURE"}
    of_network = (await transport.ask_graphql(SHOWN, "market a", id)).result
    assert [journal["kind"] for journal in of_network["journal"]] == ["HOLD", "RELEASE", "CAPTURE"]
    response = await tenants.client.post(
        "/graphql/", json={"query": HIDDEN, "variables": {"id": card.id}}, headers=transport.headers("a1")
    )
    assert response.json()["data"] == {"networkGiftCard": None, "giftCard": None}
    for who, is_seen in (("a1", False), ("market a", True)):
        response = await tenants.client.post(
            "/graphql/", json={"query": BALANCE, "variables": id}, headers=transport.headers(who)
        )
        wallet = response.json()["data"]["payment"]["extraWallet"]
        assert (wallet["balance"] is not None, wallet["transfers"] is not None) == (is_seen, is_seen)
    assert card.code not in response.text


OF_USAGES = """{ networkGiftCardUsages { nodes { paymentId giftCard { code walletUuid remainingValue { amount }
    usages { id } } } } transfers { nodes { debitedWallet { uuid } creditedWallet { uuid } } }
    events(filter: {types: [NETWORK_GIFT_CARD_USED]}) { nodes { data } } }"""


async def test_a_card_that_has_paid_is_not_known_to_its_partner(tenants: Tenants) -> None:
    """Unlike one that staff have used by its code."""
    transport, card, used = OverGraphQL(tenants), await network_card(tenants), await network_card(tenants)
    sent = await from_card(tenants, card, "30.00")
    await pay(transport, amount="30.00", **sent)
    usage = {"code": used.code, "partnerId": tenants.partners["a1"].id, "value": "10.00"}
    query = """mutation ($input: UseNetworkGiftCardInput!) { useNetworkGiftCard(input: $input) {
        networkGiftCardUsage { id } userErrors { field code message } } }"""
    assert (await transport.changed(query, "a1", usage)).done
    for who, is_known in (("a1", False), ("market a", True)):
        response = await tenants.client.post("/graphql/", json={"query": OF_USAGES}, headers=transport.headers(who))
        body = response.json()
        assert "errors" not in body, body
        told = [node["giftCard"] for node in body["data"]["networkGiftCardUsages"]["nodes"] if node["paymentId"]]
        assert told
        assert all((each is not None) is is_known for each in told)
        assert used.code in response.text, "whoever has used a card knows it"
        assert (card.code in response.text, sent["extra_source_wallet_uuid"] in response.text) == (is_known, is_known)
        events = [node["data"] for node in body["data"]["events"]["nodes"]]
        of_payments = [data for data in events if data["usage"]["payment_id"]]
        assert of_payments
        assert all((data["value"], data["remaining_value"]) == (None, None) for data in of_payments)


async def test_a_partner_takes_the_wallet_from_the_code(tenants: Tenants) -> None:
    transport, card = OverGraphQL(tenants), await network_card(tenants)
    query = "query ($code: String!) { networkGiftCard(code: $code) { walletUuid wallet { uuid } } }"
    found = (await transport.ask_graphql(query, "a1", {"code": card.code})).result
    assert found["wallet"] == {"uuid": None}
    wallet = {"extra_source_wallet_uuid": found["walletUuid"], "extra_source_amount": "20.00"}
    assert (await pay(transport, amount="20.00", **wallet)).result["status"] == "ok"


async def test_who_knows_the_code_sees_no_payment_of_others(tenants: Tenants) -> None:
    """Another linked partner sees that the card was used and where, and cannot read the payment."""
    await link(tenants, "a2", source_id=101)
    transport, card = OverGraphQL(tenants), await network_card(tenants)
    paid = await pay(transport, amount="30.00", **await from_card(tenants, card, "30.00"))
    query = """query ($code: String!) { networkGiftCard(code: $code) { usages { paymentId value { amount } returned { amount }
        returnedNet { amount } } movements { kind } } }"""
    seen = (await transport.ask_graphql(query, "a2", {"code": card.code})).result
    (usage,) = seen["usages"]
    assert usage == {
        "paymentId": None,
        "value": {"amount": "30.00"},
        "returned": {"amount": "0.00"},
        "returnedNet": None,
    }
    found = await transport.ask_graphql(
        "query ($id: UUID!) { payment(id: $id) { id } }", "a2", {"id": paid.result["id"]}
    )
    assert found.result is None
    await tenants.execute(
        "UPDATE partner SET linked_to_ngc_settings = false WHERE id = :id", id=tenants.partners["a2"].id
    )
