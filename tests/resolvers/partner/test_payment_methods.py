"""What the customers of a partner can pay with: who sets it, what is refused, and what is offered."""

from typing import Any

import pytest
from pydantic import SecretStr

from resolvers.partner.partners import update_partner
from resolvers.partner.payment_methods import methods_for, token_methods_for
from schema.payment_method import PaymentMethod
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from tests.changes import Transport
from tests.fixtures.tenants import Tenants

CARD, AMEX, BANCONTACT, IDEAL, APPLE_PAY, GOOGLE_PAY = PaymentMethod
SANDBOX = Settings()
MANGOPAY = Settings(provider=ProviderName.MANGOPAY, mangopay_client_id="id", mangopay_api_key=SecretStr("key"))


async def test_the_network_sets_them(tenants: Tenants, ask: Transport) -> None:
    one = tenants.partners["a1"]
    assert (await tenants.row("partner", one.id))["payment_methods"] == ["card"]
    sent = {"uuid": str(one.uuid), "payment_methods": [APPLE_PAY, IDEAL, CARD, IDEAL]}
    assert (await ask.change("market a", update_partner, **sent)).done
    assert (await tenants.row("partner", one.id))["payment_methods"] == ["card", "ideal", "apple_pay"]
    query = "query ($uuid: UUID!) { partner(uuid: $uuid) { paymentMethods } }"
    body = await tenants.graphql("a1", query, uuid=one.uuid)
    assert body["data"]["partner"] == {"paymentMethods": ["CARD", "IDEAL", "APPLE_PAY"]}


async def test_what_they_cannot_be_changes_nothing(
    tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid, before = str(tenants.partners["a1"].uuid), await tenants.snapshot()
    assert (await ask.change("market a", update_partner, uuid=uuid, payment_methods=[])).wrong == {
        ("payment_methods", "INVALID")
    }
    sent: dict[str, Any] = {"uuid": uuid, "payment_methods": [IDEAL]}
    assert (await ask.change("a1", update_partner, **sent)).wrong == {("", "FORBIDDEN")}
    assert (await ask.change("market b", update_partner, **sent)).wrong == {("", "NOT_FOUND")}
    for alone in ([APPLE_PAY], [GOOGLE_PAY, APPLE_PAY]):
        outcome = await ask.change("market a", update_partner, uuid=uuid, payment_methods=alone)
        assert outcome.wrong == {("payment_methods", "INVALID")}
    monkeypatch.setattr(Settings, "available_payment_methods", [CARD, BANCONTACT])
    outcome = await ask.change("market a", update_partner, name="Other", **sent)
    assert outcome.wrong == {("payment_methods", "INVALID")}
    assert await tenants.snapshot() == before


async def test_a_method_that_the_account_has_lost_holds_up_no_other_change(
    tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = str(tenants.partners["a1"].uuid)
    assert (await ask.change("market a", update_partner, uuid=uuid, payment_methods=[IDEAL])).done
    monkeypatch.setattr(Settings, "available_payment_methods", [CARD])
    assert (await ask.change("market a", update_partner, uuid=uuid, agency_phone="+33 1 23 45 67 89")).done
    row = await tenants.row("partner", tenants.partners["a1"].id)
    assert (row["payment_methods"], row["agency_phone"]) == (["ideal"], "+33 1 23 45 67 89")


async def test_rest_has_no_key_for_them(tenants: Tenants) -> None:
    one, headers = tenants.partners["a1"], {"Authorization": f"Token {tenants.tokens['market a']}"}
    address, sent = f"/api/payment_hub/partner/{one.uuid}/", {"payment_methods": ["ideal"], "hide_from_stats": True}
    answer = await tenants.client.patch(address, json=sent, headers=headers)
    assert (answer.status_code, answer.json()["hide_from_stats"]) == (200, True)
    assert "payment_methods" not in answer.json()
    assert (await tenants.row("partner", one.id))["payment_methods"] == ["card"]


async def test_the_account_at_the_provider_decides() -> None:
    assert SANDBOX.available_payment_methods == list(PaymentMethod)
    assert MANGOPAY.available_payment_methods == [CARD]
    some = Settings(payment_methods="card, ideal")  # type: ignore[arg-type]  # as the environment has it
    assert some.available_payment_methods == [CARD, IDEAL]
    assert methods_for(some, list(PaymentMethod), "EUR", "FR") == (CARD, IDEAL)


def test_apple_pay_and_google_pay_are_offered_beside_the_others() -> None:
    everything = list(PaymentMethod)
    assert token_methods_for(SANDBOX, everything) == (APPLE_PAY, GOOGLE_PAY)
    assert methods_for(SANDBOX, everything, "EUR", "FR") == (CARD, AMEX, BANCONTACT, IDEAL)
    assert token_methods_for(SANDBOX, [CARD, GOOGLE_PAY]) == (GOOGLE_PAY,)
    assert token_methods_for(MANGOPAY, everything) == ()
    assert methods_for(SANDBOX, [APPLE_PAY], "CHF", "CH") == (CARD, AMEX), "not every browser has it"


@pytest.mark.parametrize(
    ("accepted", "currency", "country", "offered"),
    [
        ([CARD], "EUR", "NL", (CARD,)),
        ([IDEAL, BANCONTACT, AMEX, CARD], "EUR", "FR", (CARD, AMEX, BANCONTACT, IDEAL)),
        ([CARD, BANCONTACT, IDEAL], "EUR", "NL", (IDEAL, CARD, BANCONTACT)),
        ([CARD, BANCONTACT, IDEAL], "EUR", "BE", (BANCONTACT, CARD, IDEAL)),
        ([CARD, BANCONTACT, IDEAL], "EUR", "", (CARD, BANCONTACT, IDEAL)),
        ([CARD, AMEX, BANCONTACT, IDEAL], "CHF", "BE", (CARD, AMEX)),
        ([IDEAL], "CHF", "NL", (CARD, AMEX)),
    ],
)
def test_what_is_offered(
    accepted: list[PaymentMethod], currency: str, country: str, offered: tuple[PaymentMethod, ...]
) -> None:
    assert methods_for(SANDBOX, accepted, currency, country) == offered
