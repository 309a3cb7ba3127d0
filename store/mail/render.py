"""Renders a message: its subject, HTML and text, in a language and with a shop's brand."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from schema.checkout.brand import Brand
from schema.mail import MailKind
from store.account.links import ACCOUNT_PAGE, FORGOTTEN_PAGE
from store.core.compiled_templates import compiled_templates
from store.core.localization.formats import Formats
from store.core.localization.legal_texts import LEGAL_NAMES
from store.core.localization.sale_texts import SHOP_KIND_NAMES
from store.core.localization.translations import Texts
from store.mail.gift_details import GiftDetails
from store.mail.gift_words import GiftTexts
from store.mail.link_content import Content
from store.mail.look import mail_look
from store.mail.pictures import MailPictures
from store.mail.subjects import subject_of

TEXTS = Texts(Path(__file__).with_name("translations"))
SUPPORTED_TYPES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""Types that most mail clients show. In place of any other logo, such as an SVG, the shop's name is shown."""
BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class MailLinks:
    """The addresses of the documents of a message and of the pages for their holders, by the id of what they are of."""

    documents: Mapping[int, str] = field(default_factory=dict)
    pages: Mapping[int, str] = field(default_factory=dict)
    passes: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """Of each, the addresses of the passes by the name of the wallet."""
    details: Mapping[int, GiftDetails] = field(default_factory=dict)
    is_attached: bool = False
    enclosed: tuple[str, ...] = ()
    """What else is attached, by name."""
    """True if all documents are attached."""
    has_calendar: bool = False
    """True if a calendar file with the last day is attached."""
    balance: str = ""
    """The address of the page that tells what is left of a code; empty if the message has none."""
    order: str = ""
    """The address of the order's page; empty if the message is about no order, or not for its buyer."""
    account: str = ""
    """The address where a user chooses a password; empty in all other messages."""


@dataclass(frozen=True, slots=True)
class RenderedMail:
    """A rendered message."""

    subject: str
    html: str
    text: str


def render_mail(
    kind: MailKind | str,
    about: Content | None,
    language: str,
    brand: Brand,
    public_url: str,
    links: MailLinks | None = None,
    pictures: MailPictures | None = None,
) -> RenderedMail:
    """Render a message, with links to its documents. Pictures that are not enclosed are referenced by their address below
    `public_url`.
    """
    links, pictures = links or MailLinks(), pictures or MailPictures()
    address_of = functools.partial(_picture, public_url=public_url, pictures=pictures)
    logo = address_of(brand.logo_url)
    subject = subject_of(kind, about, brand, Formats(language), TEXTS.translations(language))
    values = {
        "about": about,
        "brand": brand,
        "look": mail_look(brand.theme),
        "subject": subject,
        "logo": logo,
        "dark_logo": f"cid:{pictures.dark_logo.id}" if pictures.dark_logo else logo,
        "documents": links.documents,
        "pages": links.pages,
        "passes": links.passes,
        "address_of": address_of,
        "page_at": functools.partial(_page, public_url=public_url),
        "details": links.details,
        "attached": links.is_attached,
        "enclosed": links.enclosed,
        "has_calendar": links.has_calendar,
        "balance_url": links.balance,
        "order_url": links.order,
        "account_url": links.account,
        "account_page": _page(ACCOUNT_PAGE, public_url),
        "forgotten_page": _page(FORGOTTEN_PAGE, public_url),
    }
    html, text = (_environment(language).get_template(f"{kind}.{form}").render(values) for form in ("html", "txt"))
    return RenderedMail(subject, html, BLANK_LINES.sub("\n\n", text).strip() + "\n")


def _picture(url: str, *, public_url: str, pictures: MailPictures) -> str:
    """The address of a picture that mail clients can show, in the message or elsewhere; empty for any other."""
    if url in pictures.by_path:
        return f"cid:{pictures.by_path[url].id}"
    if not url.partition("?")[0].lower().endswith(SUPPORTED_TYPES):
        return ""
    return _page(url, public_url)


def _page(address: str, public_url: str) -> str:
    """The address of a page, which may be a path on this service."""
    return f"{public_url}{address}" if address.startswith("/") else address


@functools.cache
def _environment(language: str) -> Environment:
    """The templates of a language: HTML with autoescaping, and text."""
    environment = Environment(
        loader=PackageLoader("store.mail"),
        autoescape=select_autoescape(["html"]),
        bytecode_cache=compiled_templates,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    texts = TEXTS.translations(language)
    environment.install_gettext_callables(texts.gettext, texts.ngettext, newstyle=True)  # type: ignore[attr-defined]
    formats = Formats(language)
    environment.filters.update(said=formats.translate)
    environment.globals.update(formats=formats, language=language, less=formats.negative_money, money=formats.money)
    environment.globals.update(goods_named=SHOP_KIND_NAMES, legal_named=LEGAL_NAMES, words=GiftTexts(formats, texts))
    return environment
