"""Forms have choices where these are known, mark what only they require, and lead from what is wrong to its field."""

from tests.admin.office import ROOT, Office, change_form, errors, send, typed
from tests.fixtures.gift_card import gift_card
from tests.funnel.checkout.customer import Customer


def values_of(staff: Customer, name: str) -> list[str]:
    """The values that a field has as choices."""
    (field,) = change_form(staff).all("select", name=name)
    return [option.attributes["value"] for option in field.all("option")]


async def test_languages_and_countries_are_chosen(office: Office) -> None:
    staff = await office.open("a1", f"{ROOT}gift-cards/new/issue-gift-card/")
    assert values_of(staff, "language") == ["", "en", "fr", "es", "it", "de", "nl", "ca", "pt"]
    assert typed(staff)["language"] == "en"
    assert staff.page.one("h1").text == "Issue a gift card"
    await office.open("market a", f"{ROOT}partners/{office.tenants.partners['a1'].uuid}/update-partner/")
    staff = office.browser("market a")
    countries = values_of(staff, "legalRepresentative.nationality")
    assert {"FR", "DE", "CH"} < set(countries)


async def test_what_the_list_does_not_have_stays_chosen(office: Office) -> None:
    partner = office.tenants.partners["a1"]
    await office.tenants.execute("UPDATE partner SET hq_country = 'Frankreich'")
    staff = await office.open("market a", f"{ROOT}partners/{partner.uuid}/update-partner/")
    assert typed(staff)["headOffice.country"] == "Frankreich"


async def test_a_marketplace_says_first_for_which_partner(office: Office) -> None:
    staff = await office.open("market a", f"{ROOT}coupons/new/create-coupon/")
    first = next(each for each in change_form(staff).all("select") if each.attributes["name"] != "_beside")
    assert first.attributes["name"] == "partnerUuid"
    assert "required" in first.attributes
    assert "partnerUuid" not in typed(await office.open("a1", f"{ROOT}coupons/new/create-coupon/"))


async def test_a_group_without_a_value_is_told_at_its_field(office: Office) -> None:
    staff = await office.open("a1", f"{ROOT}coupons/new/create-coupon/")
    await send(staff, code="SPRING")
    assert staff.response.status_code == 400
    assert errors(staff) == {"f-discount": "Fill in one of these."}
    (link,) = staff.page.one("div", class_="notice").all("a")
    assert (link.text, link.attributes["href"]) == ("Discount: Fill in one of these.", "#f-discount")


async def test_a_gift_card_has_a_design_of_its_partner(office: Office) -> None:
    tenants = office.tenants
    await gift_card(tenants, "a1", "50.00")
    design = (
        "mutation($input: CreateGiftCardDesignInput!) "
        "{ createGiftCardDesign(input: $input) { giftCardDesign { id } userErrors { field message } } }"
    )
    ids = {}
    for who, name, is_active in (("a1", "Own", True), ("a1", "Old", False), ("market a", "Network", True)):
        made = await tenants.graphql(
            who, design, input={"name": {"en": name}, "occasion": "BIRTHDAY", "isActive": is_active}
        )
        ids[name] = str(made["data"]["createGiftCardDesign"]["giftCardDesign"]["id"])
    staff = await office.open("a1", f"{ROOT}gift-cards/new/issue-gift-card/")
    shown = {each.attributes["value"] for each in change_form(staff).all("input", name="designId")}
    assert shown == {"", ids["Own"]}
