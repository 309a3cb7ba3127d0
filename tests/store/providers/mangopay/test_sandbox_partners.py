"""A partner's way through the adapter and the sandbox together: account, authentication, bank account, wallet."""

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from store.providers.accounts import AccountStatus, DestinationStatus, DocumentType, KycLevel, LegalKind
from store.providers.base import (
    ActionRequired,
    EventHint,
    InboundWebhook,
    InvalidRequest,
    MinorAmount,
    NotAllowed,
    NotFound,
    Subject,
    UnknownOutcome,
)
from store.providers.mangopay.hooks import EVENT_TYPES
from tests.store.providers.mangopay.api_server import HOOKS, IDENTITY_BACK, TEN_MINUTES, Desk, adapter_of
from tests.store.providers.mangopay.people import ADDRESS, BACK, BANK, REQUEST
from tests.store.providers.mangopay.test_sandbox_identity import handed_in

# ---- accounts


@pytest.mark.parametrize("kind", list(LegalKind))
async def test_everybody_becomes_active_by_authenticating(desk: Desk, kind: LegalKind) -> None:
    made = await desk.account(kind=kind)
    assert (made.status, made.kyc_level) == (AccountStatus.ACTION_REQUIRED, KycLevel.LIGHT)
    assert (made.representative_email, made.reference) == ("ana@example.com", "partner-7")
    assert made.action
    assert made.action.expires_at
    assert made.action.expires_at - desk.world.clock.now() <= TEN_MINUTES
    before = await desk.adapter.get_enrolment(made.id)
    assert before
    assert (before.enrolled, before.last_on) == (False, None)
    await desk.authenticate(made.action)
    now = await desk.adapter.get_account(made.id)
    assert (now.status, now.action) == (AccountStatus.ACTIVE, None)
    enrolment = await desk.adapter.get_enrolment(made.id)
    assert enrolment
    assert enrolment.enrolled
    assert enrolment.last_on
    assert not await desk.adapter.enrolment_failed(made.id, desk.world.clock.now() - TEN_MINUTES)


async def test_a_link_works_for_ten_minutes_and_a_new_one_for_ten_more(desk: Desk) -> None:
    made = await desk.account()
    await desk.world.advance(601)
    assert (await desk.adapter.get_account(made.id)).status is AccountStatus.ACTION_REQUIRED
    again = await desk.adapter.open_enrolment(made.id, return_url=BACK, **desk.once())
    assert again
    assert again.url != (made.action.url if made.action else "")
    await desk.world.advance(598)
    await desk.authenticate(again)
    assert (await desk.adapter.get_account(made.id)).status is AccountStatus.ACTIVE
    assert ("SCA_ENROLLMENT_EXPIRED", Subject.ACCOUNT, made.id) in await desk.events()


async def test_a_failed_authentication_is_heard_of_and_a_later_one_works(desk: Desk) -> None:
    made, other = await desk.account(), await desk.account()
    opened = desk.world.clock.now()
    await desk.world.advance(5)
    await desk.authenticate(made.action, "fail")
    assert await desk.adapter.enrolment_failed(made.id, opened)
    assert not await desk.adapter.enrolment_failed(other.id, opened)
    await desk.world.advance(5)
    reopened = desk.world.clock.now()
    action = await desk.adapter.open_enrolment(made.id, return_url=BACK, **desk.once())
    assert not await desk.adapter.enrolment_failed(made.id, reopened)
    await desk.authenticate(action)
    assert (await desk.adapter.get_account(made.id)).status is AccountStatus.ACTIVE


async def test_what_is_missing_is_named(desk: Desk) -> None:
    with pytest.raises(InvalidRequest) as told:
        await desk.account(company_number="")
    assert "CompanyNumber" in told.value.fields
    american = replace(ADDRESS, country="US")
    with pytest.raises(InvalidRequest) as told:
        await desk.account(headquarters=american)
    assert any("Region" in name for name in told.value.fields)
    assert await desk.events() == set()


async def test_what_has_changed_is_told(desk: Desk) -> None:
    for kind in (LegalKind.SOLE_TRADER, LegalKind.INDIVIDUAL):
        id = await desk.active(kind=kind)
        person = replace(REQUEST.representative, email="new@example.com", last_name="Vidal")
        changed = replace(REQUEST, kind=kind, representative=person, name="Maison Lune")
        assert (await desk.adapter.update_account(id, changed)).representative_email == "new@example.com"
        now = await desk.adapter.get_account(id)
        assert (now.representative_email, now.reference) == ("new@example.com", "partner-7")


async def test_somebody_whose_answer_was_lost_is_one(desk: Desk) -> None:
    for when in ("before", "after"):
        fault = {"method": "POST", "path": "/sca/users/legal", "when": when, "kind": "drop", "times": 1}
        await desk.world.control("POST", "/faults", fault)
        once = desk.once()
        made = await desk.adapter.create_account(REQUEST, return_url=BACK, **once)
        again = await desk.adapter.create_account(REQUEST, return_url=BACK, **once)
        assert (again.id, again.action and again.action.url) == (made.id, made.action and made.action.url)
        await desk.authenticate(again.action)
        active = await desk.adapter.create_account(REQUEST, return_url=BACK, **once)
        assert (active.id, active.status, active.action) == (made.id, AccountStatus.ACTIVE, None)
    assert len({id for type, _, id in await desk.events() if type == "USER_ACCOUNT_VALIDATION_ASKED"}) == 2


async def test_twenty_at_once_with_one_key_make_one_account_and_one_link(desk: Desk) -> None:
    once = desk.once()
    makes = (desk.adapter.create_account(REQUEST, return_url=BACK, **once) for _ in range(20))
    made = await asyncio.gather(*makes)
    assert len({(each.id, each.action and each.action.url) for each in made}) == 1
    assert len([type for type, _, _ in await desk.events() if type == "USER_ACCOUNT_VALIDATION_ASKED"]) == 1


async def test_with_a_key_of_yesterday_nobody_is_made_twice(desk: Desk) -> None:
    once = desk.once()
    made = await desk.adapter.create_account(REQUEST, return_url=BACK, **once)
    await desk.world.advance(24 * 3600 - 299)
    assert (await desk.adapter.create_account(REQUEST, return_url=BACK, **once)).id == made.id
    await desk.world.advance(300)
    with pytest.raises(UnknownOutcome):
        await desk.adapter.create_account(REQUEST, return_url=BACK, **once)
    asked = {id for type, _, id in await desk.events() if type == "USER_ACCOUNT_VALIDATION_ASKED"}
    assert asked == {made.id}
    assert (await desk.adapter.get_account(made.id)).reference == REQUEST.reference


async def test_what_is_closed_is_told(desk: Desk) -> None:
    id = await desk.active()
    nothing = await desk.adapter.get_blocks(id)
    assert (nothing.code, nothing.inflows, nothing.outflows) == ("", False, False)
    await desk.world.control("POST", f"/users/{id}", {"block": {"outflows": True}})
    blocks = await desk.adapter.get_blocks(id)
    assert (blocks.inflows, blocks.outflows) == (False, True)
    assert blocks.code
    assert ("USER_OUTFLOWS_BLOCKED", Subject.ACCOUNT, id) in await desk.events()
    await desk.world.control("POST", f"/users/{id}", {"status": "CLOSED"})
    assert (await desk.adapter.get_account(id)).status is AccountStatus.CLOSED


async def test_somebody_who_is_not_there_is_not_found(desk: Desk) -> None:
    for read in (desk.adapter.get_account, desk.adapter.get_blocks, desk.adapter.list_documents):
        with pytest.raises(NotFound):
            await read("user_m_none")
    assert await desk.adapter.get_enrolment("user_m_none") is None


# ---- bank accounts and wallets


async def test_a_bank_account_becomes_usable_by_authenticating_for_it(desk: Desk) -> None:
    id = await desk.active()
    added = await desk.adapter.add_destination(replace(BANK, account_id=id), return_url=BACK, **desk.once())
    assert added.status is DestinationStatus.PENDING
    await desk.authenticate(added.action)
    now = await desk.adapter.get_destination(added.id)
    assert (now.status, now.action, now.label) == (DestinationStatus.ACTIVE, None, "Main account")
    assert ("RECIPIENT_ACTIVE", Subject.DESTINATION, added.id) in await desk.events()
    assert [each.id for each in await desk.adapter.list_destinations(id)] == [added.id]
    for _ in range(2):
        gone = await desk.adapter.deactivate_destination(added.id)
        assert gone.status is DestinationStatus.DEACTIVATED


@pytest.mark.parametrize("how", ["fail", "wait"])
async def test_a_bank_account_that_nobody_authenticated_for_is_given_up(desk: Desk, how: str) -> None:
    id = await desk.active(kind=LegalKind.INDIVIDUAL)
    person = replace(BANK, account_id=id, holder_is_business=False, first_name="Ana", last_name="Puig")
    added = await desk.adapter.add_destination(person, return_url=BACK, **desk.once())
    if how == "fail":
        await desk.authenticate(added.action, "fail")
    else:
        await desk.world.advance(601)
    assert (await desk.adapter.get_destination(added.id)).status is DestinationStatus.CANCELLED
    assert ("RECIPIENT_CANCELED", Subject.DESTINATION, added.id) in await desk.events()


async def test_a_bank_account_that_there_is_not_is_refused(desk: Desk) -> None:
    id = await desk.active()
    wrong = replace(BANK, account_id=id, iban="FR7630004000031234567890144")
    with pytest.raises(InvalidRequest) as told:
        await desk.adapter.add_destination(wrong, return_url=BACK, **desk.once())
    assert any("IBAN" in name for name in told.value.fields)
    assert await desk.adapter.list_destinations(id) == []


async def test_who_has_not_authenticated_has_no_bank_account(desk: Desk) -> None:
    made = await desk.account()
    with pytest.raises(NotAllowed):
        await desk.adapter.add_destination(replace(BANK, account_id=made.id), return_url=BACK, **desk.once())


async def test_a_balance_is_shown_to_whoever_authenticates_for_it(desk: Desk) -> None:
    id = await desk.active()
    wallet = await desk.adapter.open_wallet(id, "EUR", "Maison Soleil", **desk.once())
    with pytest.raises(ActionRequired) as told:
        await desk.adapter.get_balance(wallet, return_url=BACK)
    await desk.authenticate(told.value.action)
    assert await desk.adapter.get_balance(wallet, return_url=BACK) == MinorAmount("EUR", 0)
    with pytest.raises(NotFound):
        await desk.adapter.get_balance("wlt_m_none", return_url=BACK)


# ---- notifications


async def test_every_type_is_registered_and_comes_back_as_a_hint(desk: Desk) -> None:
    await desk.adapter.ensure_webhooks(HOOKS)
    id = await desk.active()
    document = await handed_in(desk, id, DocumentType.IDENTITY_PROOF)
    check = await desk.adapter.open_identity_check(id, return_url=IDENTITY_BACK, **desk.once())
    bank = await desk.adapter.add_destination(replace(BANK, account_id=id), return_url=BACK, **desk.once())
    await desk.authenticate(bank.action)
    await desk.world.notices()
    hints: list[EventHint] = []
    for url in desk.world._received:
        parts = urlsplit(url)
        hints += desk.adapter.read_webhook(InboundWebhook("GET", parts.path, parts.query))
    assert {(hint.subject, hint.resource_id) for hint in hints} == {
        (Subject.ACCOUNT, id),
        (Subject.DOCUMENT, document),
        (Subject.IDENTITY_CHECK, check.id),
        (Subject.DESTINATION, bank.id),
    }
    assert {(hint.type, hint.subject, hint.resource_id) for hint in hints} == await desk.events()


async def test_somebody_is_told_when_notifications_fail(desk: Desk) -> None:
    adapter = adapter_of(desk.world, alert_email="duty@shop.example")
    await adapter.ensure_webhooks(HOOKS)
    hooks = await desk.world.read("/hooks?per_page=100")
    assert {hook["EventType"] for hook in hooks} == set(EVENT_TYPES)
    assert {hook["Email"] for hook in hooks} == {"duty@shop.example"}
    await adapter.aclose()
