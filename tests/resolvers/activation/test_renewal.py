"""What becomes of a partner that is paid when its representative changes: who has to authenticate anew, and who has done so."""

import datetime as dt

import pytest

from resolvers.activation import polling, transitions
from resolvers.kyc.capability import capability_of, load_onboarding_rows
from resolvers.onboarding import page
from schema.activation import ActivationStatus
from schema.core.errors import Conflict
from schema.kyc.capability import RequirementCode
from schema.onboarding import OnboardingStep
from store.activation.account_requests import account_digest
from store.core.clock import clock
from store.providers.errors import InvalidRequest
from tests.fixtures.activation import COMPLETE, Newcomer

ADA, GRACE = COMPLETE["legal_representative_email"], "grace@chez-ada.example"
AUTHENTICATION = {RequirementCode.AUTHENTICATION, RequirementCode.REPRESENTATIVE_CHANGED}


async def needs(newcomer: Newcomer) -> set[RequirementCode]:
    """What is needed of the partner."""
    async with newcomer.services.db.sessions() as db:
        stands = (await load_onboarding_rows(db, [newcomer.partner.id]))[newcomer.partner.id]
    return {need.code for need in capability_of(stands, "page", sells=True).requirements}


async def step(newcomer: Newcomer) -> OnboardingStep:
    """What the page shows."""
    return (await page.onboarding(newcomer.representative)).step


@pytest.fixture
async def paid(newcomer: Newcomer) -> Newcomer:
    """The partner, whose payments are active since a moment ago."""
    await newcomer.authenticate((await newcomer.activate()).pending_user_action)
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED
    clock.advance(dt.timedelta(seconds=5))
    return newcomer


async def look(newcomer: Newcomer) -> None:
    """The worker looks at the activation."""
    await polling.CHECKS.poll(newcomer.services, (await newcomer.row()).id)


async def test_a_new_representative_of_whom_nothing_is_asked_is_done_at_once(paid: Newcomer) -> None:
    await paid.change(legal_representative_email="accept@chez-ada.example")
    with pytest.raises(Conflict):  # there is nowhere to go
        await page.open_authentication(paid.representative)
    assert await step(paid) is OnboardingStep.COMPLETED
    assert not await needs(paid) & AUTHENTICATION
    assert (await paid.now()).payments_active


async def test_a_pending_representative_of_whom_nothing_is_asked_any_more_completes(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    clock.advance(dt.timedelta(minutes=11))
    await newcomer.change(legal_representative_email="accept@chez-ada.example")
    done = await newcomer.activate()
    assert (done.id, done.status) == (begun.id, ActivationStatus.COMPLETED)
    assert await newcomer.events() == ["partner.payments_activated"]


async def test_an_address_that_was_changed_and_changed_back_asks_for_the_same_person_again(paid: Newcomer) -> None:
    for email in (GRACE, ADA):
        await paid.change(legal_representative_email=email)
        await look(paid)
    assert (await paid.user())["UserStatus"] == "PENDING_USER_ACTION"
    assert await needs(paid) & AUTHENTICATION == {RequirementCode.AUTHENTICATION}
    assert (await paid.now()).payments_active
    assert await step(paid) is OnboardingStep.AUTHENTICATION
    await paid.authenticate((await page.open_authentication(paid.representative)).url)
    assert (await page.onboarding_return(paid.representative)).step is OnboardingStep.COMPLETED
    assert not await needs(paid) & AUTHENTICATION
    assert await paid.events() == ["partner.payments_activated"]


async def test_an_enrolment_that_was_told_late_is_not_that_of_the_next_representative(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    await newcomer.authenticate(begun.pending_user_action)
    (told,) = await newcomer.at_provider(lambda session: session.row("SELECT enrolled_at FROM enrolment"))
    await newcomer.at_provider(lambda session: session.change("UPDATE enrolment SET enrolled_at = NULL"))
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED
    await newcomer.at_provider(lambda session: session.change("UPDATE enrolment SET enrolled_at = ?", told))
    await newcomer.change(legal_representative_email=GRACE)
    clock.advance(dt.timedelta(seconds=2))
    await page.open_authentication(newcomer.representative)
    assert (await page.onboarding_return(newcomer.representative)).step is OnboardingStep.AUTHENTICATION


async def test_news_that_are_overtaken_are_put_right_soon(paid: Newcomer) -> None:
    await paid.execute("UPDATE payment_activation SET enrolled_email = ''")
    assert await needs(paid) & AUTHENTICATION == {RequirementCode.AUTHENTICATION}
    await look(paid)
    assert not await needs(paid) & AUTHENTICATION


async def test_a_button_that_could_open_nothing_is_not_shown(paid: Newcomer) -> None:
    """The provider refuses what only the platform can correct, so that it is told of no new representative either."""
    await paid.change(legal_representative_email=GRACE)
    refused = InvalidRequest("Refused.", {"HeadquartersAddress.AddressLine2": "It is refused."})
    row, told = await paid.row(), account_digest(await paid.now())
    await transitions.record_refusal(paid.services, row.id, refused, reported_digest=told)
    assert await step(paid) is OnboardingStep.COMPLETED
    assert await needs(paid) >= {RequirementCode.DATA_REFUSED, RequirementCode.REPRESENTATIVE_CHANGED}
