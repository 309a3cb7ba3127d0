"""From what a message tells to what is sent: its subject, HTML and text, in a language and with a shop's look."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from schema.checkout.checkout import Brand
from schema.mail import MailKind
from store.core.localization import Formats
from store.core.translations import Texts
from store.mail.content import Content
from store.mail.gift_words import GiftWords
from store.mail.subjects import SUBJECTS, TEST, subject_of
from store.order.texts import GOODS

__all__ = ["SUBJECTS", "TEST", "TEXTS", "Rendered", "rendered"]
TEXTS = Texts(Path(__file__).with_name("translations"))
SHOWN_LOGOS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""What most mail clients show. Instead of any other picture, an SVG above all, stands the shop's name."""
BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as people read it."""

    subject: str
    html: str
    text: str


def rendered(
    kind: MailKind | str,
    about: Content | None,
    language: str,
    brand: Brand,
    public_url: str,
    documents: Mapping[int, str] | None = None,
    *,
    attached: bool = False,
) -> Rendered:
    """A message. Pictures are named by their address below `public_url`; `documents` are the addresses of what it tells of,
    by its id, and `attached` whether all of them come with it."""
    subject = subject_of(kind, about, brand, Formats(language), TEXTS.translations(language))
    values = {
        "about": about,
        "brand": brand,
        "subject": subject,
        "logo": _logo(brand.logo_url, public_url),
        "documents": documents or {},
        "attached": attached,
    }
    html, text = (_environment(language).get_template(f"{kind}.{form}").render(values) for form in ("html", "txt"))
    return Rendered(subject, html, BLANK_LINES.sub("\n\n", text).strip() + "\n")


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
    made.globals.update(goods_named=GOODS, words=GiftWords(formats, texts))
    return made
