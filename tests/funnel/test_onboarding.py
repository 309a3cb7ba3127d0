"""The onboarding pages without a browser: what is asked, the way to the provider and back, and every way it can end."""

import datetime as dt
import re

import pytest

from funnel.onboarding.texts import FAILURES, REQUIRED, REQUIREMENTS
from resolvers import activation_outcomes
from resolvers import onboarding as operations
from schema.onboarding import ActivationFailureReason, OnboardingField, RequirementCode
from store.account_requests import digest
from store.clock import clock
from store.onboarding_links import path_for
from store.providers.errors import InvalidRequest
from store.providers.sandbox.sca import Outcome
from tests.activation_world import COMPLETE, Newcomer
from tests.funnel.customer import Customer
from tests.funnel.onboarding_world import FORGOTTEN, TYPED, Visitors, link

IBAN = "FR7630006000011234567890189"
BIRTHDAY = "legal_representative_birthday"


def asked(representative: Customer) -> set[str]:
    """The names of the fields on the page."""
    form = representative.page.one("form", class_="column")
    return {field.attributes["name"] for tag in ("input", "select") for field in form.all(tag)} - {"csrf"}


async def fill(representative: Customer, **changes: str) -> Customer:
    """Fill in whatever the page asks for, and continue."""
    wanted = asked(representative)
    typed = {name: value for name, value in (dict(TYPED) | changes).items() if name in wanted}
    return await representative.send("/onboarding/", typed)


async def press(representative: Customer) -> Customer:
    """Press the button that leads to the provider."""
    (form,) = [form for form in representative.page.all("form") if form.attributes["action"].endswith("/provider/")]
    return await representative.send(form.attributes["action"])


async def to_provider(representative: Customer) -> str:
    """Press the button; answers where the page leads on to."""
    await press(representative)
    assert representative.step == "leaving"
    seconds, url = representative.refresh
    assert seconds == 0
    assert representative.page.one("a", class_="main").attributes["href"] == url
    return url


async def back(newcomer: Newcomer, representative: Customer) -> Customer:
    """Come back from the provider."""
    return await representative.open(f"{await link(newcomer)}return/")


def notes(representative: Customer) -> list[str]:
    """The titles of what the page says first."""
    return [note.one("h2").text for note in representative.page.all("div", class_="note")]


# ---- what is missing


async def test_only_what_is_missing_is_asked_for_and_nothing_known_is_shown(
    newcomer: Newcomer, representative: Customer
) -> None:
    await newcomer.change(legal_representative_birthday=None, hq_city="", hq_country="", hq_country_code="")
    await representative.open(await link(newcomer))
    assert representative.response.status_code == 200
    assert representative.h1 == "Activate payments for Chez Ada"
    assert asked(representative) == {
        f"{BIRTHDAY}_day",
        f"{BIRTHDAY}_month",
        f"{BIRTHDAY}_year",
        "hq_city",
        "hq_region",
        "hq_country",
    }
    known = (
        "name",
        "siret_number",
        "legal_representative_email",
        "agency_email",
        "hq_address_line_1",
        "hq_postal_code",
    )
    assert [name for name in known if COMPLETE[name] in representative.response.text] == []
    assert representative.page.one("select", id="hq_country").all("option", selected="") == []


async def test_of_somebody_unknown_everything_is_asked(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(**FORGOTTEN)
    await representative.open(await link(newcomer))
    parts = {f"{BIRTHDAY}_{part}" for part in ("day", "month", "year")}
    assert asked(representative) == {*OnboardingField} - {BIRTHDAY} | parts
    kinds = representative.page.one("fieldset", id="company_type")
    assert [radio.attributes["value"] for radio in kinds.all("input")] == ["bus", "sol", "org", "ind"]
    for name in asked(representative) - {"company_type"}:
        assert representative.page.all("input", name=name) or representative.page.all("select", name=name), name
    labelled = {label.attributes["for"] for label in representative.page.all("label")}
    fields = [
        f for tag in ("input", "select") for f in representative.page.one("main").all(tag) if "id" in f.attributes
    ]
    assert {field.attributes["id"] for field in fields} <= labelled
    told = {field.attributes["name"]: field.attributes.get("autocomplete") for field in fields}
    assert told["legal_representative_first_name"] == "given-name"
    assert told[f"{BIRTHDAY}_year"] == "bday-year"
    assert told["legal_representative_country_of_residence"] == "country"
    assert told["hq_postal_code"] == "section-office postal-code"


async def test_what_was_missing_is_saved_and_then_the_provider_is_next(
    newcomer: Newcomer, representative: Customer
) -> None:
    await newcomer.change(**FORGOTTEN)
    await representative.open(await link(newcomer))
    await fill(representative)
    assert (representative.response.status_code, representative.errors) == (200, [])
    assert representative.page.all("form", data_once="")[0].attributes["action"].endswith("/provider/")
    partner = await newcomer.now()
    assert {name: getattr(partner, name) for name in COMPLETE} == {**COMPLETE, "hq_country": "FR"}
    assert await newcomer.calls() == 0, "the provider is asked when the button is pressed"
    assert not [value for value in TYPED.values() if len(value) > 4 and value in representative.response.text]
    assert representative.path == path_for(newcomer.services.settings, partner), "the link is another with the address"


async def test_each_error_stands_at_its_field_and_above(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(**FORGOTTEN)
    await representative.open(await link(newcomer))
    await representative.send("/onboarding/", {"company_type": "bus", "legal_representative_first_name": "Grace"})
    assert representative.page.one("title").text.startswith("Error: ")
    wanted = [
        text
        for field, text in REQUIRED.items()
        if field not in {"company_type", "legal_representative_first_name", "hq_region"}
    ]
    assert representative.errors == wanted
    places = [a.attributes["href"].removeprefix("#") for a in representative.page.one(id="errors").all("a")]
    for place, text in zip(places, wanted, strict=True):
        field = representative.page.one(id=place)
        assert field.attributes["aria-invalid"] == "true"
        assert representative.page.one(id=f"{place}-wrong").text == text
    assert representative.page.one(id="legal_representative_first_name").attributes["value"] == "Grace"
    assert "checked" in representative.page.one(id="company_type-bus").attributes
    assert (await newcomer.now()).legal_representative_first_name == ""


async def test_an_empty_form_is_told_all_that_everybody_needs(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(**FORGOTTEN)
    await representative.open(await link(newcomer))
    await representative.send("/onboarding/")
    depends = {
        OnboardingField.NAME,
        OnboardingField.SIRET_NUMBER,
        OnboardingField.AGENCY_EMAIL,
        OnboardingField.HQ_REGION,
    }
    assert representative.errors == [text for field, text in REQUIRED.items() if field not in depends]


@pytest.mark.parametrize(
    ("field", "changes", "text"),
    [
        (BIRTHDAY, {f"{BIRTHDAY}_day": "31", f"{BIRTHDAY}_month": "2"}, "Enter the day, the month and the year"),
        (BIRTHDAY, {f"{BIRTHDAY}_year": "soon"}, "Enter the day, the month and the year"),
        (BIRTHDAY, {f"{BIRTHDAY}_year": "2020"}, "Enter the day, the month and the year"),
        ("legal_representative_email", {"legal_representative_email": "ada"}, "Enter an e-mail address like"),
        ("siret_number", {"siret_number": "732 829 320 00075"}, "Check this number"),
        ("legal_representative_nationality", {"legal_representative_nationality": "ZZ"}, "Choose your nationality."),
        ("hq_country", {"hq_country": "Atlantis"}, "Choose a country."),
    ],
)
async def test_what_cannot_be_read_is_told_in_words_of_the_field(
    newcomer: Newcomer, representative: Customer, field: str, changes: dict[str, str], text: str
) -> None:
    await newcomer.change(**FORGOTTEN)
    await representative.open(await link(newcomer))
    await fill(representative, **changes)
    (error,) = representative.errors
    assert error.startswith(text)
    assert representative.page.one(id=field)
    for name, value in changes.items():
        again = representative.page.one(name=name)
        assert value in {again.attributes.get("value"), None} or again.tag == "select"
    assert (await newcomer.now()).legal_representative_birthday is None


async def test_what_is_wrong_with_something_that_is_not_asked_is_told_too(
    newcomer: Newcomer, representative: Customer
) -> None:
    await newcomer.change(siret_number="12345", hq_country="", hq_country_code="")
    await representative.open(await link(newcomer))
    await representative.send("/onboarding/", {"hq_country": "FR"})
    (error,) = representative.errors
    assert error.startswith("This does not fit what is known of your company.")
    assert representative.page.one(id="errors").one("a").attributes["href"] == "#main"
    assert (await newcomer.now()).hq_country == ""


async def test_what_was_typed_wrong_is_shown_once_and_to_this_browser_only(
    newcomer: Newcomer, representatives: Visitors
) -> None:
    await newcomer.change(**FORGOTTEN)
    representative, other = representatives(), representatives()
    await representative.open(await link(newcomer))
    await representative.send("/onboarding/", {"legal_representative_first_name": "Grace"})
    await other.open(await link(newcomer))
    assert "Grace" not in other.response.text
    await representative.open(await link(newcomer))
    assert "Grace" not in representative.response.text
    assert representative.errors == []


async def test_what_is_not_asked_for_cannot_be_changed(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(hq_city="")
    await representative.open(await link(newcomer))
    await representative.send(
        "/onboarding/", {"hq_city": "Lyon", "name": "Mallory Ltd", "legal_representative_email": "m@evil.example"}
    )
    partner = await newcomer.now()
    assert (partner.hq_city, partner.name) == ("Lyon", COMPLETE["name"])
    assert partner.legal_representative_email == COMPLETE["legal_representative_email"]


async def test_a_form_from_a_second_tab_leads_to_where_it_stands(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(hq_city="")
    await representative.open(await link(newcomer))
    form = representative.page
    await representative.send("/onboarding/", {"hq_city": "Lyon"})
    representative.page = form
    await representative.send("/onboarding/", {"hq_city": "Nice"})
    assert (representative.response.status_code, representative.errors) == (200, [])
    assert (await newcomer.now()).hq_city == "Lyon"


# ---- the way to the provider


async def test_only_the_button_opens_a_session(newcomer: Newcomer, representative: Customer) -> None:
    url = await link(newcomer)
    for path in ("", "return/", "leaving/"):
        for method in ("GET", "HEAD"):
            answer = await representative.http.request(method, f"{url}{path}")
            assert answer.status_code in {200, 303}, (method, path)
    assert (await representative.http.get(f"{url}provider/")).status_code == 405
    assert (await representative.http.head(f"{url}provider/")).status_code == 405
    assert (await representative.http.post(f"{url}provider/", data={"csrf": "none"})).status_code == 403
    assert (await newcomer.sessions(), await newcomer.calls()) == (0, 0)
    await representative.open(url)
    assert re.match(r"http://provider\.test/_provider/sca\?token=", await to_provider(representative))
    assert await newcomer.sessions() == 1


async def test_what_happens_there_is_told_before(newcomer: Newcomer, representative: Customer) -> None:
    await representative.open(await link(newcomer))
    steps = " ".join(step.text for step in representative.page.one("ol", class_="journey").all("li"))
    for word in ("terms", "consents", "passkey", "skip", "e-mail", "PIN", "mobile", "SMS"):
        assert word in steps
    assert "mobile phone" in representative.page.one("ul", class_="at-hand").text
    assert "ten minutes" in representative.page.one("main").text


async def test_the_link_is_the_same_while_it_can_be_used_and_then_a_fresh_one(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    first = await to_provider(representative)
    await representative.open(representative.path)
    assert representative.step != "leaving", "a reload leads to the button"
    assert await to_provider(representative) == first
    clock.advance(dt.timedelta(minutes=11))
    await representative.open(await link(newcomer))
    assert await to_provider(representative) != first
    assert len(await newcomer.accounts()) == 1


async def test_a_provider_that_is_away_is_told_beside_the_button(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.fault("/sca/users/*", kind="status", status=503, times=50)
    await representative.open(await link(newcomer))
    await press(representative)
    assert representative.response.status_code == 200
    assert notes(representative) == ["The payment provider does not answer"]
    await representative.open(representative.path)
    assert notes(representative) == [], "it is told once"


# ---- and back


async def test_the_whole_way(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(**FORGOTTEN)
    await representative.open(await link(newcomer))
    await fill(representative)
    url = await to_provider(representative)
    await newcomer.authenticate(url)
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"
    assert "Chez Ada can be paid by card" in representative.page.one("main").text
    assert (await newcomer.now()).payments_active
    await representative.open(await link(newcomer))
    assert representative.h1 == "Payments are active"
    assert await newcomer.events() == ["partner.payments_activated"]


@pytest.mark.parametrize("expires", [True, False])
async def test_a_session_that_ran_out_or_was_left_has_the_button_again(
    newcomer: Newcomer, representative: Customer, expires: bool
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    if expires:
        clock.advance(dt.timedelta(minutes=11))
    await back(newcomer, representative)
    assert notes(representative) == ["You have not finished yet"]
    assert (await to_provider(representative) == url) is not expires


async def test_a_session_that_failed_has_the_reason_and_the_number_and_the_button(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    process = (await newcomer.row()).id
    await newcomer.authenticate(url, Outcome.FAILED)
    await back(newcomer, representative)
    assert notes(representative) == ["You could not be authenticated"]
    assert str(process) in representative.page.one("dl", class_="support").text
    again = await to_provider(representative)
    await newcomer.authenticate(again)
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"


async def test_what_takes_its_time_is_looked_at_again_ever_more_seldom(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    await newcomer.fault("/wallets", kind="status", status=503, times=500)
    await newcomer.authenticate(url)
    await back(newcomer, representative)
    assert representative.h1 == "Your activation is being processed"
    pauses = []
    while "refresh" in representative.response.headers:
        seconds, again = representative.refresh
        pauses.append(seconds)
        assert f"{await link(newcomer)}return/?looked=".endswith(again.rstrip("0123456789"))
        await representative.open(again)
    assert pauses == sorted(pauses)
    assert 5 < len(pauses) < 20
    assert "longer than usual" in representative.page.one("main").text
    assert str((await newcomer.row()).id) in representative.page.one("dl", class_="support").text
    await newcomer.control("DELETE", "/faults")
    await representative.open(representative.page.one("a", class_="main").attributes["href"])
    assert representative.h1 == "Payments are active"


async def test_an_account_that_is_blocked_ends_with_the_reason_and_what_support_asks_for(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    await newcomer.block(inflows=True)
    await newcomer.authenticate(url)
    await back(newcomer, representative)
    assert representative.h1 == "The payment provider has blocked the account"
    assert str((await newcomer.row()).id) in representative.page.one("dl", class_="support").text
    assert representative.page.one("main").all("form") == []


async def test_what_the_provider_did_not_take_is_asked_again_with_the_reason(
    newcomer: Newcomer, representative: Customer
) -> None:
    await newcomer.change(legal_representative_nationality="fr")
    await representative.open(await link(newcomer))
    await press(representative)
    assert asked(representative) == {"legal_representative_nationality"}
    assert representative.errors == ["The payment provider did not accept this. Please correct it."]
    assert representative.page.one("select", id="legal_representative_nationality").all("option", selected="") == []
    await representative.send("/onboarding/", {"legal_representative_nationality": "FR"})
    assert notes(representative) == []
    await newcomer.authenticate(await to_provider(representative))
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"


async def test_what_only_the_platform_can_correct_ends_with_what_it_has_to_know(
    newcomer: Newcomer, representative: Customer
) -> None:
    begun = await newcomer.activate()
    refused = InvalidRequest("Refused.", {"HeadquartersAddress.AddressLine2": "The field AddressLine2 is invalid."})
    await activation_outcomes.refuse(newcomer.services, begun.id, refused, told=digest(await newcomer.now()))
    await representative.open(await link(newcomer))
    assert representative.h1 == "The payment provider did not accept a detail"
    told = representative.page.one("dl", class_="support").text
    assert str(begun.id) in told
    assert "AddressLine2" in told


# ---- afterwards


async def active(newcomer: Newcomer) -> None:
    """Take the newcomer to where it can be paid."""
    await newcomer.authenticate((await newcomer.activate()).pending_user_action)
    assert (await newcomer.activate()).status == "COMPLETED"


async def test_what_is_left_to_do_has_its_way_out(newcomer: Newcomer, representative: Customer) -> None:
    await active(newcomer)
    await representative.open(await link(newcomer))
    left = {item.one("h3").text: item for item in representative.page.one("section", class_="needs").all("li")}
    assert set(left) == {"Your identity has to be verified", "A bank account is missing"}
    assert "Prove your identity" in left["Your identity has to be verified"].text
    assert "IBAN" in left["A bank account is missing"].text
    assert "Market" in representative.page.one("dl", class_="support").text


async def test_an_identity_is_proven_from_here_and_only_by_the_button(
    newcomer: Newcomer, representative: Customer
) -> None:
    await active(newcomer)
    url = await link(newcomer)
    for task in ("identity", "bank-account", "bank-account/confirm"):
        for method in ("GET", "HEAD"):
            assert (await representative.http.request(method, f"{url}{task}/")).status_code == 405
        assert (await representative.http.post(f"{url}{task}/", data={"csrf": "none"})).status_code == 403
    assert await newcomer.one("SELECT count(*) FROM identity_check") == 0
    await representative.open(url)
    await representative.send(f"{representative.path}identity/")
    assert representative.step == "leaving"
    assert await newcomer.one("SELECT count(*) FROM identity_check") == 1
    path = await newcomer.one("SELECT path FROM identity_check")
    await representative.open(f"/k/{path}")
    ways = [a.attributes["href"] for a in representative.page.one("main").all("a")]
    assert path_for(newcomer.services.settings, await newcomer.now()) in ways


async def test_a_bank_account_is_named_then_confirmed(newcomer: Newcomer, representative: Customer) -> None:
    await active(newcomer)
    await representative.open(await link(newcomer))
    for typed, error in (
        ({"iban": "", "bic": ""}, "Enter the IBAN."),
        ({"iban": "FR7630006000011234567890188", "bic": ""}, "Check the IBAN"),
        ({"iban": IBAN, "bic": "DEUTDEFF"}, "Check the BIC"),
    ):
        await representative.send(f"{representative.path}bank-account/", typed)
        assert [told[: len(error)] for told in representative.errors] == [error]
        assert (await newcomer.now()).iban == ""
    await representative.send(f"{representative.path}bank-account/", {"iban": IBAN, "bic": ""})
    assert (await newcomer.now()).iban == IBAN
    assert IBAN not in representative.response.text
    assert "The account ends in 0189." in representative.page.one("main").text
    await representative.send(f"{representative.path}bank-account/confirm/")
    assert representative.step == "leaving"
    assert await newcomer.one("SELECT count(*) FROM bank_account") == 1


async def test_a_button_of_a_provider_that_is_away_says_so(newcomer: Newcomer, representative: Customer) -> None:
    await active(newcomer)
    await representative.open(await link(newcomer))
    await newcomer.fault("/**", kind="status", status=503, times=50)
    await representative.send(f"{representative.path}identity/")
    assert notes(representative) == ["The payment provider does not answer"]


async def test_a_new_address_is_authenticated_while_payments_go_on(
    newcomer: Newcomer, representative: Customer
) -> None:
    await active(newcomer)
    await newcomer.change(legal_representative_email="grace@chez-ada.example")
    await representative.open(await link(newcomer))
    assert "Payments go on meanwhile" in representative.page.one("main").text
    await newcomer.authenticate(await to_provider(representative))
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"


async def test_pressing_a_button_that_is_no_longer_there_shows_how_it_stands(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    page = representative.page
    await active(newcomer)
    sessions = await newcomer.sessions()
    representative.page = page
    await press(representative)
    assert representative.h1 == "Payments are active"
    assert await newcomer.sessions() == sessions


async def test_an_account_that_receives_nothing_does_not_look_active(
    newcomer: Newcomer, representative: Customer
) -> None:
    await active(newcomer)
    await newcomer.block(inflows=True)
    await back(newcomer, representative)
    assert representative.h1 == "You cannot receive payments at the moment"
    assert "You cannot receive payments" not in " ".join(e.text for e in representative.page.all("h3"))


def test_everything_that_can_be_told_has_words() -> None:
    assert set(FAILURES) == set(ActivationFailureReason)
    assert set(REQUIREMENTS) == set(RequirementCode)
    assert set(REQUIRED) == set(OnboardingField)
    assert set(FAILURES) >= operations.BEGIN_ANEW
