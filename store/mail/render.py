"""From what a message tells to what is sent: its subject, HTML and text, in a language and with a shop's look."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from schema.checkout import Brand
from schema.mail import MailKind
from store.formats import Formats
from store.mail.content import Content, EndpointContent, OrderContent
from store.texts import Texts

TEXTS = Texts(Path(__file__).with_name("translations"))
SHOWN_LOGOS = (".png", ".jpg", ".jpeg", ".gif")
"""What mail clients show. Instead of any other picture, an SVG above all, stands the shop's name."""
BLANK_LINES = re.compile(r"\n{3,}")


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation, and leave it as it is."""
    return text


TEST = "test"
"""The template of a message that `coffret mail test` sends."""
SUBJECTS = {
    MailKind.ORDER_CONFIRMATION: N_("Your order %(number)s at %(shop)s"),
    MailKind.NEW_ORDER: N_("New order %(number)s: %(total)s"),
    MailKind.PAYMENT_REFUNDED: N_("Your payment at %(shop)s is being refunded"),
    MailKind.ONBOARDING_LINK: N_("Card payments at %(shop)s: your confirmation is needed"),
    MailKind.ENDPOINT_DISABLED: N_("Events are no longer sent to %(host)s"),
    TEST: N_("Mail works"),
}


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as people read it."""

    subject: str
    html: str
    text: str


def rendered(kind: MailKind | str, about: Content | None, language: str, brand: Brand, public_url: str) -> Rendered:
    """A message. Pictures are named by their address below `public_url`."""
    subject = _subject(kind, about, language, brand)
    values = {"about": about, "brand": brand, "subject": subject, "logo": _logo(brand.logo_url, public_url)}
    html, text = (_environment(language).get_template(f"{kind}.{form}").render(values) for form in ("html", "txt"))
    return Rendered(subject, html, BLANK_LINES.sub("\n\n", text).strip() + "\n")


def _subject(kind: MailKind | str, about: Content | None, language: str, brand: Brand) -> str:
    gaps = {"shop": brand.name}
    if isinstance(about, OrderContent):
        total = Formats(language).money(about.total_amount, about.currency)
        gaps |= {"number": str(about.number), "total": total}
    if isinstance(about, EndpointContent):
        gaps |= {"host": urlsplit(about.url).hostname or about.url}
    return TEXTS.translations(language).gettext(SUBJECTS[kind]) % gaps


def _logo(url: str, public_url: str) -> str:
    """The address of a logo that mail clients can show; empty when they cannot."""
    if not url.partition("?")[0].lower().endswith(SHOWN_LOGOS):
        return ""
    return f"{public_url}{url}" if url.startswith("/") else url


@functools.cache
def _environment(language: str) -> Environment:
    """The templates of a language: HTML, where everything is escaped, and text."""
    made = Environment(
        loader=PackageLoader("store.mail"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    texts = TEXTS.translations(language)
    made.install_gettext_callables(texts.gettext, texts.ngettext, newstyle=True)  # type: ignore[attr-defined]
    formats = Formats(language)
    made.filters.update(said=formats.said)
    made.globals.update(formats=formats, language=language, less=formats.less, money=formats.money)
    return made
