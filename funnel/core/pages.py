"""From a template to an answer: texts of the language, safe headers, compressed."""

import gzip
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from funnel.checkout.basket_messages import PROBLEMS, WAYS, rule_of
from funnel.core.html import plain, rich
from funnel.core.languages import NAMES, translations
from funnel.core.messages import COUPON_PROBLEMS, DELIVERY_PROBLEMS, LINE_PROBLEMS, NOTICES, OFFERED, STEPS, Told
from funnel.core.static_files import Assets, accepts_gzip
from store.core.localization import Formats
from store.order.texts import GIFT_CARD, GOODS, RECEPTIONS

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
"""Of every page. Forms go to us only: the way to the payment provider is a page of ours that leads on by itself, because
browsers hold every later redirect of a form against `form-action`, and a provider's addresses are its own affair."""
SMALLEST_COMPRESSED = 1000


class Pages:
    """The templates, once for each language."""

    def __init__(self, *, reload: bool = False) -> None:
        """With `reload`, templates that change while the program runs are read again."""
        self.assets = Assets()
        self._reload = reload
        self._environments: dict[str, Environment] = {}

    def environment(self, language: str) -> Environment:
        """The templates of a language."""
        if language not in self._environments:
            self._environments[language] = self._environment(language)
        return self._environments[language]

    def _environment(self, language: str) -> Environment:
        environment = Environment(
            loader=PackageLoader("funnel"),
            autoescape=True,
            auto_reload=self._reload,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.i18n"],
        )
        texts = translations(language)
        environment.install_gettext_callables(texts.gettext, texts.ngettext, newstyle=True)  # type: ignore[attr-defined]
        environment.policies["ext.i18n.trimmed"] = True
        formats = Formats(language)
        environment.filters.update(plain=plain, rich=rich, said=formats.said)
        environment.globals.update(
            asset=self.assets.path,
            bag_problems=PROBLEMS,
            coupon_problems=COUPON_PROBLEMS,
            delivery_problems=DELIVERY_PROBLEMS,
            formats=formats,
            gift_card_named=GIFT_CARD,
            goods_named=GOODS,
            language=language,
            less=formats.less,
            language_names=NAMES,
            line_problems=LINE_PROBLEMS,
            money=formats.money,
            notices_told=NOTICES,
            offered_named=OFFERED,
            receptions_named=RECEPTIONS,
            rule_of=partial(rule_of, texts),
            steps_named=STEPS,
            ways=WAYS,
            whole_money=formats.whole_money,
        )
        return environment

    def answer(self, request: Request, language: str, template: str, status: int = 200, **values: Any) -> Response:
        """A page as it is sent."""
        html = self.environment(language).get_template(template).render(**values).encode()
        headers = HEADERS | {"Content-Language": language, "Vary": "Accept-Encoding"}
        if len(html) >= SMALLEST_COMPRESSED and accepts_gzip(request):
            html, headers["Content-Encoding"] = gzip.compress(html, 6, mtime=0), "gzip"
        return HTMLResponse(html, status, headers)

    def message(self, request: Request, language: str, told: Told, status: int) -> Response:
        """A message on a page of nobody's."""
        return self.answer(
            request, language, "message.html", status, told=told, ways=(), brand=None, visit=None, current=None
        )
