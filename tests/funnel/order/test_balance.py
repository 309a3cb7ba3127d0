"""The page that tells what is left of a voucher or gift card: to whoever has the code, and nothing about persons."""

import datetime as dt

import pytest

from schema.gift_card.gift_card import GiftCardStatus
from schema.validation.languages import LANGUAGES
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.core.codes import ALPHABET, generate_code
from store.voucher.vouchers import VoucherRow
from tests.fixtures.document import UNTIL, gift_card, prototype, voucher
from tests.fixtures.network_prints import box_of, card_of, design_of, voucher_of
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import GIFT_CARDS, WINDOW
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.servers.production import SERVICE_URL

PAGE = "/balance/"
PERSONAL = ("Ada", "Claire", "example.com", "Bonne")
UNKNOWN = "This shop does not know this code. Check that it is typed correctly, and that it is of this shop."


async def ask(customer: Customer, code: str) -> str:
    """Enter a code, and what the page says then."""
    await customer.open(PAGE)
    await customer.send(PAGE, code=code)
    assert customer.path == PAGE, "the code is in no address"
    return customer.page.one("main").text.replace("\xa0", " ")


async def test_a_gift_card_says_what_is_left(shop: Shop, customer: Customer) -> None:
    card = await gift_card(shop)
    await shop.execute("UPDATE gift_card SET remaining_amount = 30, status = 'using' WHERE id = :id", id=card.id)
    told = await ask(customer, card.code)
    for text in ("Gift card", "€30.00 of €150.00", "It can be used", "Valid until 23 August 2027"):
        assert text in told, text
    assert not [text for text in (*PERSONAL, card.code) if text in customer.response.text]
    check_headings(customer.page)
    check_controls(customer.page)
    check_headers(customer)
    assert "no-store" in customer.response.headers["cache-control"]
    assert customer.page.one("meta", name="robots").attributes["content"] == "noindex"


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({}, "It can be used"),
        ({"state": VoucherState.USED, "used_on": UNTIL}, "It has been used"),
        ({"expires_on": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}, "It has expired"),
        ({"refunded_on": UNTIL}, "It was refunded or cancelled, and can no longer be used"),
        ({"frozen_on": UNTIL}, "It cannot be used at the moment."),
    ],
)
async def test_a_voucher_says_whether_it_can_be_used(
    shop: Shop, customer: Customer, values: dict[str, object], verdict: str
) -> None:
    row: VoucherRow = await voucher(shop, await prototype(shop), **values)
    told = await ask(customer, row.code.lower())
    assert verdict in told
    assert "A night above the lake" in told
    assert "€180" not in told, "it is a present"
    assert not [text for text in PERSONAL if text in customer.response.text]


async def test_a_network_is_told_of_where_its_codes_are_taken(shop: Shop, customer: Customer) -> None:
    await shop.execute("UPDATE partner SET linked_to_ngc_settings = true, linked_to_nv_settings = true")
    later = clock.now() + dt.timedelta(days=40)
    card = await card_of(shop, design_id=(await design_of(shop)).id, starts_on=later)
    told = await ask(customer, card.code)
    assert "Happy birthday" in told
    assert "It can be used from " in told
    held = await voucher_of(shop, await box_of(shop))
    told = await ask(customer, held.code)
    assert "Spa day for two" in told
    assert "Usages left 3" in told


async def test_what_is_no_code_is_told_at_its_field(shop: Shop, customer: Customer) -> None:
    code, draft = generate_code(), await gift_card(shop, status=GiftCardStatus.DRAFT)
    mistyped = code[:-1] + next(letter for letter in ALPHABET if letter != code[-1])
    for typed, wrong in (
        ("", "Enter a code."),
        (mistyped, "This code has a typing mistake. Compare it with the one you have, character by character."),
        (code, UNKNOWN),
        (draft.code, UNKNOWN),
    ):
        await ask(customer, typed)
        assert (customer.response.status_code, customer.errors) == (422, [wrong])
        check_controls(customer.page)
        check_headings(customer.page)


async def test_guesses_are_limited(shop: Shop, customer: Customer) -> None:
    card = await gift_card(shop)
    statuses = []
    for _ in range(21):
        await ask(customer, generate_code())
        statuses.append(customer.response.status_code)
    assert statuses == [422] * 20 + [429]
    assert customer.errors == ["Too many attempts. Wait a few minutes, then try again."]
    assert int(customer.response.headers["retry-after"]) > 0
    await ask(customer, card.code)
    assert customer.response.status_code == 429, "it would tell which codes are right otherwise"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_the_language_of_the_customer(shop: Shop, customer: Customer, language: str) -> None:
    await customer.open(PAGE)
    await customer.send("/ecommerce/shop/language/", button=("language", language))
    assert (customer.path, customer.page.one("html").attributes["lang"]) == (PAGE, language)
    await customer.send(PAGE, code=(await gift_card(shop)).code)
    assert customer.page.one("html").attributes["lang"] == language
    assert "%(" not in customer.response.text
    assert ("It can be used" in customer.response.text) == (language == "en")
    await customer.send("/ecommerce/shop/language/", button=("language", "en"))
    assert customer.path == PAGE


async def test_it_is_linked_in_the_shops_and_of_no_other_host(shop: Shop, customer: Customer) -> None:
    for start in (WINDOW, GIFT_CARDS, PAGE):
        await customer.open(start)
        links = [link.attributes["href"] for link in customer.page.one("footer").all("a")]
        assert {PAGE, f"{PAGE}?lang=en"} & set(links)
    assert (await customer.open(f"{SERVICE_URL}{PAGE}")).response.status_code == 404
