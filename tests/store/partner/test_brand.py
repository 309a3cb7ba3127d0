"""Colours that can be read, whatever a partner chose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.core.errors import InvalidInput
from store.core.brand_colours import (
    DARK_PANEL,
    DARK_PAPER,
    MIN_CONTRAST,
    MIN_SURFACE_CONTRAST,
    TEXTS,
    contrast,
    dark_accent_colours,
    from_hls,
    is_readable_tint,
    readable_colour,
    surfaces,
)
from store.partner.brand import brand_of
from store.partner.checks import check_theme
from store.partner.partners import PartnerRow

COLOURS = st.integers(0, 0xFFFFFF).map(lambda n: f"#{n:06x}")


def partner(accent: str) -> PartnerRow:
    return PartnerRow(
        commercial_name="The Shop",
        short_name="shop",
        site_domain="shop.example",
        source_id="1",
        marketplace_id=1,
        accent_colour=accent,
        logo_url="/media/logo.svg",
        website="https://shop.example",
        agency_email="hello@shop.example",
        agency_phone="+33 1 23 45 67 89",
    )


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#ffffff", "#000000", 21.0),
        ("#ffffff", "#ffffff", 1.0),
        ("#ffffff", "#777777", 4.48),
        ("#0000ff", "#ffffff", 8.59),
    ],
)
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert contrast(other, one) == contrast(one, other)


@given(COLOURS)
def test_text_on_the_accent_and_in_it_can_be_read(accent: str) -> None:
    brand = brand_of(partner(accent))
    assert contrast(brand.accent_ink, brand.accent) >= MIN_CONTRAST
    assert contrast(brand.accent_text, "#ffffff") >= MIN_CONTRAST
    assert brand.accent == accent


@pytest.mark.parametrize("accent", ["#767676", "#777777", "#787878"])
def test_ink_can_be_read_on_the_greys_in_the_middle(accent: str) -> None:
    assert contrast(brand_of(partner(accent)).accent_ink, accent) >= MIN_CONTRAST


@given(COLOURS)
def test_a_colour_is_darkened_no_more_than_needed(colour: str) -> None:
    text = readable_colour(colour)
    if contrast(colour, "#ffffff") >= MIN_CONTRAST:
        assert text == colour
    else:
        assert contrast(text, "#ffffff") < MIN_CONTRAST + 0.6


@given(COLOURS)
def test_dark_pages_have_colours_that_can_be_read(colour: str) -> None:
    accent, ink, text = dark_accent_colours(colour)
    assert min(contrast(accent, DARK_PAPER), contrast(accent, DARK_PANEL)) >= MIN_SURFACE_CONTRAST
    assert contrast(ink, accent) >= MIN_CONTRAST
    assert min(contrast(text, DARK_PAPER), contrast(text, DARK_PANEL)) >= MIN_CONTRAST
    if contrast(colour, DARK_PANEL) >= MIN_CONTRAST:
        assert accent == text == colour


@given(COLOURS, COLOURS)
def test_all_texts_can_be_read_on_a_tint_that_is_accepted(tint: str, accent: str) -> None:
    row = partner(accent)
    row.page_tint = tint
    if not is_readable_tint(tint):
        with pytest.raises(InvalidInput) as refused:
            check_theme(row)
        assert [problem.path for problem in refused.value.problems] == [("theme", "page_tint")]
        return
    check_theme(row)
    light, dark, brand = surfaces(tint), surfaces(tint, dark=True), brand_of(row)
    assert (light.paper, brand.theme.page_tint) == (tint, tint)
    for on, texts in ((light, TEXTS[False]), (dark, TEXTS[True])):
        assert min(contrast(text, each) for text in texts for each in (on.paper, on.panel)) >= MIN_CONTRAST
    assert min(contrast(brand.accent_text, light.paper), contrast(brand.accent_text, light.panel)) >= MIN_CONTRAST
    shown, ink, text = dark_accent_colours(accent, tint)
    assert contrast(shown, dark.panel) >= MIN_SURFACE_CONTRAST
    assert contrast(ink, shown) >= MIN_CONTRAST
    assert min(contrast(text, dark.paper), contrast(text, dark.panel)) >= MIN_CONTRAST


@given(st.floats(0, 1), st.floats(0.975, 1), st.floats(0, 1))
def test_light_tints_are_accepted(hue: float, lightness: float, saturation: float) -> None:
    assert is_readable_tint(from_hls(hue, lightness, saturation))


def test_no_theme_changes_nothing_of_what_pages_had() -> None:
    row = partner("#1f4e5f")
    row.page_tint = ""
    check_theme(row)
    assert dark_accent_colours("#1f4e5f", "") == dark_accent_colours("#1f4e5f")


def test_what_can_be_read_stays_and_white_does_not() -> None:
    assert readable_colour("#1f4e5f") == "#1f4e5f"
    assert readable_colour("#ffffff") not in {"#ffffff", "#000000"}
    assert readable_colour("#000000", on="#000000") == "#000000"


def test_a_brand_is_what_the_partner_says() -> None:
    brand = brand_of(partner("#1f4e5f"))
    assert (brand.name, brand.logo_url, brand.website) == ("The Shop", "/media/logo.svg", "https://shop.example")
    assert (brand.email, brand.phone, brand.accent_ink) == ("hello@shop.example", "+33 1 23 45 67 89", "#ffffff")
