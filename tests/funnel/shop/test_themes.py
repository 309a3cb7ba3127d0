"""What the theme of a shop changes of its pages: the sheet, the font and the start page."""

import dataclasses

import pytest

from funnel.core.brand_sheets import WEB_FONTS, brand_sheet
from funnel.core.static_files import FOLDER, FONTS, font_path
from schema.theme import BrandTheme, CornerRadius, HeadingFont
from store.core.brand_colours import build_brand, surfaces
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import WINDOW
from tests.funnel.checkout.customer import Customer

KILOBYTE = 1024
THEME = "UPDATE partner SET heading_font = 'jost', corner_radius = 'none', page_tint = '#fbf6ef' WHERE id = :id"
START = "UPDATE partner SET hero_picture_url = :path, headline = CAST(:headline AS jsonb) WHERE id = :id"
HERO = "/media/6b1f7a52-6c0f-4f0e-9a39-3f2f6bb1a6d4/card.webp"


def sheet_of(font: HeadingFont, radius: CornerRadius = CornerRadius.MEDIUM, tint: str = "") -> str:
    return brand_sheet(build_brand("", "#1f4e5f", theme=BrandTheme(font, radius, tint))).decode()


async def test_a_shop_is_shown_in_its_theme(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await shop.execute(THEME, id=shop.partner.id)
    await customer.open(WINDOW)
    head = customer.page.one("head")
    (preloaded,) = head.all("link", rel="preload")
    assert preloaded.attributes["href"] == font_path("jost")
    font = await customer.http.get(preloaded.attributes["href"])
    assert (font.status_code, font.headers["content-type"]) == (200, "font/woff2")
    assert font.content == (FONTS / "jost.woff2").read_bytes()
    assert "content-encoding" not in font.headers, "it is compressed already"
    sheet = await customer.http.get(head.all("link", rel="stylesheet")[-2].attributes["href"])
    assert sheet.headers["cache-control"].endswith("immutable")
    light, dark = surfaces("#fbf6ef"), surfaces("#fbf6ef", dark=True)
    assert f":root{{--paper:#fbf6ef;--tint:{light.panel};--line:{light.line}}}" in sheet.text
    assert f"html:root{{--paper:{dark.paper};--tint:{dark.panel};--line:{dark.line}}}" in sheet.text
    assert preloaded.attributes["href"] in sheet.text
    assert ":root{--r:0;--rs:0;--rl:0;--rp:0}" in sheet.text


async def test_the_start_page_shows_headline_and_picture(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await customer.open(WINDOW)
    assert customer.page.one("h1").text == "Give a moment to remember"
    assert not customer.page.all("div", class_="hero")
    await shop.execute(START, id=shop.partner.id, path=HERO, headline='{"fr": "Un <b>soir</b> à offrir"}')
    await customer.open(f"{WINDOW}?lang=fr")
    assert customer.page.one("h1").text == "Un <b>soir</b> à offrir"
    picture = customer.page.one("div", class_="hero").one("img")
    assert (picture.attributes["src"], picture.attributes["alt"]) == (HERO, "")
    assert picture.attributes["srcset"] == f"{HERO} 800w, {HERO.replace('card', 'cover')} 1920w"
    await customer.open(f"{WINDOW}?lang=de")
    assert "soir" not in customer.h1, "a headline in another language is none"
    await shop.execute(START, id=shop.partner.id, path="/media/of-demo.webp", headline="{}")
    await customer.open(WINDOW)
    assert customer.page.one("h1").text == "Give a moment to remember"
    assert "srcset" not in customer.page.one("div", class_="hero").one("img").attributes


@pytest.mark.parametrize("font", HeadingFont)
def test_each_font_has_a_fallback_of_its_size(font: HeadingFont) -> None:
    sheet = sheet_of(font)
    if font is HeadingFont.SYSTEM:
        assert "@font-face" not in sheet
        return
    assert f"url({font_path(font)})" in sheet
    assert "font-display:optional" in sheet
    assert f"size-adjust:{WEB_FONTS[font].size}%" in sheet
    assert (FONTS / f"{font}.woff2").stat().st_size < 20 * KILOBYTE


def test_fonts_have_their_licence() -> None:
    licence = (FONTS / "LICENSE.txt").read_text()
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert {file.stem for file in FONTS.glob("*.woff2")} == {str(font) for font in WEB_FONTS}
    for font in WEB_FONTS:
        assert f"{font}.woff2" in licence


@pytest.mark.parametrize("radius", CornerRadius)
def test_each_radius_is_one_of_the_sheets(radius: CornerRadius) -> None:
    sheet = sheet_of(HeadingFont.SYSTEM, radius)
    assert ("--r:" in sheet) == (radius is not CornerRadius.MEDIUM)
    assert "--r:12px;--rs:10px;--rl:20px;--rp:99px" in (FOLDER / "funnel.css").read_text()


def test_a_tint_that_is_none_changes_no_surface() -> None:
    brand = build_brand("", "#1f4e5f")
    wrong = dataclasses.replace(brand, theme=dataclasses.replace(brand.theme, page_tint="#fff}*{"))
    assert brand_sheet(wrong) == brand_sheet(brand)
