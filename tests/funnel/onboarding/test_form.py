"""The form of the onboarding pages: what is missing is asked for, what is wrong is told at its field, nothing known is shown."""

import pytest

from funnel.onboarding.texts import REQUIRED
from schema.onboarding import OnboardingField
from store.onboarding.links import onboarding_path_for
from tests.fixtures.activation import COMPLETE, Newcomer
from tests.funnel.checkout.customer import Customer
from tests.funnel.onboarding.fixtures import BIRTHDAY, FORGOTTEN, TYPED, Visitors, field_names, fill, link


async def test_only_what_is_missing_is_asked_for_and_nothing_known_is_shown(
    newcomer: Newcomer, representative: Customer
) -> None:
    await newcomer.change(legal_representative_birthday=None, hq_city="", hq_country="", hq_country_code="")
    await representative.open(await link(newcomer))
    assert representative.response.status_code == 200
    assert representative.h1 == "Activate payments for Chez Ada"
    assert field_names(representative) == {
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
    assert field_names(representative) == {*OnboardingField} - {BIRTHDAY} | parts
    kinds = representative.page.one("fieldset", id="company_type")
    assert [radio.attributes["value"] for radio in kinds.all("input")] == ["bus", "sol", "org", "ind"]
    for name in field_names(representative) - {"company_type"}:
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
    assert representative.path == onboarding_path_for(newcomer.services.settings, partner), (
        "the link is another with the address"
    )


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
