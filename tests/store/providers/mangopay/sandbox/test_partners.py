"""A partner's way through the adapter and the sandbox together: account, authentication, bank account, wallet."""

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from store.providers.accounts import AccountStatus, DestinationStatus, DocumentType, KycLevel, LegalKind
from store.providers.base import EventHint, InboundWebhook, Subject
from store.providers.errors import ActionRequired, InvalidRequest, ProviderNotFound, UnknownOutcome
from store.providers.mangopay.hooks import EVENT_TYPES
from store.providers.money import MinorAmount
from tests.store.providers.mangopay.connected_provider import (
    HOOKS,
    IDENTITY_BACK,
    TEN_MINUTES,
    ConnectedProvider,
    adapter_of,
)
from tests.store.providers.mangopay.payees.people import ADDRESS, BACK, BANK, REQUEST
from tests.store.providers.mangopay.sandbox.test_identity import handed_in

# ---- accounts


@pytest.mark.parametrize("kind", list(LegalKind))
async def test_everybody_becomes_active_by_authenticating(provider: ConnectedProvider, kind: LegalKind) -> None:
    made = await provider.account(kind=kind)
    assert (made.status, made.kyc_level) == (AccountStatus.ACTION_REQUIRED, KycLevel.LIGHT)
    assert (made.representative_email, made.reference) == ("ana@example.com", "partner-7")
    assert made.action
    assert made.action.expires_at
    assert made.action.expires_at - provider.api.clock.now() <= TEN_MINUTES
    before = await provider.adapter.get_enrolment(made.id)
    assert before
    assert (before.enrolled, before.last_on) == (False, None)
    await provider.authenticate(made.action)
    now = await provider.adapter.get_account(made.id)
    assert (now.status, now.action) == (AccountStatus.ACTIVE, None)
    enrolment = await provider.adapter.get_enrolment(made.id)
    assert enrolment
    assert enrolment.enrolled
    assert enrolment.last_on
    assert not await provider.adapter.enrolment_failed(made.id, provider.api.clock.now() - TEN_MINUTES)


async def test_a_link_works_for_ten_minutes_and_a_new_one_for_ten_more(provider: ConnectedProvider) -> None:
    made = await provider.account()
    await provider.api.advance(601)
    assert (await provider.adapter.get_account(made.id)).status is AccountStatus.ACTION_REQUIRED
    again = await provider.adapter.open_enrolment(made.id, return_url=BACK, **provider.once())
    assert again
    assert again.url != (made.action.url if made.action else "")
    await provider.api.advance(598)
    await provider.authenticate(again)
    assert (await provider.adapter.get_account(made.id)).status is AccountStatus.ACTIVE
    assert ("SCA_ENROLLMENT_EXPIRED", Subject.ACCOUNT, made.id) in await provider.events()


async def test_a_failed_authentication_is_heard_of_and_a_later_one_works(provider: ConnectedProvider) -> None:
    made, other = await provider.account(), await provider.account()
    opened = provider.api.clock.now()
    await provider.api.advance(5)
    await provider.authenticate(made.action, "fail")
    assert await provider.adapter.enrolment_failed(made.id, opened)
    assert not await provider.adapter.enrolment_failed(other.id, opened)
    await provider.api.advance(5)
    reopened = provider.api.clock.now()
    action = await provider.adapter.open_enrolment(made.id, return_url=BACK, **provider.once())
    assert not await provider.adapter.enrolment_failed(made.id, reopened)
    await provider.authenticate(action)
    assert (await provider.adapter.get_account(made.id)).status is AccountStatus.ACTIVE


async def test_what_is_missing_is_named(provider: ConnectedProvider) -> None:
    with pytest.raises(InvalidRequest) as told:
        await provider.account(company_number="")
    assert "CompanyNumber" in told.value.fields
    american = replace(ADDRESS, country="US")
    with pytest.raises(InvalidRequest) as told:
        await provider.account(headquarters=american)
    assert any("Region" in name for name in told.value.fields)
    assert await provider.events() == set()


async def test_what_has_changed_is_told(provider: ConnectedProvider) -> None:
    for kind in (LegalKind.SOLE_TRADER, LegalKind.INDIVIDUAL):
        id = await provider.active(kind=kind)
        person = replace(REQUEST.representative, email="new@example.com", last_name="Vidal")
        changed = replace(REQUEST, kind=kind, representative=person, name="Maison Lune")
        assert (await provider.adapter.update_account(id, changed)).representative_email == "new@example.com"
        now = await provider.adapter.get_account(id)
        assert (now.representative_email, now.reference) == ("new@example.com", "partner-7")


async def test_somebody_whose_answer_was_lost_is_one(provider: ConnectedProvider) -> None:
    for when in ("before", "after"):
        fault = {"method": "POST", "path": "/sca/users/legal", "when": when, "kind": "drop", "times": 1}
        await provider.api.control("POST", "/faults", fault)
        once = provider.once()
        made = await provider.adapter.create_account(REQUEST, return_url=BACK, **once)
        again = await provider.adapter.create_account(REQUEST, return_url=BACK, **once)
        assert (again.id, again.action and again.action.url) == (made.id, made.action and made.action.url)
        await provider.authenticate(again.action)
        active = await provider.adapter.create_account(REQUEST, return_url=BACK, **once)
        assert (active.id, active.status, active.action) == (made.id, AccountStatus.ACTIVE, None)
    assert len({id for type, _, id in await provider.events() if type == "USER_ACCOUNT_VALIDATION_ASKED"}) == 2


async def test_twenty_at_once_with_one_key_make_one_account_and_one_link(provider: ConnectedProvider) -> None:
    once = provider.once()
    makes = (provider.adapter.create_account(REQUEST, return_url=BACK, **once) for _ in range(20))
    made = await asyncio.gather(*makes)
    assert len({(each.id, each.action and each.action.url) for each in made}) == 1
    assert len([type for type, _, _ in await provider.events() if type == "USER_ACCOUNT_VALIDATION_ASKED"]) == 1


async def test_with_a_key_of_yesterday_nobody_is_made_twice(provider: ConnectedProvider) -> None:
    once = provider.once()
    made = await provider.adapter.create_account(REQUEST, return_url=BACK, **once)
    await provider.api.advance(24 * 3600 - 299)
    assert (await provider.adapter.create_account(REQUEST, return_url=BACK, **once)).id == made.id
    await provider.api.advance(300)
    with pytest.raises(UnknownOutcome):
        await provider.adapter.create_account(REQUEST, return_url=BACK, **once)
    asked = {id for type, _, id in await provider.events() if type == "USER_ACCOUNT_VALIDATION_ASKED"}
    assert asked == {made.id}
    assert (await provider.adapter.get_account(made.id)).reference == REQUEST.reference


async def test_what_is_closed_is_told(provider: ConnectedProvider) -> None:
    id = await provider.active()
    nothing = await provider.adapter.get_blocks(id)
    assert (nothing.code, nothing.inflows, nothing.outflows) == ("", False, False)
    await provider.api.control("POST", f"/users/{id}", {"block": {"outflows": True}})
    blocks = await provider.adapter.get_blocks(id)
    assert (blocks.inflows, blocks.outflows) == (False, True)
    assert blocks.code
    assert ("USER_OUTFLOWS_BLOCKED", Subject.ACCOUNT, id) in await provider.events()
    await provider.api.control("POST", f"/users/{id}", {"status": "CLOSED"})
    assert (await provider.adapter.get_account(id)).status is AccountStatus.CLOSED


async def test_somebody_who_is_not_there_is_not_found(provider: ConnectedProvider) -> None:
    for read in (provider.adapter.get_account, provider.adapter.get_blocks, provider.adapter.list_documents):
        with pytest.raises(ProviderNotFound):
            await read("user_m_none")
    assert await provider.adapter.get_enrolment("user_m_none") is None


# ---- bank accounts and wallets


async def test_a_bank_account_becomes_usable_by_authenticating_for_it(provider: ConnectedProvider) -> None:
    id = await provider.active()
    added = await provider.adapter.add_destination(replace(BANK, account_id=id), return_url=BACK, **provider.once())
    assert added.status is DestinationStatus.PENDING
    await provider.authenticate(added.action)
    now = await provider.adapter.get_destination(added.id)
    assert (now.status, now.action, now.label) == (DestinationStatus.ACTIVE, None, "Main account")
    assert ("RECIPIENT_ACTIVE", Subject.DESTINATION, added.id) in await provider.events()
    assert [each.id for each in await provider.adapter.list_destinations(id)] == [added.id]
    for _ in range(2):
        gone = await provider.adapter.deactivate_destination(added.id)
        assert gone.status is DestinationStatus.DEACTIVATED


@pytest.mark.parametrize("how", ["fail", "wait"])
async def test_a_bank_account_that_nobody_authenticated_for_is_given_up(provider: ConnectedProvider, how: str) -> None:
    id = await provider.active(kind=LegalKind.INDIVIDUAL)
    person = replace(BANK, account_id=id, holder_is_business=False, first_name="Ana", last_name="Puig")
    added = await provider.adapter.add_destination(person, return_url=BACK, **provider.once())
    if how == "fail":
        await provider.authenticate(added.action, "fail")
    else:
        await provider.api.advance(601)
    assert (await provider.adapter.get_destination(added.id)).status is DestinationStatus.CANCELLED
    assert ("RECIPIENT_CANCELED", Subject.DESTINATION, added.id) in await provider.events()


async def test_a_bank_account_that_there_is_not_is_refused(provider: ConnectedProvider) -> None:
    id = await provider.active()
    wrong = replace(BANK, account_id=id, iban="FR7630004000031234567890144")
    with pytest.raises(InvalidRequest) as told:
        await provider.adapter.add_destination(wrong, return_url=BACK, **provider.once())
    assert any("IBAN" in name for name in told.value.fields)
    assert await provider.adapter.list_destinations(id) == []


async def test_who_has_not_authenticated_does_so_for_a_bank_account(provider: ConnectedProvider) -> None:
    made = await provider.account()
    bank = replace(BANK, account_id=made.id)
    destination = await provider.adapter.add_destination(bank, return_url=BACK, **provider.once())
    assert destination.action is not None


async def test_a_balance_is_shown_to_whoever_authenticates_for_it(provider: ConnectedProvider) -> None:
    id = await provider.active()
    wallet = await provider.adapter.open_wallet(id, "EUR", "Maison Soleil", **provider.once())
    with pytest.raises(ActionRequired) as told:
        await provider.adapter.get_balance(wallet, return_url=BACK)
    await provider.authenticate(told.value.action)
    assert await provider.adapter.get_balance(wallet, return_url=BACK) == MinorAmount("EUR", 0)
    with pytest.raises(ProviderNotFound):
        await provider.adapter.get_balance("wlt_m_none", return_url=BACK)


# ---- notifications


async def test_every_type_is_registered_and_comes_back_as_a_hint(provider: ConnectedProvider) -> None:
    await provider.adapter.ensure_webhooks(HOOKS)
    id = await provider.active()
    document = await handed_in(provider, id, DocumentType.IDENTITY_PROOF)
    check = await provider.adapter.open_identity_check(id, return_url=IDENTITY_BACK, **provider.once())
    bank = await provider.adapter.add_destination(replace(BANK, account_id=id), return_url=BACK, **provider.once())
    await provider.authenticate(bank.action)
    await provider.api.notices()
    hints: list[EventHint] = []
    for url in provider.api.received:
        parts = urlsplit(url)
        hints += provider.adapter.read_webhook(InboundWebhook("GET", parts.path, parts.query))
    assert {(hint.subject, hint.resource_id) for hint in hints} == {
        (Subject.ACCOUNT, id),
        (Subject.DOCUMENT, document),
        (Subject.IDENTITY_CHECK, check.id),
        (Subject.DESTINATION, bank.id),
    }
    assert {(hint.type, hint.subject, hint.resource_id) for hint in hints} == await provider.events()


async def test_somebody_is_told_when_notifications_fail(provider: ConnectedProvider) -> None:
    adapter = adapter_of(provider.api, alert_email="duty@shop.example")
    await adapter.ensure_webhooks(HOOKS)
    hooks = await provider.api.read("/hooks?per_page=100")
    assert {hook["EventType"] for hook in hooks} == set(EVENT_TYPES)
    assert {hook["Email"] for hook in hooks} == {"duty@shop.example"}
    await adapter.aclose()
