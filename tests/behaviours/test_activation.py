"""Activating payments as clients ask for it, over both transports: what is answered, to whom, and that refusals change nothing."""

import datetime as dt
import json
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest

from schema.core.permission import Permission
from schema.partner.partner import PartnerStatus
from store.core.clock import clock
from store.partner.partners import PartnerRow
from tests.fixtures.activation import COMPLETE
from tests.fixtures.tenants import Tenants
from tests.statements import executed
from tests.transports import BAD_TOKEN, NO_TOKEN, Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")
Stored = Callable[[], Awaitable[Any]]
KEYS = ["status", "id", "pending_user_action"]
MUTATION = """mutation ($input: ActivatePaymentsInput!) { activatePayments(input: $input) {
    paymentActivation { status id pendingUserAction } userErrors { field code message } } }"""
CAPABILITY = """query ($uuid: UUID!) { partner(uuid: $uuid) { paymentsActive paymentCapability {
    status disabledReason requirements { code field action deadline } } } }"""


async def activate(transport: Transport, who: str, uuid: object, key: str | None = None, body: str = "{}") -> Answer:
    """Activate the payments of a partner, or ask how that stands; in the words of REST."""
    if isinstance(transport, OverRest):
        path = f"/api/payment_hub/partner/{uuid}/activate-payments/"
        response = await transport.tenants.client.post(path, content=body, headers=transport.headers(who, key))
        if response.is_success:
            assert response.status_code == 200
        return transport.to_answer(response)
    assert isinstance(transport, OverGraphQL)
    answer = await transport.changed(MUTATION, who, {"partnerUuid": str(uuid)}, key)
    if not answer.done:
        return answer
    names = dict(zip(("status", "id", "pendingUserAction"), KEYS, strict=True))
    return Answer(200, {names[name]: value for name, value in answer.result.items()}, replayed=answer.replayed)


async def newcomer(tenants: Tenants, **columns: Any) -> PartnerRow:
    """A partner of marketplace `a` that can be activated."""
    name = uuid4().hex[:12]
    of: dict[str, Any] = {"marketplace_id": tenants.marketplaces["a"].id, "source_id": name}
    named = {"commercial_name": name, "short_name": name, "site_domain": f"{name}.localhost"}
    row: PartnerRow = await tenants.add(PartnerRow(**{**of, **named, **COMPLETE, **columns}))
    return row


async def test_the_link_is_the_same_until_it_ends_and_the_process_too(transport: Transport, tenants: Tenants) -> None:
    partner = await newcomer(tenants)
    first = await activate(transport, "market a", partner.uuid)
    assert first.done
    assert list(first.result) == KEYS
    assert first.result["status"] == "PENDING_USER_ACTION"
    link = first.result["pending_user_action"]
    assert link.startswith("http")
    assert "token=" in link
    assert "returnUrl=" in link
    assert await activate(transport, "market a", partner.uuid, body="") == first
    clock.advance(dt.timedelta(minutes=10))
    later = (await activate(transport, "master", partner.uuid)).result
    assert (later["id"], later["status"]) == (first.result["id"], "PENDING_USER_ACTION")
    assert later["pending_user_action"] != link


async def test_it_ends_completed_and_the_partner_can_be_paid(transport: Transport, tenants: Tenants) -> None:
    ready = {"legal_representative_email": "accept@shop.example", "status": PartnerStatus.ACTIVE}
    partner = await newcomer(tenants, **ready)
    before = await capability(tenants, partner, "market a")
    assert before["paymentCapability"]["disabledReason"] == "NOT_STARTED"
    done = await activate(transport, "market a", partner.uuid)
    assert (done.result["status"], done.result["pending_user_action"]) == ("COMPLETED", None)
    assert (await activate(transport, "market a", partner.uuid)).result == done.result
    after = await capability(tenants, partner, "market a")
    assert after["paymentsActive"] is True
    assert after["paymentCapability"]["status"] == "ACTIVE"
    assert after["paymentCapability"]["disabledReason"] is None
    codes = {need["code"] for need in after["paymentCapability"]["requirements"]}
    assert codes == {"IDENTITY_NOT_VERIFIED", "BANK_ACCOUNT_MISSING"}


async def test_what_is_missing_is_asked_for_on_our_page(transport: Transport, tenants: Tenants) -> None:
    partner = await newcomer(tenants, legal_representative_nationality="", siret_number="")
    begun = await activate(transport, "market a", partner.uuid)
    assert begun.result["status"] == "PENDING_USER_ACTION"
    assert "/onboarding/" in begun.result["pending_user_action"]
    told = (await capability(tenants, partner, "market a"))["paymentCapability"]
    assert (told["status"], told["disabledReason"]) == ("PENDING", "REQUIREMENTS")
    missing = [need for need in told["requirements"] if need["code"] == "MISSING_DATA"]
    assert {need["field"] for need in missing} == {"registration.siretNumber", "legalRepresentative.nationality"}
    assert {need["action"] for need in missing} == {begun.result["pending_user_action"]}


async def test_a_repetition_gets_the_first_answer(transport: Transport, tenants: Tenants) -> None:
    partner = await newcomer(tenants)
    key = uuid4().hex
    first = await activate(transport, "market a", partner.uuid, key)
    clock.advance(dt.timedelta(minutes=11))
    again = await activate(transport, "market a", partner.uuid, key)
    assert again.replayed
    assert again.result == first.result


@pytest.mark.parametrize(
    ("who", "status"), [(NO_TOKEN, 401), (BAD_TOKEN, 401), ("a1", 403), ("powerless", 403), ("market b", 404)]
)
async def test_only_who_may_activates_and_refusals_change_nothing(
    transport: Transport, tenants: Tenants, stored: Stored, who: str, status: int
) -> None:
    partner = await newcomer(tenants)
    before = await stored()
    assert (await activate(transport, who, partner.uuid)).status == status
    assert await stored() == before


async def test_an_unknown_partner_does_not_exist(transport: Transport, stored: Stored) -> None:
    before = await stored()
    assert (await activate(transport, "master", uuid4())).status == 404
    assert await stored() == before


async def test_what_is_needed_of_many_partners_is_asked_for_at_once(tenants: Tenants) -> None:
    for _ in range(5):
        await newcomer(tenants)
    of_one = await statements(tenants, 1)
    assert await statements(tenants, 5) == of_one


async def test_a_link_to_the_page_is_told_only_to_who_may_activate(tenants: Tenants) -> None:
    partner = await newcomer(tenants)
    await tenants.user(
        f"looks {partner.id}", "marketplace", [Permission.VIEW_PARTNER], marketplace_id=partner.marketplace_id
    )
    told = await capability(tenants, partner, f"looks {partner.id}")
    assert {need["action"] for need in told["paymentCapability"]["requirements"]} == {"sendOnboardingLink"}


async def statements(tenants: Tenants, partners: int) -> int:
    """How many statements it takes to tell whether so many partners can be paid."""
    query = """query ($first: Int!) { partners(first: $first) { edges { node { paymentCapability {
        status requirements { code field action deadline } } } } } }"""
    body = json.dumps({"query": query, "variables": {"first": partners}})
    headers = {"Authorization": f"Token {tenants.tokens['market a']}", "Content-Type": "application/json"}
    await tenants.client.post(
        "/graphql/", content=body, headers=headers
    )  # who asks, and the query, are known afterwards
    with executed(tenants.services.db) as seen:
        answer = (await tenants.client.post("/graphql/", content=body, headers=headers)).json()
    assert len(answer["data"]["partners"]["edges"]) == partners, answer
    return len(seen)


async def capability(tenants: Tenants, partner: PartnerRow, who: str) -> Any:
    """What GraphQL tells of whether a partner can be paid."""
    body = json.dumps({"query": CAPABILITY, "variables": {"uuid": str(partner.uuid)}})
    headers = {"Authorization": f"Token {tenants.tokens[who]}", "Content-Type": "application/json"}
    answer = (await tenants.client.post("/graphql/", content=body, headers=headers)).json()
    assert "errors" not in answer, answer
    return answer["data"]["partner"]
