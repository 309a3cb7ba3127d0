"""Eight languages: complete, chosen by the browser, changeable, and written as their people write."""

import datetime as dt
import inspect
import re
from decimal import Decimal

import pytest
from markupsafe import Markup

from funnel.core.languages import NAMES, TemplateTexts, catalogue, choose_language, translations
from funnel.core.messages import ERROR_PAGES, ERRORS, FIELD_ERRORS, LINE_PROBLEMS, NOTICES, REFUSALS, STEPS, ErrorPage
from resolvers.checkout import buyer, steps
from schema.cart.cart import CartItem
from schema.checkout.checkout import CheckoutNotice, CheckoutStep, LineProblem
from schema.validation.languages import LANGUAGES
from store.core.localization.formats import Formats
from tests.catalogues import TRANSLATED, check_complete, check_placeholders, check_translated, texts_in
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer

# ---- the catalogues ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_has_every_text_and_no_other(language: str) -> None:
    check_complete(catalogue(language), "funnel")


@pytest.mark.parametrize("language", TRANSLATED)
def test_placeholders_survive_translation(language: str) -> None:
    check_placeholders(catalogue(language))


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_is_one(language: str) -> None:
    check_translated(catalogue(language))


def test_everything_that_can_be_told_has_words() -> None:
    assert set(LINE_PROBLEMS) == set(LineProblem)
    assert set(NOTICES) == set(CheckoutNotice)
    assert set(STEPS) == set(CheckoutStep)
    assert set(ERROR_PAGES) == set(ErrorPage)
    told = [*LINE_PROBLEMS.values(), *ERRORS.values(), *FIELD_ERRORS.values(), *STEPS.values()]
    told += [
        text
        for entry in (*NOTICES.values(), *ERROR_PAGES.values(), *REFUSALS.values())
        for text in (entry.title, entry.text)
    ]
    assert set(told) <= texts_in("funnel")


def test_every_code_of_an_operation_has_words() -> None:
    source = inspect.getsource(steps) + inspect.getsource(buyer)
    codes = set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+|REQUIRED)"', source))
    assert len(codes) > 5
    assert codes <= set(ERRORS)


def test_a_language_is_read_from_its_source() -> None:
    assert translations("fr").gettext("Your order") == "Votre commande"
    assert translations("en").gettext("Your order") == "Your order"
    assert set(NAMES) == set(LANGUAGES)


def test_values_in_texts_are_escaped_and_texts_are_not() -> None:
    texts = TemplateTexts(translations("fr"))
    assert texts.gettext("for %(name)s", name="<b>") == "pour &lt;b&gt;"
    assert texts.gettext("for %(name)s", name="Ada") == "pour Ada"
    assert [str(texts.gettext("<i>100 %%</i>")) for _ in range(2)] == ["<i>100 %</i>"] * 2
    assert isinstance(texts.gettext("Your order"), Markup)
    assert [texts.ngettext("%(num)s night", "%(num)s nights", count) for count in (1, 2)] == ["1 nuit", "2 nuits"]


# ---- which language ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cookie", "header", "language"),
    [
        ("", "", "en"),
        ("", "de", "de"),
        ("", "fr-CA,fr;q=0.9,en;q=0.8", "fr"),
        ("", "ja, pt-BR;q=0.5, nl;q=0.7", "nl"),
        ("", "fr;q=0, it", "it"),
        ("", "ja, zh", "en"),
        ("", "de;q=x, es", "es"),
        ("", ";;;,,,q=", "en"),
        ("ca", "de", "ca"),
        ("xx", "de", "de"),
    ],
)
def test_the_choice_then_the_browser_then_english(cookie: str, header: str, language: str) -> None:
    assert choose_language(cookie, header) == language


async def test_pages_speak_the_language_of_the_browser(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("1234.50")
    cart = await shop.cart(CartItem(candle.id, 1))
    path = f"/ecommerce/shop/customization/?cart={cart.id}"
    for language in LANGUAGES:
        await customer.open(path, **{"Accept-Language": language})
        assert customer.page.one("html").attributes["lang"] == language
        assert customer.h1 == translations(language).gettext("Your order")
        assert customer.response.headers["content-language"] == language
    await customer.open(path, **{"Accept-Language": "fr"})
    assert customer.page.one("h3").text == "Bougie"
    assert customer.page.one(data_live="total").text == "1 234,50 €"


async def test_a_language_is_changed_on_any_page_and_kept(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, 1))
    path = f"/ecommerce/shop/customization/?cart={cart.id}"
    await customer.open(path)
    await customer.send("/ecommerce/shop/language/", None, ("language", "ca"))
    assert customer.path == path
    assert customer.h1 == "La teva comanda"
    chosen_now = customer.page.one("button", aria_current="true")
    assert chosen_now.text == "Català"
    assert chosen_now.attributes["lang"] == "ca"
    await customer.open(path, **{"Accept-Language": "de"})
    assert customer.h1 == "La teva comanda"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example",
        "/ecommerce/shop/\\evil",
        "/ecommerce/shop/../x\r\nX: y",
        "javascript:1",
    ],
)
async def test_changing_the_language_leads_nowhere_else(shop: Shop, customer: Customer, elsewhere: str) -> None:
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, 1))
    await customer.open(f"/ecommerce/shop/customization/?cart={cart.id}")
    await customer.send("/ecommerce/shop/language/", {"next": elsewhere}, ("language", "fr"))
    assert customer.step == "customization"
    assert customer.h1 == "Votre commande"


# ---- how things are written --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "amount", "date", "percent"),
    [
        ("en", "€1,234.50", "23 August 2026", "5.5%"),
        ("fr", "1 234,50 €", "23 août 2026", "5,5 %"),
        ("de", "1.234,50 €", "23. August 2026", "5,5 %"),
        ("pt", "1 234,50 €", "23 de agosto de 2026", "5,5%"),
    ],
)
def test_amounts_and_dates(language: str, amount: str, date: str, percent: str) -> None:
    formats = Formats(language)
    evening = dt.datetime(2026, 8, 22, 22, 30, tzinfo=dt.UTC)
    plain = [
        written.replace("\xa0", " ").replace("\u202f", " ")
        for written in (
            formats.money(Decimal("1234.50"), "EUR"),
            formats.date(evening, "Europe/Paris"),
            formats.percent(Decimal("5.50")),
        )
    ]
    assert plain == [amount, date, percent]


def test_countries_are_in_the_order_of_their_names() -> None:
    french, english = Formats("fr").countries(), Formats("en").countries()
    assert len(french) == len(english) > 240
    assert [code for code, _ in french].index("ET") < [code for code, _ in french].index("FR")
    assert dict(french)["DE"] == "Allemagne"
    assert not {"EU", "ZZ", "UN"} & dict(english).keys()
    assert Formats("es").countries(["FR", "ES"]) == [("ES", "España"), ("FR", "Francia")]
    assert Formats("es").country("") == ""
