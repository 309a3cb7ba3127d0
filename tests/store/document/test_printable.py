"""Texts of people, made printable; HTML of partners, made text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.document.font_coverage import printable_characters
from store.document.printable import (
    BREAK,
    HYPHEN,
    JOINERS,
    PLACEHOLDER,
    detect_language,
    is_rtl,
    printable,
    printable_exact,
    printable_lines,
)
from store.document.rich import BULLET, TextRun, blocks_of_html, blocks_of_text, plain_text_of


@pytest.mark.parametrize(
    "text",
    [
        "Œuvre, Ångström, Żółć, Ğışçö, Ñandú, ŀla, ão, ẞ, ț, Ő, ʼn",
        "€ £ ₺ № ™ “„«»” – — … ½ × ÷ ±",
        "Привет, Ελλάδα, שלום, مرحبا",
        "🎉 ❤ 🥂 👩\u200d👧 ☺",
        "陈晓明，生日快乐！ 山田太郎さま 이순신",
        "สุขสันต์วันเกิด, अमित कुमार, Ծնունդդ, შენ",
    ],
)
def test_what_people_write_is_kept(text: str) -> None:
    assert printable(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a\x00b\x07c\td", "a b c d"),
        ("  two \u2003 words\u00ad ", "two words\u00ad"),
        ("pay \u202eelpoep\u202c\u2066!\u2069", "pay elpoep!"),
        ("𝓕𝓪𝓷𝓬𝔂 Ｗｉｄｅ", "Fancy Ｗｉｄｅ"),
        ("ለ ሰላም, ልዑል!", f"{PLACEHOLDER}, {PLACEHOLDER}!"),
        ("ሰላም ልዑል", ""),
        ("180,00\xa0€ \xa0 1\u202f234", "180,00\xa0€ \xa0 1\xa0234"),
        ("葛\U000e0100城", "葛城"),
        ("\ue000\ud800\ufeff", ""),
        (" \u200d \u00ad\ufe0f", ""),
        ("Z" + "\u0301" * 50, "\u0179" + "\u0301" * 3),
    ],
)
def test_what_cannot_be_printed_is_something_else(text: str, printed: str) -> None:
    assert printable(text) == printed


def test_a_very_long_word_can_be_broken_and_a_code_is_not() -> None:
    word = "Donaudampfschifffahrtsgesellschaftskapitän"
    assert HYPHEN in printable(word)
    assert printable(word).replace(HYPHEN, "") == word
    assert max(map(len, printable("W" * 500).split(HYPHEN))) <= 12
    assert printable_exact(word) == word
    address = "https://valserene.example/" + "very" * 12
    assert printable(address).replace(BREAK, "") == address  # a hyphen would be taken for one of its own
    for whole in (
        "Straßenbahnhaltestelle",
        "Hohenlohe-Waldenburg-Schillingsfürst",
        "祝你们在湖边度过美好的周末" * 3,
        "สุขสันต์วันเกิด" * 4,
    ):
        assert printable(whole) == whole, whole


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Claire Dubois", ""),
        ("Claire 明", ""),
        ("陈晓明", "zh"),
        ("山田太郎さま", "ja"),
        ("이순신", "ko"),
        ("ณัฐวุฒิ", "th"),
        ("משה כהן (Paris)", "he"),
        ("123 🎉", ""),
        ("", ""),
    ],
)
def test_letters_tell_a_language(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_lines_are_kept_and_empty_ones_are_few() -> None:
    assert printable_lines("\n\nDear  Ada,\r\n\r\n\r\n\r\nlove\u2028Jean\n") == "Dear Ada,\n\nlove\nJean"


def test_which_way_it_is_read() -> None:
    assert is_rtl("שלום Ada")
    assert is_rtl("123 مرحبا")
    assert not is_rtl("Ada שלום")
    assert not is_rtl("123")


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_nothing_that_the_fonts_lack_is_left(text: str) -> None:
    fonts = printable_characters()
    left = set(printable_lines(text)) - {BREAK, "\n", *JOINERS}
    assert [character for character in left if ord(character) not in fonts] == []


def test_html_becomes_paragraphs_and_lists() -> None:
    html = (
        "<h3>Booking</h3><p>Call <b>us</b> or <em>write</em> at <a href='https://a.example/?x=1'>our&nbsp;site</a>.</p>"
        "<ol><li>One</li><li><p>Two</p></li></ol><ul><li>Dot</li></ul>tail<br>end"
    )
    blocks = blocks_of_html(html)
    assert ["".join(run.text for run in block.runs).strip() for block in blocks] == [
        "Booking",
        "Call us or write at our\xa0site.",
        "One",
        "Two",
        "Dot",
        "tail",
        "end",
    ]
    assert [block.mark for block in blocks] == ["", "", "1.", "2.", BULLET, "", ""]
    assert blocks[0].runs == [TextRun("Booking", strong=True)]
    assert TextRun("us", strong=True) in blocks[1].runs
    assert TextRun("write", emphasis=True) in blocks[1].runs
    assert blocks[1].runs[-2].link == "https://a.example/?x=1"


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<style>p{}</style><iframe src='x'></iframe><img src=x onerror=y>",
        "<p> </p><ul><li></li></ul>",
        "<!-- nothing -->",
    ],
)
def test_html_that_does_something_says_nothing(html: str) -> None:
    assert blocks_of_html(html) == []


def test_links_lead_where_paper_can_lead() -> None:
    for address in ("javascript:alert(1)", "/relative", "file:///etc/passwd", "data:text/html,x", "https://[broken"):
        (block,) = blocks_of_html(f'<p><a href="{address}">here</a></p>')
        assert [run.link for run in block.runs] == [""], address
    (block,) = blocks_of_html('<a href="mailto:a@b.example">write</a>')
    assert block.runs[0].link == "mailto:a@b.example"


def test_a_text_may_be_either() -> None:
    assert plain_text_of("<p>Calm &amp; warm.</p><p>Twice.</p>") == "Calm & warm. Twice."
    assert plain_text_of("1 < 2 & 3 > 2 <3") == "1 < 2 & 3 > 2 <3"
    assert [block.runs[0].text for block in blocks_of_text("One.\n\nTwo &amp;.")] == ["One.", "Two &amp;."]
