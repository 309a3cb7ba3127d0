"""The onboarding page's operations: what it asks for, what it saves, where its button leads, and the link to it."""

import datetime as dt
from dataclasses import replace

import pytest
from sqlalchemy import text

from coffret.sandbox.users.sca import ScaOutcome
from resolvers.activation.activation import activate_payments
from resolvers.core.context import Context
from resolvers.onboarding import page as onboarding_page
from schema.activation import ActivatePayments, ActivationFailureReason, ActivationStatus
from schema.core.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    OnlyInSandbox,
    ProviderTimedOut,
    RepresentativeUnknown,
)
from schema.kyc.capability import RequirementCode
from schema.onboarding import OnboardingDetails, OnboardingField, OnboardingStep, SendOnboardingLink
from schema.partner.partner import PartnerStatus
from store.core.clock import clock
from store.core.settings.provider import ProviderName
from store.onboarding.links import onboarding_path_for, onboarding_url_for
from tests.fixtures.activation import COMPLETE, Newcomer

DETAILS = OnboardingDetails(
    company_type="bus",
    name="Chez Ada SARL",
    siret_number="732 829 320 00074",
    legal_representative_first_name=" Ada ",
    legal_representative_last_name="Martin",
    legal_representative_birthday="1980-04-05",
    legal_representative_nationality="FR",
    legal_representative_country_of_residence="FR",
    hq_address_line_1="1 rue des Lilas",
    hq_postal_code="75011",
    hq_city="Paris",
    hq_country="FR",
)
EMPTY = {name: "" for name, value in COMPLETE.items() if isinstance(value, str)} | {
    "company_type": None,
    "legal_representative_birthday": None,
    "legal_representative_email": COMPLETE["legal_representative_email"],
    "agency_email": COMPLETE["agency_email"],
}
"""What a partner has that was made with the fewest fields."""


async def partner_row(newcomer: Newcomer) -> list[tuple[object, ...]]:
    """All that is kept of partners."""
    return [tuple(row) for row in await newcomer.services.db.rows(text("SELECT * FROM partner"))]


async def token(newcomer: Newcomer) -> str:
    """The token of the link that is good now."""
    return onboarding_path_for(newcomer.services.settings, await newcomer.now()).split("/")[2]


async def test_a_link_opens_the_page_of_its_partner_until_the_address_changes(newcomer: Newcomer) -> None:
    good = await token(newcomer)
    caller = await onboarding_page.representative_of(newcomer.services, good)
    assert caller.partner_id == newcomer.partner.id
    await newcomer.change(legal_representative_email="ADA@chez-ada.example ")
    await onboarding_page.representative_of(newcomer.services, good)
    await newcomer.change(legal_representative_email="eve@chez-ada.example")
    for dead in (good, good[:-1], good + "x", "", "a.b", "WyIiLDFd.x"):
        with pytest.raises(NotFound):
            await onboarding_page.representative_of(newcomer.services, dead)
    await onboarding_page.representative_of(newcomer.services, await token(newcomer))


async def test_a_representative_may_do_nothing_else(newcomer: Newcomer) -> None:
    with pytest.raises(Forbidden):
        await activate_payments(newcomer.representative, ActivatePayments(partner_uuid=newcomer.partner.uuid))
    with pytest.raises(Forbidden):
        await onboarding_page.onboarding(newcomer.manager)
    assert await newcomer.calls() == 0


async def test_what_is_missing_is_asked_for_once_and_nothing_known_is_shown(newcomer: Newcomer) -> None:
    await newcomer.change(**EMPTY)
    page = await onboarding_page.onboarding(newcomer.representative)
    assert page.step is OnboardingStep.DETAILS
    assert set(page.asked_fields) == set(OnboardingField) - {"legal_representative_email", "agency_email"}
    assert page.needs_company_number is None
    assert COMPLETE["legal_representative_email"] not in repr(page)
    done = await onboarding_page.complete_onboarding(newcomer.representative, DETAILS)
    assert (done.step, done.asked_fields) == (OnboardingStep.AUTHENTICATION, ())
    partner = await newcomer.now()
    assert {name: getattr(partner, name) for name in COMPLETE} == {**COMPLETE, "hq_country": "FR"}
    with pytest.raises(Conflict):
        await onboarding_page.complete_onboarding(newcomer.representative, replace(DETAILS, name="Eve"))
    assert (await newcomer.now()).name == COMPLETE["name"]
    assert await newcomer.calls() == 0


async def test_what_is_known_cannot_be_changed_there(newcomer: Newcomer) -> None:
    await newcomer.change(hq_city="")
    assert (await onboarding_page.onboarding(newcomer.representative)).asked_fields == (OnboardingField.HQ_CITY,)
    await onboarding_page.complete_onboarding(
        newcomer.representative, replace(DETAILS, hq_city="Lyon", name="Eve", legal_representative_email="e@ve.example")
    )
    partner = await newcomer.now()
    assert (partner.hq_city, partner.name) == ("Lyon", COMPLETE["name"])
    assert partner.legal_representative_email == COMPLETE["legal_representative_email"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("company_type", ""),
        ("company_type", "shop"),
        ("name", ""),
        ("name", "x" * 121),
        ("siret_number", ""),
        ("siret_number", "73282932000075"),
        ("legal_representative_first_name", "  "),
        ("legal_representative_birthday", "1980-02-30"),
        ("legal_representative_birthday", "2020-01-01"),
        ("legal_representative_nationality", "France-ish"),
        ("legal_representative_country_of_residence", ""),
        ("hq_address_line_1", ""),
        ("hq_postal_code", "x" * 21),
        ("hq_country", "Atlantis"),
    ],
)
async def test_what_cannot_be_is_refused_at_its_field_and_nothing_is_saved(
    newcomer: Newcomer, field: str, value: str
) -> None:
    await newcomer.change(**EMPTY)
    before = await partner_row(newcomer)
    with pytest.raises(InvalidInput) as refused:
        await onboarding_page.complete_onboarding(newcomer.representative, replace(DETAILS, **{field: value}))
    assert {problem.path for problem in refused.value.problems} == {(field,)}
    assert await partner_row(newcomer) == before


async def test_an_association_needs_no_company_number_and_a_person_no_company(newcomer: Newcomer) -> None:
    await newcomer.change(**EMPTY)
    person = replace(DETAILS, company_type="ind", name="", siret_number="")
    done = await onboarding_page.complete_onboarding(newcomer.representative, person)
    assert done.step is OnboardingStep.AUTHENTICATION
    assert done.needs_company_number is False


async def test_a_region_is_asked_for_where_addresses_have_one(newcomer: Newcomer) -> None:
    await newcomer.change(hq_country="", hq_country_code="", siret_number="")
    page = await onboarding_page.onboarding(newcomer.representative)
    assert {OnboardingField.HQ_REGION, OnboardingField.HQ_COUNTRY} <= set(page.asked_fields)
    before = await partner_row(newcomer)
    with pytest.raises(InvalidInput) as refused:
        await onboarding_page.complete_onboarding(newcomer.representative, replace(DETAILS, hq_country="United States"))
    assert {problem.path for problem in refused.value.problems} == {("hq_region",)}
    assert await partner_row(newcomer) == before
    american = replace(DETAILS, hq_country="US", hq_region="Illinois", siret_number="12-3456789")
    await onboarding_page.complete_onboarding(newcomer.representative, american)
    opened = await onboarding_page.open_authentication(newcomer.representative)
    assert (await newcomer.user())["HeadquartersAddress"]["Region"] == "Illinois"
    await newcomer.authenticate(opened.url)
    assert (await onboarding_page.onboarding_return(newcomer.representative)).step is OnboardingStep.COMPLETED


@pytest.mark.parametrize("country", ["US", "CA", "MX"])
async def test_a_region_that_is_missing_is_told_and_asked_for_alone(newcomer: Newcomer, country: str) -> None:
    await newcomer.change(hq_country=country, hq_country_code=country, siret_number="123456789")
    page = await onboarding_page.onboarding(newcomer.representative)
    assert page.asked_fields == (OnboardingField.HQ_REGION,)
    needs = {(need.code, need.field) for need in page.requirements}
    assert (RequirementCode.MISSING_DATA, "headOffice.region") in needs
    assert "/onboarding/" in str((await newcomer.activate()).pending_user_action)
    assert await newcomer.calls() == 0


async def test_only_the_button_opens_a_session(newcomer: Newcomer) -> None:
    for _ in range(3):
        page = await onboarding_page.onboarding(newcomer.representative)
        assert (page.step, page.status) == (OnboardingStep.AUTHENTICATION, None)
    assert await newcomer.calls() == 0
    first = await onboarding_page.open_authentication(newcomer.representative)
    assert "token=" in first.url
    assert dt.timedelta(minutes=9) < first.expires_at - clock.now() <= dt.timedelta(minutes=10)
    assert (await onboarding_page.open_authentication(newcomer.representative)).url == first.url
    assert (await newcomer.activate()).pending_user_action == first.url
    clock.advance(dt.timedelta(minutes=10))
    assert (await onboarding_page.open_authentication(newcomer.representative)).url != first.url


async def test_coming_back_asks_the_provider_and_the_page_says_how_it_went(newcomer: Newcomer) -> None:
    await onboarding_page.onboarding_return(newcomer.representative)
    assert await newcomer.calls() == 0
    opened = await onboarding_page.open_authentication(newcomer.representative)
    assert (await onboarding_page.onboarding_return(newcomer.representative)).step is OnboardingStep.AUTHENTICATION
    await newcomer.authenticate(opened.url)
    done = await onboarding_page.onboarding_return(newcomer.representative)
    assert (done.step, done.status) == (OnboardingStep.COMPLETED, ActivationStatus.COMPLETED)
    assert (await onboarding_page.onboarding_return(newcomer.representative)).step is OnboardingStep.COMPLETED
    assert await newcomer.events() == ["partner.payments_activated"]
    with pytest.raises(Conflict):
        await onboarding_page.open_authentication(newcomer.representative)


async def test_a_provider_that_is_down_leaves_the_page_and_the_button_tells(newcomer: Newcomer) -> None:
    await newcomer.fault("/sca/users/legal", kind="status", status=503, times=20)
    with pytest.raises(ProviderTimedOut):
        await onboarding_page.open_authentication(newcomer.representative)
    assert (await onboarding_page.onboarding(newcomer.representative)).step is OnboardingStep.AUTHENTICATION
    await newcomer.control("DELETE", "/faults")
    opened = await onboarding_page.open_authentication(newcomer.representative)
    await newcomer.authenticate(opened.url)
    await newcomer.fault("*", kind="status", status=503, times=20)
    assert (await onboarding_page.onboarding_return(newcomer.representative)).step is OnboardingStep.AUTHENTICATION
    await newcomer.control("DELETE", "/faults")
    assert (await onboarding_page.onboarding_return(newcomer.representative)).step is OnboardingStep.COMPLETED


async def test_after_a_failed_session_the_button_begins_anew_at_once(newcomer: Newcomer) -> None:
    opened = await onboarding_page.open_authentication(newcomer.representative)
    await newcomer.authenticate(opened.url, ScaOutcome.FAILED)
    back = await onboarding_page.onboarding_return(newcomer.representative)
    assert (back.step, back.status) == (OnboardingStep.AUTHENTICATION, ActivationStatus.FAILED)
    assert back.failure is not None
    assert back.failure.reason is ActivationFailureReason.NOT_AUTHENTICATED
    clock.advance(dt.timedelta(seconds=2))
    again = await onboarding_page.open_authentication(newcomer.representative)
    await newcomer.authenticate(again.url)
    assert (await onboarding_page.onboarding_return(newcomer.representative)).step is OnboardingStep.COMPLETED
    assert len(await newcomer.accounts()) == 1


async def test_another_representative_confirms_after_completion_and_payments_go_on(newcomer: Newcomer) -> None:
    await newcomer.authenticate((await newcomer.activate()).pending_user_action)
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED
    await newcomer.change(legal_representative_email="grace@chez-ada.example")
    page = await onboarding_page.onboarding(newcomer.representative)
    assert page.step is OnboardingStep.AUTHENTICATION
    assert RequirementCode.REPRESENTATIVE_CHANGED in {need.code for need in page.requirements}
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED
    clock.advance(dt.timedelta(seconds=2))
    opened = await onboarding_page.open_authentication(newcomer.representative)
    assert (await newcomer.user())["LegalRepresentative"]["Email"] == "grace@chez-ada.example"
    assert (await newcomer.now()).payments_active
    still = await onboarding_page.onboarding_return(newcomer.representative)
    assert still.step is OnboardingStep.AUTHENTICATION
    await newcomer.authenticate(opened.url)
    done = await onboarding_page.onboarding_return(newcomer.representative)
    assert done.step is OnboardingStep.COMPLETED
    assert RequirementCode.REPRESENTATIVE_CHANGED not in {need.code for need in done.requirements}
    assert await newcomer.events() == ["partner.payments_activated"]


async def test_the_link_is_written_to_the_representative(newcomer: Newcomer) -> None:
    input = SendOnboardingLink(partner_uuid=newcomer.partner.uuid, language="fr")
    sent = await onboarding_page.send_onboarding_link(newcomer.manager, input)
    assert sent.recipient == COMPLETE["legal_representative_email"]
    assert sent.url == onboarding_url_for(newcomer.services.settings, await newcomer.now())
    kept = "SELECT kind || ' ' || recipient || ' ' || language FROM mail"
    assert await newcomer.one(kept) == "onboarding_link ada@chez-ada.example fr"
    await onboarding_page.send_onboarding_link(newcomer.manager, SendOnboardingLink(partner_uuid=newcomer.partner.uuid))
    assert await newcomer.one("SELECT count(*) FROM mail") == 2
    assert await newcomer.calls() == 0


async def test_a_link_that_cannot_be_written_is_refused(newcomer: Newcomer) -> None:
    uuid = newcomer.partner.uuid
    with pytest.raises(InvalidInput):
        await onboarding_page.send_onboarding_link(
            newcomer.manager, SendOnboardingLink(partner_uuid=uuid, language="xx")
        )
    newcomer.services.settings.provider = ProviderName.MANGOPAY
    await newcomer.change(status=PartnerStatus.TEST)
    with pytest.raises(OnlyInSandbox):
        await onboarding_page.send_onboarding_link(newcomer.manager, SendOnboardingLink(partner_uuid=uuid))
    await newcomer.change(legal_representative_email="", status=PartnerStatus.ACTIVE)
    with pytest.raises(RepresentativeUnknown):
        await onboarding_page.send_onboarding_link(newcomer.manager, SendOnboardingLink(partner_uuid=uuid))
    await newcomer.change(legal_representative_email="ada@chez-ada.example")
    with pytest.raises(Forbidden):
        await onboarding_page.send_onboarding_link(newcomer.representative, SendOnboardingLink(partner_uuid=uuid))
    stranger = Context(newcomer.services, replace(newcomer.manager.required_caller, marketplace_id=-1))
    with pytest.raises(NotFound):
        await onboarding_page.send_onboarding_link(stranger, SendOnboardingLink(partner_uuid=uuid))
    assert await newcomer.one("SELECT count(*) FROM mail") == 0
