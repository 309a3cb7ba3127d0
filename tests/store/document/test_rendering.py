"""Sheets set in type: PDF/A that reads aloud, with every character, and with nothing of what people write done."""

import dataclasses
import datetime as dt
import io
from collections.abc import Iterator
from typing import Any

import pytest
import typst
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from schema.theme import BrandTheme, CornerRadius, HeadingFont
from schema.validation.languages import LANGUAGES
from store.core.brand_colours import build_brand
from store.document import rendering
from store.document.font_coverage import FONTS, printable_characters
from store.document.rendering import compile_sheet, render_pdf, render_pdf_sync, renderer_version
from store.document.rich import blocks_of_html, blocks_of_text
from store.document.sheet import HEADING_FAMILIES, Sheet, SheetBrand, SmallPrintSection
from store.document.words import voucher_labels
from tests.fixtures.document import colours, picture, scanned, words

MADE_ON = dt.datetime(2026, 8, 23, 10, tzinfo=dt.UTC)
CODE = "7K3P-9MQR-T2VX-HC4D"
SHORT = Sheet(
    language="en",
    title="Gift voucher – A night",
    look=SheetBrand.from_brand(build_brand("Maison Valserène", "#6a4c9c")),
    words=voucher_labels("en", CODE),
    overline="Gift voucher",
    name="A night",
    code=CODE,
    scanned=f"https://valserene-1.shop.example/redeem/?code={CODE}",
    validity="Valid until 23 August 2027",
)
LONG = dataclasses.replace(
    SHORT,
    name="A night above the lake with dinner, breakfast and the spa for you alone until midnight",
    facts="2 adults · 1 night",
    description="A junior suite. " * 18,
    included=[f"Something that comes with it, number {number}" for number in range(12)],
    to="Claire",
    sender="Ada",
    message="Happy birthday! " * 60,
    small_print=[
        SmallPrintSection("How to book", blocks_of_html("<p>Call <b>us</b>.</p><ol><li>One</li><li>Two</li></ol>" * 9)),
        SmallPrintSection("Conditions", blocks_of_text("Not on holidays. " * 160)),
    ],
    contact=["12 chemin du Lac, Annecy", "+33 4 65 71 20 10"],
)


def sheet(**changes: Any) -> Sheet:
    return dataclasses.replace(SHORT, **changes)


def render(of: Sheet, **pictures: bytes) -> bytes:
    return render_pdf_sync(of, pictures, MADE_ON)


def reader(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf), strict=True)


def fonts_of(pdf: bytes) -> list[Any]:
    """The fonts of all pages, down to those that hold the glyphs."""
    found = {}
    for page in reader(pdf).pages:
        resources: Any = page["/Resources"]
        for font in resources.get("/Font", {}).values():
            inner = font.get_object()["/DescendantFonts"][0].get_object()
            found[inner["/BaseFont"]] = inner
    return list(found.values())


def structure(pdf: bytes) -> list[Any]:
    """The elements that are read aloud, in their order."""
    root: Any = reader(pdf).trailer["/Root"]

    def below(element: Any) -> Iterator[Any]:
        kids = element.get("/K", [])
        for kid in kids if isinstance(kids, list) else [kids]:
            if isinstance(inner := kid.get_object(), dict):
                yield inner
                yield from below(inner)

    return list(below(root["/StructTreeRoot"]))


# ---- what kind of PDF it is


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_for_keeping_and_for_reading_aloud(language: str) -> None:
    pdf = render(sheet(language=language, words=voucher_labels(language, CODE)), cover=picture("#224466"))
    document = reader(pdf)
    root: Any = document.trailer["/Root"]
    described = root["/Metadata"].get_object().get_data().decode()
    assert "<pdfaid:part>2</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>" in described
    assert "<pdfuaid:part>1</pdfuaid:part>" in described
    assert root["/Lang"] == language
    assert root["/MarkInfo"]["/Marked"] is not None
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert document.metadata is not None
    assert document.metadata.title == "Gift voucher – A night"
    assert document.metadata.author == "Maison Valserène"
    assert len(document.pages) == 1
    assert [round(float(side)) for side in document.pages[0].mediabox[2:]] == [595, 842]  # A4 in points
    elements = structure(pdf)
    assert [element["/Alt"] for element in elements if element.get("/S") == "/Figure"] == [
        "A night", voucher_labels(language, CODE).qr,
    ]  # fmt: skip
    assert [element.get("/S") for element in elements].count("/H1") == 1


def test_every_font_comes_with_it() -> None:
    used = fonts_of(render(LONG))
    names = " ".join(str(font["/BaseFont"]) for font in used)
    assert "Inter" in names
    assert "Fraunces" in names
    for font in used:
        assert {"/FontFile2", "/FontFile3"} & set(font["/FontDescriptor"].get_object())


@pytest.mark.parametrize("font", HeadingFont)
def test_documents_are_set_in_the_heading_font_of_the_theme(font: HeadingFont) -> None:
    theme = BrandTheme(font, CornerRadius.NONE, "#fbf6ef")
    look = SheetBrand.from_brand(build_brand("Maison Valserène", "#6a4c9c", theme=theme))
    pdf = render(dataclasses.replace(LONG, look=look))
    names = " ".join(str(found["/BaseFont"]) for found in fonts_of(pdf))
    others = set(HEADING_FAMILIES.values()) - {HEADING_FAMILIES[font], "Inter"}
    assert HEADING_FAMILIES[font].replace(" ", "") in names
    assert not [family for family in others if family.replace(" ", "") in names]


def test_all_that_the_fonts_have_can_be_printed() -> None:
    """Were one character of them missing, PDF/A would refuse it. Of tens of thousands of Chinese and Korean ones a few."""
    characters = sorted(point for point in printable_characters() if point > 32)
    characters = [point for point in characters if not 0x3400 <= point <= 0xD7A3 or point % 16 == 0]
    for start in range(0, len(characters), 4000):
        text = " ".join(chr(point) for point in characters[start : start + 4000])
        assert render(sheet(message=text, included=[text[:400]], name=text[:80] or "x")).startswith(b"%PDF")


def test_fonts_have_their_licence_and_are_small() -> None:
    names = {font.name.partition("_")[0] for font in FONTS.glob("*.ttf")}
    licence, other = (FONTS / "LICENSE.txt").read_text(), (FONTS / "LICENSE-DroidSansFallback.txt").read_text()
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert "Apache License" in other
    scripts = ("Arabic", "Armenian", "Devanagari", "Georgian", "Hebrew", "Thai")
    families = {*HEADING_FAMILIES.values(), "Noto Emoji", *(f"Noto Sans {script}" for script in scripts)}
    assert names == {family.replace(" ", "") for family in families} | {"DroidSansFallback.ttf"}
    for family in families:
        assert f"{family}: Copyright" in licence
    assert sum(font.stat().st_size for font in FONTS.glob("*.ttf")) < 7_000_000


def test_the_same_is_the_same_to_the_byte() -> None:
    assert render(LONG) == render(LONG)
    assert render(LONG) != render(SHORT)


async def test_documents_are_made_beside_each_other() -> None:
    first = await render_pdf(SHORT, {}, MADE_ON)
    assert first == render(SHORT)
    assert len(renderer_version(SHORT.template, SHORT.pdf_standards)) == 64


# ---- what stands on it


def test_all_of_it_can_be_read() -> None:
    text = words(render(LONG))
    for said in (
        "Maison Valserène",
        "A night above the lake with dinner",
        "2 adults · 1 night",
        "number 11",
        "For Claire From Ada",
        "Happy birthday!",
        CODE,
        "Valid until 23 August 2027",
        "How to book Call us. 1. One 2. Two",
        "Conditions Not on holidays.",
        "12 chemin du Lac, Annecy",
    ):
        assert said in text, said


def test_what_is_long_goes_on_and_nothing_is_lost() -> None:
    longer = dataclasses.replace(
        LONG, small_print=[SmallPrintSection("Conditions", blocks_of_text("Not on holidays. " * 1200))]
    )
    pages = reader(render(longer)).pages
    assert len(pages) > 2
    assert words(render(longer)).count("Not on") == 1200  # neither word is ever hyphenated
    assert CODE in pages[0].extract_text()
    assert f"Gift voucher · {CODE}" in pages[1].extract_text()


@pytest.mark.parametrize("accent", ["#ffffff", "#000000", "#ffe600", "#6a4c9c"])
def test_the_code_can_be_scanned(accent: str) -> None:
    look = SheetBrand.from_brand(build_brand("Maison Valserène", accent))
    assert scanned(compile_sheet(sheet(look=look), {}, format="png", ppi=110)) == [SHORT.scanned]


def test_what_cannot_be_used_has_a_mark_and_nothing_to_scan() -> None:
    used = sheet(mark="Used", mark_hint="This voucher has been used.")
    assert scanned(compile_sheet(used, {}, format="png", ppi=110)) == []
    assert "USED" in words(render(used))
    assert "This voucher has been used." in words(render(used))
    assert SHORT.words.hint not in words(render(used))


def test_pictures_are_made_for_paper() -> None:
    big = picture("#aa3322", "PNG", (5000, 3000))
    pdf = render(SHORT, cover=big, logo=picture("#3366aa", "WEBP", (1200, 300)))
    assert len(pdf) < 400_000
    images = [image.image for page in reader(pdf).pages for image in page.images]
    assert max(image.width for image in images if image) == 1800
    (cover, logo) = sorted(colours(pdf), reverse=True)
    assert abs(cover[0] - 0xAA) < 6
    assert abs(logo[2] - 0xAA) < 6


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"no picture",
        picture("#123456")[:200],
        b"<svg xmlns='http://www.w3.org/2000/svg'><broken",
        b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><svg>&b;</svg>",
    ],
)
def test_a_picture_that_is_none_is_left_out(broken: bytes) -> None:
    pdf = render(SHORT, cover=broken, logo=broken)
    assert "A night" in words(pdf)
    assert "root:" not in words(pdf)
    assert colours(pdf) == []


def test_a_logo_may_be_drawn() -> None:
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 10'><rect width='40' height='10' fill='red'/></svg>"
    assert "Maison Valserène" not in words(render(SHORT, logo=svg)).partition("GIFT")[0]


def test_names_from_everywhere_are_printed() -> None:
    """In the order in which they are read, and told to who reads aloud in which language they are."""
    pdf = render(
        sheet(to="陈晓明", sender="יוסי כהן", message="お誕生日おめでとう\nอาหาร\n생일 축하해\nBonne fête ! 🎉")
    )
    read = words(pdf)
    for said in ("陈晓明", "お誕生日おめでとう", "อาหาร", "생일 축하해", "Bonne fête !"):
        assert said in read, said
    assert {element["/Lang"] for element in structure(pdf) if "/Lang" in element} == {"zh", "he", "ja", "th", "ko"}
    fonts = " ".join(str(font["/BaseFont"]) for font in fonts_of(pdf))
    assert "DroidSansFallback" in fonts
    assert "Droid" not in " ".join(str(font["/BaseFont"]) for font in fonts_of(render(SHORT)))


def test_a_name_that_no_font_has_is_left_out_and_the_rest_stands() -> None:
    unknown = SheetBrand.from_brand(build_brand("ሰላም", "#6a4c9c"))
    read = words(render(sheet(to="ሰላም ልዑል", sender="Ada", message="ሰላም Ada!", look=unknown)))
    assert "GIFT VOUCHER A night From Ada \N{WHITE SQUARE} Ada! Code" in read, read


# ---- what people write is text


HOSTILE = [
    '#read("/etc/passwd")',
    '#include "sheet.json"',
    "$x^2$ @label <label> *strong* _emph_ `raw` = Heading",
    "]); #panic() ([",
    '", "look": {"name": "stolen"}, "x": "',
    "\\u{1F600} \\ // /* */ ~ -- --- ...",
    "#sys.version #set page(width: 1pt)",
    "%PDF-1.7 endobj stream (\\) <</S /JavaScript>>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_people_write_is_text(text: str) -> None:
    fields = {"name": text, "to": text, "sender": text, "message": text, "description": text, "code": text}
    look = SheetBrand.from_brand(build_brand(text, "#6a4c9c"))
    parts = [SmallPrintSection(text, blocks_of_text(text))]
    read = words(render(sheet(**fields, look=look, included=[text], small_print=parts, contact=[text], facts=text)))
    assert read.count(" ".join(text.split())[:12]) >= 6, read


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet=st.characters(codec=None), max_size=300), st.text(max_size=80))
def test_anything_can_be_printed(message: str, name: str) -> None:
    look = SheetBrand.from_brand(build_brand(name, "#6a4c9c"))
    pdf = render(sheet(message=message, name=name, to=name, title=name, look=look, contact=[name]))
    assert pdf.startswith(b"%PDF")


def test_the_template_sees_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were something read as markup after all, there would be nothing to read."""
    places: list[dict[str, Any]] = []
    real = typst.Compiler

    def reading(_template: bytes, **more: Any) -> typst.Compiler:
        places.append(more)
        return real(b'#read("/etc/passwd") #read("../../../../etc/passwd")', **more)

    monkeypatch.setattr(typst, "Compiler", reading)
    with pytest.raises(rendering.RenderingFailed, match="not found"):
        render(SHORT)
    (given_,) = places
    assert given_["root"] == given_["package_path"] == given_["package_cache_path"]
    assert not given_["root"].exists()
