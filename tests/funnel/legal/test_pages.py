"""Legal texts in the shop: their pages, their links, and what a buyer agrees to."""

from collections.abc import Callable

import pytest

from resolvers import legal
from resolvers.checkout import steps
from resolvers.payment.checkout import payment
from schema.checkout.checkout import AgreedTotals, ProductChoice
from schema.checkout.legal import legal_path
from schema.core.errors import CheckoutChanged
from schema.core.text import TextInput
from schema.legal.input import PublishLegalDocument, RetireLegalDocument
from schema.legal.legal_document import LegalDocument, LegalDocumentKind
from schema.validation.languages import LANGUAGES
from store.core.localization.legal_texts import LEGAL_NAMES
from tests.fixtures.shop import RETURN, Shop, open_shop
from tests.funnel.checkout.basket_pages import FORM, GIFT_CARDS, STEPS, filled, identified, paid
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.servers.production import SERVICE_URL

TERMS, PRIVACY, IMPRINT = LegalDocumentKind.TERMS, LegalDocumentKind.PRIVACY, LegalDocumentKind.IMPRINT
SITE = "https://maison.example/privacy"
Visitors = Callable[[], Customer]


async def publish(shop: Shop, kind: LegalDocumentKind = TERMS, **texts: dict[str, str | None]) -> LegalDocument:
    """A version of a legal text of the shop."""
    named = {name: TextInput.model_validate(said) for name, said in texts.items()}
    input = PublishLegalDocument.model_validate({"kind": kind, **named})
    return await legal.publish_legal_document(shop.manager, input)


def links_of(customer: Customer, within: str) -> dict[str, str]:
    """The links in a part of the page: text and address."""
    return {
        a.text.split(" (")[0]: a.attributes["href"] for part in customer.page.all(class_=within) for a in part.all("a")
    }


async def at_payment(customer: Customer) -> Customer:
    """A customer who has only to pay, for a gift card of 50.00."""
    await customer.open(GIFT_CARDS)
    await filled(customer, FORM, {"value": "50.00", "reception": "print_at_home"})
    return await identified(customer, STEPS)


# ---- the page


async def test_a_version_is_shown_and_keeps_being_shown(shop: Shop, customer: Customer) -> None:
    first = await publish(shop, content={"en": "<h2>Price</h2><p>VAT is included.</p>"})
    await customer.open(legal_path(first.uuid))
    assert customer.response.status_code == 200
    assert customer.h1 == "Terms of sale"
    assert "VAT is included." in customer.page.one("main").text
    assert customer.page.all("h2")[0].text == "Price"
    check_headings(customer.page)
    check_controls(customer.page)
    check_headers(customer)
    second = await publish(shop, content={"en": "<p>VAT is not included.</p>"})
    await customer.open(legal_path(first.uuid))
    assert "VAT is included." in customer.page.one("main").text
    assert "in force until" in customer.page.one("main").text
    assert legal_path(second.uuid) in [a.attributes["href"] for a in customer.page.one("main").all("a")]
    await legal.retire_legal_document(shop.manager, RetireLegalDocument(id=second.id))
    await customer.open(legal_path(second.uuid))
    assert "in force until" in customer.page.one("main").text
    assert customer.page.one("main").all("a") == []


async def test_it_is_served_at_the_services_own_host_too(shop: Shop, customer: Customer) -> None:
    terms = await publish(shop, content={"en": "Terms"})
    assert (await customer.open(f"{SERVICE_URL}{legal_path(terms.uuid)}")).h1 == "Terms of sale"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_is_read_in_the_language_that_it_has(shop: Shop, customer: Customer, language: str) -> None:
    terms = await publish(shop, content={"fr": "<p>Nos conditions</p>", "de": "<p>Unsere AGB</p>"})
    await customer.open(legal_path(terms.uuid), **{"Accept-Language": language})
    assert customer.h1 == LEGAL_NAMES[TERMS].in_language(language)
    (text,) = customer.page.all("div", class_="rich")
    assert text.text == ("Unsere AGB" if language == "de" else "Nos conditions")
    assert text.attributes.get("lang") == (None if language in {"de", "fr"} else "fr")


async def test_a_text_elsewhere_is_linked_to(shop: Shop, customer: Customer) -> None:
    privacy = await publish(shop, PRIVACY, website={"en": SITE})
    await customer.open(GIFT_CARDS)
    assert links_of(customer, "foot-legal") == {"Privacy": SITE}
    await customer.open(legal_path(privacy.uuid))
    assert SITE in [a.attributes["href"] for a in customer.page.one("main").all("a")]


@pytest.mark.parametrize("path", ["00000000-0000-4000-8000-000000000000/", "1/", "language", ""])
async def test_what_is_no_version_is_not_found(customer: Customer, path: str) -> None:
    await customer.open(f"/legal/{path}")
    assert customer.response.status_code in {404, 405}


# ---- where it is linked to


async def test_without_texts_nothing_is_agreed_to(customer: Customer) -> None:
    await at_payment(customer)
    assert "terms" not in customer.page.one("main").text.lower()
    assert customer.page.all(class_="foot-legal") == []


async def test_a_buyer_agrees_to_what_is_in_force(shop: Shop, customer: Customer, visitors: Visitors) -> None:
    terms = await publish(shop, content={"en": "Ours"})
    await publish(shop, IMPRINT, content={"en": "Who we are"})
    await publish(shop, PRIVACY, website={"en": SITE})
    await at_payment(customer)
    path = legal_path(terms.uuid)
    assert links_of(customer, "agreed") == {"Terms of sale": path, "Privacy": SITE}
    assert list(links_of(customer, "foot-legal")) == ["Terms of sale", "Privacy", "Legal notice"]
    await paid(shop, customer)
    await publish(shop, content={"en": "Others"})
    assert links_of(await customer.open(customer.path), "links") == {"Terms of sale": path, "Privacy": SITE}
    accepted = await shop.one("SELECT array[terms_id, privacy_policy_id, withdrawal_policy_id] FROM shop_order")
    assert accepted == [terms.id, await shop.one("SELECT id FROM legal_document WHERE kind = 'privacy'"), None]


async def test_what_changes_meanwhile_is_shown_before_it_is_paid(shop: Shop, customer: Customer) -> None:
    await publish(shop, content={"en": "Ours"})
    await at_payment(customer)
    await publish(shop, content={"en": "Others"})
    await customer.send(f"{STEPS}payment/?")
    assert customer.step == "payment"
    assert await shop.one("SELECT count(*) FROM checkout_attempt") == 0
    await customer.send(f"{STEPS}payment/?")
    assert await shop.one("SELECT count(*) FROM checkout_attempt") == 1


async def test_an_open_payment_is_not_continued_under_other_terms(shop: Shop) -> None:
    await publish(shop, content={"en": "Ours"})
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    agreed = AgreedTotals.of(seen.totals, seen.brand.order_documents)
    first = await payment.start_payment(shop.context, key, agreed, "en", RETURN)
    assert (await payment.start_payment(shop.context, key, agreed, "en", RETURN)).attempt_id == first.attempt_id
    await publish(shop, content={"en": "Others"})
    with pytest.raises(CheckoutChanged):
        await payment.start_payment(shop.context, key, agreed, "en", RETURN)
    changed = await steps.open_checkout(shop.context, key)
    again = AgreedTotals.of(changed.totals, changed.brand.order_documents)
    second = await payment.start_payment(shop.context, key, again, "en", RETURN)
    assert second.attempt_id != first.attempt_id


async def test_its_language_is_changed_by_its_own_form(shop: Shop, customer: Customer) -> None:
    terms = await publish(shop, content={"en": "Terms", "fr": "Conditions"})
    await customer.open(legal_path(terms.uuid))
    await customer.send("/legal/language/", button=("language", "fr"))
    assert (customer.path, customer.h1) == (legal_path(terms.uuid), "Conditions générales de vente")
    assert customer.page.one("div", class_="rich").text == "Conditions"


async def test_no_shop_shows_the_text_of_another(shop: Shop, customer: Customer) -> None:
    terms = await publish(shop, content={"en": "Terms"})
    await open_shop(shop.services, shop.sandbox, "other.localhost")
    await customer.open(f"http://other.localhost{legal_path(terms.uuid)}")
    assert customer.response.status_code == 404
    assert "Terms" not in customer.page.one("main").text


async def test_a_change_of_the_legal_notice_stops_no_payment(shop: Shop, customer: Customer) -> None:
    await publish(shop, IMPRINT, content={"en": "Ada"})
    await at_payment(customer)
    assert customer.page.all(class_="agreed") == []
    await publish(shop, IMPRINT, content={"en": "Grace"})
    await paid(shop, customer)
    assert customer.step == "order"
