"""How messages look: the shop's colours, logo and fonts, nothing from elsewhere, and names that stay text."""

import dataclasses

import pytest

from schema.mail import MailKind
from schema.theme import BrandTheme, CornerRadius, HeadingFont
from tests.store.mail.examples import ACCOUNT_URL, KINDS, ORDER_URL, PUBLIC_URL, SHOP, TRACKING_URL, example, order
from tests.store.mail.page_reader import PageReader


def test_the_shops_colour_has_readable_words_on_it() -> None:
    html = example(
        MailKind.ORDER_CONFIRMATION, brand=dataclasses.replace(SHOP, accent="#ffe600", accent_ink="#000000")
    ).html
    assert "background:#ffe600" in html
    assert "color:#000000;text-decoration:none" in html


@pytest.mark.parametrize(
    ("logo", "shown"),
    [
        ("/media/abc.png", f"{PUBLIC_URL}/media/abc.png"),
        ("https://cdn.example/logo.JPG?v=2", "https://cdn.example/logo.JPG?v=2"),
        ("/media/abc/card.webp", f"{PUBLIC_URL}/media/abc/card.webp"),
        ("/media/abc.svg", ""),
        ("", ""),
    ],
)
def test_a_logo_is_shown_where_mail_programs_can(logo: str, shown: str) -> None:
    seen = PageReader(example(MailKind.ORDER_CONFIRMATION, brand=dataclasses.replace(SHOP, logo_url=logo)).html)
    assert ("img" in seen.tags) is bool(shown)
    assert (shown in seen.links) is bool(shown)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_loaded_from_elsewhere_and_nothing_runs(kind: str) -> None:
    seen = PageReader(example(kind).html)
    assert not {"script", "link", "iframe", "form", "img", "svg"} & set(seen.tags)
    assert all(
        link.startswith(
            (
                "https://valserene.example/",
                *(ACCOUNT_URL, ORDER_URL, TRACKING_URL),
                *(f"{PUBLIC_URL}/{page}/" for page in ("onboarding", "documents", "network", "pay", "legal")),
                *(f"{PUBLIC_URL}/admin/{page}/" for page in ("account", "forgot-password")),
                *("mailto:", "tel:"),
            )
        )
        for link in seen.links
    )


def test_names_are_text_and_nothing_else() -> None:
    evil = "<script>alert(1)</script>\"'&amp;{{ 7 * 7 }}%(name)s"
    content = order(first_name=evil, message=evil)
    for kind in (MailKind.ORDER_CONFIRMATION, MailKind.NEW_ORDER):
        message = example(kind, "fr", content, dataclasses.replace(SHOP, name=evil))
        seen = PageReader(message.html)
        assert "script" not in seen.tags
        assert evil in seen.text
        assert evil in message.text
        assert "49" not in message.text.replace("1049", "")


def test_messages_take_fonts_corners_and_tint_of_the_theme() -> None:
    plain = example(MailKind.ORDER_CONFIRMATION).html
    theme = BrandTheme(HeadingFont.JOST, CornerRadius.NONE, "#fbf6ef")
    themed = example(MailKind.ORDER_CONFIRMATION, brand=dataclasses.replace(SHOP, theme=theme)).html
    assert "font-family:Fraunces,Georgia" in plain
    assert "border-radius:999px" in plain
    assert "font-family:Jost,Futura" in themed
    assert "background:#fbf6ef;" in themed
    assert "border-radius:999px" not in themed
