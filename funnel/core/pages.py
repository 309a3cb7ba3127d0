"""Renders templates as HTTP responses: translations, security headers and compression."""

import gzip
from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from funnel.core.basket_messages import BASKET_PROBLEMS, RECEPTION_TEXTS, rule_of
from funnel.core.brand_sheets import heading_font_path
from funnel.core.experience_links import experience_path
from funnel.core.html import rich
from funnel.core.languages import NAMES, TEXTS, TemplateTexts
from funnel.core.messages import (
    ADD_LINE_TEXTS,
    COUPON_PROBLEMS,
    DELIVERY_PROBLEMS,
    LINE_PROBLEMS,
    NOTICES,
    OCCASION_NAMES,
    START_LINK_TEXTS,
    STEPS,
    PageMessage,
)
from funnel.core.payment_methods import METHOD_TEXTS
from funnel.core.static_files import Assets, accepts_gzip
from schema.media import picture_srcset
from schema.validation.html import plain_text
from store.core.compiled_templates import compiled_templates
from store.core.localization.formats import Formats
from store.core.localization.legal_texts import LEGAL_NAMES
from store.core.localization.sale_texts import GIFT_CARD_NAME, RECEPTION_NAMES, SHOP_KIND_NAMES

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every page.

`form-action` allows only our own pages, because browsers apply it to redirects after a form too. The payment provider
is therefore reached from a page that redirects by itself.
"""
SMALLEST_COMPRESSED = 1000


NAMES_IN_TEMPLATES: Mapping[str, Any] = {
    "added_named": ADD_LINE_TEXTS,
    "basket_problems": BASKET_PROBLEMS,
    "coupon_problems": COUPON_PROBLEMS,
    "delivery_problems": DELIVERY_PROBLEMS,
    "experience_path": experience_path,
    "gift_card_named": GIFT_CARD_NAME,
    "hero_srcset": picture_srcset,
    "heading_font_path": heading_font_path,
    "goods_named": SHOP_KIND_NAMES,
    "language_names": NAMES,
    "legal_named": LEGAL_NAMES,
    "line_problems": LINE_PROBLEMS,
    "methods_told": METHOD_TEXTS,
    "notices_told": NOTICES,
    "occasions_named": OCCASION_NAMES,
    "offered_named": START_LINK_TEXTS,
    "receptions_named": RECEPTION_NAMES,
    "steps_named": STEPS,
    "ways": RECEPTION_TEXTS,
}
"""What templates know in every language."""


class PageEnvironment(Environment):
    """An environment whose templates have no globals of their own."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """The environment's globals. Jinja would chain `d` to them, which slows down each include and import."""
        if d:
            raise TypeError("Templates have no globals of their own: pass values to `render`.")
        return self.globals


class PageTemplates:
    """The Jinja environments, one per language."""

    package = "funnel"
    """The package with the folder of the templates."""
    names = NAMES_IN_TEMPLATES
    """What templates know in every language."""
    texts = TEXTS

    def __init__(self, *, reload: bool = False) -> None:
        """With `reload`, changed templates are loaded again while the program runs."""
        self.assets = self.load_assets()
        self._reload = reload
        self._environments: dict[str, Environment] = {}

    def load_assets(self) -> Assets:
        """The style sheets, scripts and fonts of the pages."""
        return Assets()

    def environment(self, language: str) -> Environment:
        if language not in self._environments:
            self._environments[language] = self._environment(language)
        return self._environments[language]

    def _environment(self, language: str) -> Environment:
        environment = PageEnvironment(
            loader=PackageLoader(self.package),
            autoescape=True,
            auto_reload=self._reload,
            bytecode_cache=compiled_templates,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        texts = self.texts.translations(language)
        template_texts, formats = TemplateTexts(texts), Formats(language)
        environment.filters.update(plain=plain_text, rich=rich, said=formats.translate)
        environment.globals.update(
            self.names,
            _=template_texts.gettext,
            gettext=template_texts.gettext,
            ngettext=template_texts.ngettext,
            asset=self.assets.path,
            formats=formats,
            language=language,
            less=formats.negative_money,
            money=formats.money,
            rule_of=partial(rule_of, texts),
            whole_money=formats.whole_money,
        )
        return environment

    def markup(self, language: str, template: str, values: Mapping[str, Any]) -> str:
        """The HTML of a page."""
        return self.environment(language).get_template(template).render(**values)

    def render(self, request: Request, language: str, template: str, status: int = 200, /, **values: Any) -> Response:
        """Render a page."""
        html = self.markup(language, template, values).encode()
        headers = HEADERS | {"Content-Language": language, "Vary": "Accept-Encoding"}
        if len(html) >= SMALLEST_COMPRESSED and accepts_gzip(request):
            html, headers["Content-Encoding"] = gzip.compress(html, 6, mtime=0), "gzip"
        return HTMLResponse(html, status, headers)

    def render_message(self, request: Request, language: str, message: PageMessage, status: int) -> Response:
        """A message on a page without a brand."""
        return self.render(
            request, language, "message.html", status, told=message, ways=(), brand=None, request=None, current=None
        )
