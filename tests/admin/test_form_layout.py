"""Long forms: their sections, and the languages of their texts."""

import re

import pytest

from admin.forms.form_fields import FormBuilder
from admin.forms.kinds import Kind
from admin.forms.language_switch import language_switch
from admin.forms.layout import LAYOUTS, REST, layout_of, sections_of
from admin.graph.schema_types import input_of, mutations
from schema.validation.languages import LANGUAGES
from tests.admin.office import ROOT, Office, errors, send, typed
from tests.funnel.checkout.page import Element

NEW_MODE = f"{ROOT}delivery-modes/new/create-delivery-mode/"
INPUTS = {input_of(name).name: input_of(name) for name in mutations() if layout_of(input_of(name).name)}


def test_every_layout_is_that_of_an_input() -> None:
    assert {layout_of(name) for name in INPUTS} == set(LAYOUTS.values())


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_names_each_field_once_and_only_fields_of_inputs(
    layout: tuple[tuple[str, tuple[str, ...]]],
) -> None:
    names = [name for _, fields in layout for name in fields]
    known = {name for kind in INPUTS.values() for name in kind.fields}
    assert len(names) == len(set(names))
    assert set(names) <= known


@pytest.mark.parametrize("name", INPUTS)
def test_no_field_is_lost_in_sections_and_what_is_required_comes_first(name: str) -> None:
    fields = FormBuilder({}).build(INPUTS[name], frozenset({"id", "uuid"}))
    sections = sections_of(name, fields)
    assert sorted(each.name for section in sections for each in section.fields) == sorted(each.name for each in fields)
    for section in sections:
        required = [each.is_required for each in section.fields]
        assert required == sorted(required, reverse=True), section.heading
        assert section.heading or len(sections) == 1
    assert [section.heading for section in sections].count(REST) <= 1


def test_short_texts_have_one_line_unless_one_has_more() -> None:
    kind = input_of("updateVoucherPrototype")

    def lines(form: dict[str, str]) -> dict[str, Kind]:
        fields = FormBuilder(form).build(kind, frozenset())
        return {each.name: each.children[0].kind for each in fields if each.kind is Kind.TRANSLATED}

    assert lines({})["name"] is Kind.TEXT
    assert {lines({})[name] for name in ("description", "rentConditions", "howToBookHtml")} == {Kind.LONG}
    assert lines({"name.fr": "Deux\nlignes"})["name"] is Kind.LONG, "an input would drop the line"


def test_the_switch_counts_what_is_missing_of_each_language() -> None:
    form = {"name.fr": "Nuit", "name.en": "Night", "description.fr": "Calme", "longDescription.fr": "Long"}
    fields = FormBuilder(form, main_language="fr").build(input_of("updateVoucherPrototype"), frozenset())
    switch = language_switch(fields, "fr", "")
    assert switch is not None
    assert (switch.main, switch.beside, switch.missing["en"], switch.missing["de"]) == ("fr", "en", 2, 3)
    assert switch.missing["fr"] == 0, "texts in no language at all are not missing in one"
    assert next(each for each in fields if each.name == "name").children[0].label == "fr"
    assert "fr" not in switch.others
    chosen = [language_switch(fields, "fr", text) for text in ("pt", "all", "fr", "xx")]
    assert [each and each.beside for each in chosen] == ["pt", "all", "en", "en"]
    assert language_switch(fields[:1], "fr", "") is None


def switch_of(page: Element) -> tuple[str, list[str]]:
    """The language beside the main one, and the texts of all choices."""
    row = page.one("fieldset", class_="language-row")
    (chosen,) = (each for each in row.all("input") if "checked" in each.attributes)
    return chosen.attributes["value"], [each.text for each in row.all("label")]


async def test_no_text_is_lost_when_languages_are_switched(office: Office) -> None:
    staff = await office.open("a1", NEW_MODE)
    texts = {f"name__{language}": f"Post {language}" for language in LANGUAGES if language != "nl"}
    await send(staff, kind="", **texts, description__de="Lange\nTexte", _beside="de")
    assert (staff.response.status_code, list(errors(staff))) == (400, ["kind"])
    chosen, words = switch_of(staff.page)
    assert chosen == "de"
    assert next(text for text in words if "missing" in text) == "Français 1 missing"
    assert "Nederlands 2 missing" in words
    shown = typed(staff)
    assert {name: shown[name.replace("__", ".")] for name in texts} == texts
    assert shown["description.de"] == "Lange\nTexte"
    await send(staff, kind="HOME_DELIVERY", _beside="all")
    mode = await office.tenants.newest("delivery_mode")
    saved = {language: text for language, text in mode["name"].items() if text}
    assert saved == {name.removeprefix("name__"): text for name, text in texts.items()}
    await office.open("a1", NEW_MODE)
    assert switch_of(staff.page)[0] == "all", "the choice is remembered"
    assert switch_of((await office.open("a2", NEW_MODE)).page)[0] != "all", "of this browser"


async def test_a_text_with_an_error_can_be_seen_in_any_language(office: Office) -> None:
    staff = await office.open("a1", NEW_MODE)
    await send(staff, kind="HOME_DELIVERY", name__de="Paket", name__en="", _beside="fr", rates__0__country="")
    await office.open("a1", NEW_MODE)
    await send(staff, kind="HOME_DELIVERY", _beside="fr")
    assert errors(staff) == {"name.en": "Fill this in."}
    (wrong,) = staff.page.all("div", class_="wrong-one")
    assert "in-en" in wrong.attributes["class"].split()


async def test_sections_are_named_and_reached_by_links(office: Office) -> None:
    staff = await office.open("a1", f"{ROOT}products/{office.tenants.owned['a1'].product}/update-product/")
    links = [link.attributes["href"] for link in staff.page.one("nav", class_="sections").all("a")]
    headings = {
        heading.attributes["id"]: heading.text for heading in staff.page.all("h2") if "id" in heading.attributes
    }
    assert [headings[link.removeprefix("#")] for link in links] == [heading for heading, _ in LAYOUTS["Product"]]
    assert not (await office.open("a1", NEW_MODE)).page.all("nav", class_="sections")


async def test_what_has_to_be_filled_in_is_marked(office: Office) -> None:
    staff = await office.open("a1", NEW_MODE)
    marked = {mark.parent.text for mark in staff.page.all("span", class_="needed") if mark.parent is not None}
    assert {"Kind *", "Name *"} <= marked
    assert re.fullmatch(r"Description( .*)?", next(it.text for it in staff.page.all("legend") if "Descr" in it.text))


async def test_a_form_of_something_new_begins_with_what_its_address_names(office: Office) -> None:
    partner = str(office.tenants.partners["a1"].uuid)
    staff = await office.open("market a", f"{NEW_MODE}?partnerUuid={partner}&kind=HOME_DELIVERY&csrf=x&_key=y")
    assert typed(staff)["partnerUuid"] == partner
    assert "HOME_DELIVERY" not in typed(staff).values(), "no link of ours has it"
    assert {"x", "y"}.isdisjoint(typed(staff).values())
