"""Activation while things go wrong: the provider is away, refuses, closes and blocks; processes die; news come in any order."""

import asyncio
import dataclasses
import datetime as dt
from typing import NoReturn

import pytest

from coffret.sandbox.users.sca import ScaOutcome
from resolvers.activation import polling, transitions
from resolvers.activation.activation import LEASE
from resolvers.kyc.capability import capability_of, load_onboarding_rows
from resolvers.onboarding import page as onboarding_page
from schema.activation import ActivationFailureReason, ActivationStatus
from schema.core.errors import Conflict, ProviderFailed, ProviderTimedOut
from schema.kyc.capability import DisabledCapabilityReason, PaymentCapability, RequirementCode
from schema.onboarding import OnboardingDetails, OnboardingField, OnboardingStep
from schema.partner.parts import CompanyType
from store.core.clock import clock
from tests.fixtures.activation import COMPLETE, Newcomer

CREATE = "/sca/users/legal"
COMPLETED, FAILED, PENDING = ActivationStatus.COMPLETED, ActivationStatus.FAILED, ActivationStatus.PENDING_USER_ACTION


class Killed(BaseException):
    """The process dies here."""


async def capability(newcomer: Newcomer) -> PaymentCapability:
    """Whether the partner can be paid, as the API tells it."""
    async with newcomer.services.db.sessions() as db:
        return capability_of(
            (await load_onboarding_rows(db, [newcomer.partner.id]))[newcomer.partner.id], "page", sells=True
        )


async def completed(newcomer: Newcomer) -> None:
    """The partner's payments are active."""
    await newcomer.authenticate((await newcomer.activate()).pending_user_action)
    assert (await newcomer.activate()).status is COMPLETED


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["drop", "truncated", "html", "status"])
async def test_an_answer_that_is_lost_once_makes_no_second_account(newcomer: Newcomer, when: str, kind: str) -> None:
    await newcomer.fault(CREATE, kind=kind, when=when)
    begun = await newcomer.activate()
    assert begun.status is PENDING
    assert len(await newcomer.accounts()) == 1
    assert (await newcomer.activate()).pending_user_action == begun.pending_user_action


async def test_a_provider_that_is_down_leaves_nothing_half_done_and_a_retry_works(newcomer: Newcomer) -> None:
    await newcomer.fault("/oauth/token", kind="status", status=503, times=50)
    with pytest.raises(ProviderFailed):
        await newcomer.activate()
    assert not (await newcomer.now()).payments_active
    await newcomer.control("DELETE", "/faults")
    assert (await newcomer.activate()).status is PENDING
    assert len(await newcomer.accounts()) == 1


async def test_an_outcome_that_stays_unknown_is_taken_up_by_the_next_call_and_by_the_worker(newcomer: Newcomer) -> None:
    await newcomer.fault(CREATE, kind="drop", when="after", times=1)
    await newcomer.fault("/responses/*", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await newcomer.activate()
    (account,) = await newcomer.accounts()
    row = await newcomer.row()
    assert (row.account_id, row.status) == ("", PENDING)
    await newcomer.control("DELETE", "/faults")
    await polling.CHECKS.poll(newcomer.services, row.id)
    assert (await newcomer.row()).account_id == account
    assert (await newcomer.activate()).status is PENDING
    assert await newcomer.accounts() == [account]


async def test_killed_between_answer_and_commit_the_next_call_finds_the_same_account(
    newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object, **__: object) -> NoReturn:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(transitions, "ACCOUNT", dataclasses.replace(transitions.ACCOUNT, record=die))
        with pytest.raises(Killed):
            await newcomer.activate()
    accounts = await newcomer.accounts()
    assert (len(accounts), (await newcomer.row()).account_id) == (1, "")
    begun = await newcomer.activate()
    assert begun.status is PENDING
    assert await newcomer.accounts() == accounts
    assert (await newcomer.now()).provider_user_id == accounts[0]


async def test_a_process_that_died_holds_the_others_up_for_seconds_only(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    await newcomer.execute("UPDATE payment_activation SET busy_until = now() + interval '25 s', account_id = ''")
    await newcomer.change(provider_user_id="")
    waiting = asyncio.create_task(newcomer.activate())
    await asyncio.sleep(0.3)
    assert not waiting.done()
    clock.advance(LEASE)
    assert (await waiting).id == begun.id
    assert len(await newcomer.accounts()) == 1


async def test_killed_before_the_wallet_is_written_down_there_is_one_wallet(
    newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object, **__: object) -> NoReturn:
        raise Killed

    begun = await newcomer.activate()
    await newcomer.authenticate(begun.pending_user_action)
    with monkeypatch.context() as patched:
        patched.setattr(transitions, "WALLET", dataclasses.replace(transitions.WALLET, record=die))
        with pytest.raises(Killed):
            await newcomer.activate()
    assert (await newcomer.row()).status is ActivationStatus.PROCESSING
    assert not (await newcomer.now()).payments_active
    assert await newcomer.events() == []
    clock.advance(dt.timedelta(minutes=1))
    assert (await newcomer.activate()).status is COMPLETED
    assert await newcomer.wallets() == 1


async def test_a_wallet_that_cannot_be_opened_now_is_processing_until_it_can(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    await newcomer.authenticate(begun.pending_user_action)
    await newcomer.fault("/wallets", kind="status", status=503, times=50)
    answer = await newcomer.activate()
    assert (answer.status, answer.pending_user_action) == (ActivationStatus.PROCESSING, None)
    await newcomer.control("DELETE", "/faults")
    await polling.CHECKS.poll(newcomer.services, begun.id)
    assert (await newcomer.activate()).status is COMPLETED


async def test_a_poll_that_cannot_be_answered_tells_what_is_known(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    await newcomer.fault("*", kind="status", status=503, times=50)
    clock.advance(dt.timedelta(seconds=5))
    assert (await newcomer.activate()) == begun


async def test_a_notification_before_the_answer_ends_the_same(newcomer: Newcomer) -> None:
    await newcomer.fault(CREATE, kind="drop", when="after")
    await newcomer.fault("/responses/*", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await newcomer.activate()
    (account,) = await newcomer.accounts()
    await polling.handle_notification(newcomer.services, account)
    assert (await newcomer.row()).account_id == account
    await newcomer.control("DELETE", "/faults")
    begun = await newcomer.activate()
    await newcomer.authenticate(begun.pending_user_action)
    await polling.handle_notification(newcomer.services, account)
    assert (await newcomer.row()).status is COMPLETED
    assert await newcomer.accounts() == [account]


async def test_a_stranger_s_account_is_nobody_s_activation(newcomer: Newcomer) -> None:
    await polling.handle_notification(newcomer.services, "user_unknown")
    assert await newcomer.one("SELECT count(*) FROM payment_activation") == 0


async def test_after_a_day_an_unknown_outcome_is_looked_for_and_never_asked_for_again(newcomer: Newcomer) -> None:
    await newcomer.fault(CREATE, kind="drop", when="after")
    await newcomer.fault("/responses/*", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await newcomer.activate()
    await newcomer.control("DELETE", "/faults")
    (account,) = await newcomer.accounts()
    clock.advance(dt.timedelta(days=2))
    assert (await newcomer.activate()).status is PENDING
    assert await newcomer.accounts() == [account]
    assert (await newcomer.row()).account_id == account


async def test_what_never_arrived_is_not_sent_again_after_a_day(newcomer: Newcomer) -> None:
    await newcomer.fault(CREATE, kind="drop", times=50)
    with pytest.raises(ProviderTimedOut):
        await newcomer.activate()
    await newcomer.control("DELETE", "/faults")
    clock.advance(dt.timedelta(days=2))
    for _ in range(2):
        failed = await newcomer.activate()
        assert failed.status is FAILED
        assert failed.failure is not None
        assert failed.failure.reason is ActivationFailureReason.OUTCOME_UNKNOWN
    assert await newcomer.accounts() == []


async def test_refused_data_fail_with_the_field_and_the_way_out(newcomer: Newcomer) -> None:
    await newcomer.change(agency_email="nowhere")
    failed = await newcomer.activate()
    assert (failed.status, failed.pending_user_action) == (FAILED, None)
    assert failed.failure is not None
    assert failed.failure.reason is ActivationFailureReason.DATA_REFUSED
    assert failed.failure.field == "agencyEmail"
    assert failed.failure.action == "updatePartner"
    assert failed.failure.request_id
    assert await newcomer.accounts() == []
    assert not (await newcomer.now()).payments_active
    needs = (await capability(newcomer)).requirements
    assert (needs[0].code, needs[0].field) == (RequirementCode.DATA_REFUSED, "agencyEmail")
    await newcomer.change(agency_email=COMPLETE["agency_email"])
    assert RequirementCode.DATA_REFUSED not in {need.code for need in (await capability(newcomer)).requirements}
    again = await newcomer.activate()
    assert again.status is PENDING
    assert again.id != failed.id


async def test_data_corrected_before_completion_are_told_to_the_provider(newcomer: Newcomer) -> None:
    first = await newcomer.activate()
    await newcomer.change(name="Chez Grace SARL")
    same = await newcomer.activate()
    assert (await newcomer.user())["Name"] == "Chez Grace SARL"
    assert same.pending_user_action == first.pending_user_action
    await newcomer.change(legal_representative_email="grace@chez-ada.example")
    other = await newcomer.activate()
    assert other.id == first.id
    assert other.pending_user_action != first.pending_user_action
    assert len(await newcomer.accounts()) == 1


async def test_data_corrected_after_completion_are_told_by_a_job(newcomer: Newcomer) -> None:
    await completed(newcomer)
    await newcomer.change(name="Chez Grace SARL", agency_email="nowhere")
    for changed, jobs in ((newcomer.partner, 0), (await newcomer.now(), 1)):
        async with newcomer.services.db.sessions() as db, db.begin():
            await polling.enqueue_partner_update(db, changed)
        assert await newcomer.one("SELECT count(*) FROM pgqueuer WHERE entrypoint = 'watch_activation'") == jobs
    row = await newcomer.row()
    await polling.CHECKS.poll(newcomer.services, row.id)
    assert (await newcomer.activate()).status is COMPLETED
    assert RequirementCode.DATA_REFUSED in {need.code for need in (await capability(newcomer)).requirements}
    await newcomer.change(agency_email=COMPLETE["agency_email"])
    await polling.CHECKS.poll(newcomer.services, row.id)
    assert (await newcomer.user())["Name"] == "Chez Grace SARL"
    assert RequirementCode.DATA_REFUSED not in {need.code for need in (await capability(newcomer)).requirements}


async def test_another_kind_of_company_is_another_account(newcomer: Newcomer) -> None:
    first = await newcomer.activate()
    await newcomer.change(company_type=CompanyType.INDIVIDUAL)
    second = await newcomer.activate()
    assert second.id != first.id
    assert second.status is PENDING
    assert len(await newcomer.accounts()) == 2
    await newcomer.authenticate(second.pending_user_action)
    assert (await newcomer.activate()).status is COMPLETED
    assert (await newcomer.now()).provider_user_id == (await newcomer.accounts())[1]


async def test_another_kind_with_something_missing_is_told_once(newcomer: Newcomer) -> None:
    await newcomer.fault("/oauth/token", kind="status", status=503, times=50)
    with pytest.raises(ProviderFailed):
        await newcomer.activate()
    await newcomer.control("DELETE", "/faults")
    await newcomer.change(company_type=CompanyType.INDIVIDUAL, hq_city="")
    second = await newcomer.activate()
    assert (await newcomer.activate()) == second
    await newcomer.change(hq_city="Paris")
    assert (await newcomer.activate()).id == second.id
    assert len(await newcomer.accounts()) == 1


async def test_an_address_that_the_provider_refuses_opens_no_session_for_another(newcomer: Newcomer) -> None:
    await completed(newcomer)
    await newcomer.change(legal_representative_email="nowhere")
    with pytest.raises(Conflict):
        await onboarding_page.open_authentication(newcomer.representative)
    page = await onboarding_page.onboarding(newcomer.representative)
    assert (page.step, page.refused_field) == (OnboardingStep.DETAILS, OnboardingField.LEGAL_REPRESENTATIVE_EMAIL)
    assert (await newcomer.user())["LegalRepresentative"]["Email"] == COMPLETE["legal_representative_email"]
    assert await newcomer.sessions() == 1
    details = OnboardingDetails(legal_representative_email="grace@chez-ada.example")
    saved = await onboarding_page.complete_onboarding(newcomer.representative, details)
    assert saved.step is OnboardingStep.AUTHENTICATION
    clock.advance(dt.timedelta(seconds=2))
    await newcomer.authenticate((await onboarding_page.open_authentication(newcomer.representative)).url)
    assert (await onboarding_page.onboarding_return(newcomer.representative)).step is OnboardingStep.COMPLETED


async def test_a_blocked_account_is_not_activated(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    await newcomer.authenticate(begun.pending_user_action)
    await newcomer.block(inflows=True)
    failed = await newcomer.activate()
    assert failed.failure is not None
    assert failed.failure.reason is ActivationFailureReason.ACCOUNT_BLOCKED
    assert not (await newcomer.now()).payments_active
    assert await newcomer.wallets() == 0
    assert (await capability(newcomer)).disabled_reason is DisabledCapabilityReason.BLOCKED


async def test_a_block_afterwards_stops_payments_until_it_is_lifted(newcomer: Newcomer) -> None:
    await completed(newcomer)
    (account,) = await newcomer.accounts()
    await newcomer.block(inflows=True, outflows=True)
    await polling.handle_notification(newcomer.services, account)
    assert not (await newcomer.now()).payments_active
    told = await capability(newcomer)
    assert told.disabled_reason is DisabledCapabilityReason.BLOCKED
    codes = {need.code for need in told.requirements}
    assert {RequirementCode.INFLOWS_BLOCKED, RequirementCode.OUTFLOWS_BLOCKED} <= codes
    await newcomer.block()
    await polling.handle_notification(newcomer.services, account)
    assert (await newcomer.now()).payments_active
    assert await newcomer.events() == ["partner.payments_activated"]


async def test_an_account_that_is_closed_takes_no_payments_any_more(newcomer: Newcomer) -> None:
    await completed(newcomer)
    await newcomer.close_user()
    (account,) = await newcomer.accounts()
    await polling.handle_notification(newcomer.services, account)
    partner = await newcomer.now()
    assert (partner.payments_active, partner.provider_user_id, partner.provider_wallet_id) == (False, "", "")
    assert (await capability(newcomer)).disabled_reason is DisabledCapabilityReason.CLOSED
    told = await newcomer.activate()
    assert told.failure is not None
    assert told.failure.reason is ActivationFailureReason.ACCOUNT_CLOSED
    await newcomer.change(legal_representative_email=COMPLETE["legal_representative_email"])
    again = await newcomer.activate()
    assert again.id != told.id
    await newcomer.authenticate(again.pending_user_action)
    assert (await newcomer.activate()).status is COMPLETED
    assert len(await newcomer.accounts()) == 2


async def test_a_failure_that_comes_after_the_success_changes_nothing(newcomer: Newcomer) -> None:
    first = await newcomer.activate()
    clock.advance(dt.timedelta(minutes=10))
    second = await newcomer.activate()
    await newcomer.authenticate(second.pending_user_action)
    await newcomer.authenticate(first.pending_user_action, ScaOutcome.FAILED)
    (account,) = await newcomer.accounts()
    await polling.handle_notification(newcomer.services, account)
    assert (await newcomer.row()).status is COMPLETED
    assert await newcomer.events() == ["partner.payments_activated"]
