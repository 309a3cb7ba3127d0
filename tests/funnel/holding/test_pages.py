"""The page of the holder of a network's gift card or voucher: what it shows in each state, and that it tells no more."""

import uuid
from decimal import Decimal
from typing import Any

import pytest

from schema.core.text import Text
from schema.validation.languages import LANGUAGES
from store.core.signed_links import sign_link
from store.core.telemetry.logs import mask_secrets
from store.gift_card.gift_cards import GiftCardRow
from store.network.holder.links import PURPOSE, HeldKind, holder_path
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import PartnerRow
from tests.fixtures.document import words
from tests.fixtures.network_prints import box_of, card_of, design_of, offer_of, usage_of, voucher_of
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.servers.production import SERVICE_URL, SHOP_URL

DEAD = "This link does not work"
LATER, EARLIER = "now() + interval '2 days'", "now() - interval '2 days'"


@pytest.fixture(autouse=True)
async def network(shop: Shop) -> None:
    """The shop takes part in its network, which has an address."""
    await shop.execute("UPDATE partner SET linked_to_ngc_settings = true, linked_to_nv_settings = true")
    await shop.execute("UPDATE marketplace SET email = 'hello@market.example', domain = 'market.example'")


def path(shop: Shop, held: GiftCardRow | NetworkVoucherRow) -> str:
    kind = HeldKind.GIFT_CARD if isinstance(held, GiftCardRow) else HeldKind.VOUCHER
    return holder_path(shop.services.settings, kind, held.uuid)


def main_text(customer: Customer) -> str:
    """What the page says, with plain spaces."""
    return customer.page.one("main").text.replace("\xa0", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


def partners(customer: Customer) -> list[str]:
    """The partners that the page lists."""
    return [each.text for listed in customer.page.all("ul", class_="partners") for each in listed.all("h3")]


async def partner(shop: Shop, name: str, city: str = "Lyon", **more: Any) -> PartnerRow:
    """Another partner of the network, which takes part in it."""
    values: dict[str, Any] = {
        "marketplace_id": shop.partner.marketplace_id,
        "hq_city": city,
        "source_id": name,
        "short_name": name.lower(),
        "site_domain": f"{uuid.uuid4().hex}.example",
        "linked_to_ngc_settings": True,
        "linked_to_nv_settings": True,
        "status": "a",
        **more,
    }
    return await shop.add(PartnerRow(commercial_name=name, **values))


# ---- what it shows


async def test_a_gift_card_shows_what_is_left_and_where_it_went(shop: Shop, customer: Customer) -> None:
    card = await card_of(shop, design_id=(await design_of(shop)).id)
    await usage_of(shop, card)
    cancelled = await usage_of(shop, card, is_active=False, cancelled_on=card.created_on)
    await shop.execute("UPDATE gift_card SET remaining_amount = 110, status = 'using' WHERE id = :id", id=card.id)
    await customer.open(path(shop, card))
    assert customer.h1 == "Your gift card"
    shown = main_text(customer)
    for said in (
        "€110.00 of €150.00",
        "Happy birthday",
        "For Claire",
        "From Ada Martin",
        "À bientôt",
        "23 August 2027",
    ):
        assert said in shown, said
    movements = [entry.text for entry in customer.page.one("ul", class_="movements").all("li")]
    assert len(movements) == 3
    assert sum("−€40.00" in entry for entry in movements) == 2
    assert sum("+€40.00" in entry and "given back" in entry for entry in movements) == 1
    assert all("The Shop" in entry for entry in movements)
    assert partners(customer) == ["The Shop"]
    assert card.code[-4:] in shown
    assert cancelled.comment not in customer.response.text, "the partner's note is not for the holder"
    document = customer.page.one("aside").one("a", class_="main").attributes["href"]
    assert card.code in words((await customer.http.get(document)).content)
    check_headings(customer.page)
    check_controls(customer.page)


async def test_a_voucher_shows_its_box_and_the_offers_but_no_price(shop: Shop, customer: Customer) -> None:
    box = await box_of(shop)
    voucher = await voucher_of(shop, box)
    offer = await offer_of(shop, box, (await partner(shop, "Thermes du Lac")).id, name=Text(en="The baths"))
    amounts: dict[str, Any] = {"value_amount": Decimal("40.00"), "net_amount": Decimal("40.00")}
    await shop.add(
        NetworkVoucherUsageRow(
            network_voucher_id=voucher.id,
            partner_id=offer.partner_id,
            offer_id=offer.id,
            currency="EUR",
            used_on=voucher.created_on,
            recorded_on=voucher.created_on,
            **amounts,
        )
    )
    await shop.execute(
        "UPDATE network_voucher SET usage_count = 1, used_amount = 40, status = 'using', first_used_on = created_on"
    )
    await customer.open(path(shop, voucher))
    assert customer.h1 == "Spa day for two"
    shown = main_text(customer)
    for said in (
        "2 of 3",
        "A day of calm.",
        "Pool, steam and a massage.",
        "Fifty minutes, with tea.",
        "Not on Sundays.",
    ):
        assert said in shown, said
    assert "3 times" in shown
    assert "within 60 days after the first" in shown
    assert partners(customer) == ["The Shop", "Thermes du Lac"]
    (used,) = customer.page.one("ul", class_="movements").all("li")
    assert "Thermes du Lac" in used.text
    assert "The baths" in used.text
    assert "€" not in shown
    document = customer.page.one("aside").one("a", class_="main").attributes["href"]
    assert voucher.code in words((await customer.http.get(document)).content)
    check_headings(customer.page)
    check_controls(customer.page)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_the_language_of_the_card_and_another_one_if_chosen(
    shop: Shop, customer: Customer, language: str
) -> None:
    box = await box_of(shop)
    for held in (await card_of(shop, language=language), await voucher_of(shop, box, language=language)):
        await customer.open(path(shop, held))
        assert customer.page.one("html").attributes["lang"] == language
        assert customer.response.headers["content-language"] == language
        assert ("Where you can use it" in main_text(customer)) is (language == "en")
        await customer.send("/network/language/", language="fr")
        assert customer.path == path(shop, held)
        assert "Où l’utiliser" in main_text(customer)
        customer.http.cookies.clear()


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ("status = 'used', remaining_amount = 0", "All of this gift card has been spent"),
        (f"starts_on = {LATER}", "It begins on"),
        ("is_active = false", "This gift card cannot be used at the moment"),
        ("frozen_on = now()", "This gift card cannot be used at the moment"),
    ],
)
async def test_a_card_that_cannot_be_used_now_says_so(shop: Shop, customer: Customer, change: str, title: str) -> None:
    card = await card_of(shop)
    await shop.execute(f"UPDATE gift_card SET {change} WHERE id = :id", id=card.id)  # noqa: S608 - a test's words
    await customer.open(path(shop, card))
    assert customer.page.one("div", class_="note").one("h2").text.startswith(title)
    assert customer.h1 == "Your gift card"
    assert bool(partners(customer)) is ("used" not in change)


# ---- who accepts it


async def test_partners_are_those_that_accept_it_now(shop: Shop, customer: Customer) -> None:
    card, box = await card_of(shop), await box_of(shop)
    voucher = await voucher_of(shop, box)
    both = await partner(shop, "Both")
    not_linked = await partner(shop, "Not linked", linked_to_ngc_settings=False, linked_to_nv_settings=False)
    inactive, test = await partner(shop, "Inactive", status="i"), await partner(shop, "Test", status="t")
    for each in (both, not_linked, inactive, test):
        await offer_of(shop, box, each.id)
    await offer_of(shop, box, (await partner(shop, "Withdrawn")).id, is_active=False)
    await offer_of(shop, box, (await partner(shop, "Rejected")).id, status="REJECTED")
    await customer.open(path(shop, card))
    assert partners(customer) == ["Both", "Rejected", "The Shop", "Withdrawn"]
    await customer.open(path(shop, voucher))
    assert partners(customer) == ["Both", "The Shop"]
    await shop.execute("UPDATE gift_card SET is_test = true")
    await customer.open(path(shop, card))
    assert "Test" in partners(customer)


async def test_partners_are_searched_by_name_and_place(shop: Shop, customer: Customer) -> None:
    card = await card_of(shop)
    await partner(shop, "Café Crème", "Aix-en-Provence", hq_postal_code="13100")
    await partner(shop, "100% Bio", "Genève", hq_postal_code="1204")
    start = path(shop, card)
    for query, expected in {
        "name=creme": ["Café Crème"],
        "name=%25": ["100% Bio"],
        "place=geneve": ["100% Bio"],
        "place=131": ["Café Crème"],
        "name=caf&place=geneve": [],
        "name=_": [],
        "name=%00": ["100% Bio", "Café Crème", "The Shop"],
        f"name={'x' * 5000}": [],
    }.items():
        await customer.open(f"{start}?{query}")
        assert customer.response.status_code == 200
        assert partners(customer) == expected, query
    await customer.open(f"{start}?name=%3Cscript%3Ealert(1)&place=%22onload%3D")
    assert "<script>alert" not in customer.response.text
    assert 'value="&#34;onload=' in customer.response.text
    assert "No partner matches" in main_text(customer)


async def test_many_partners_are_in_pages(shop: Shop, customer: Customer) -> None:
    card = await card_of(shop)
    for number in range(44):
        await partner(shop, f"Partner {number:02}")
    start = path(shop, card)
    await customer.open(f"{start}?name=partner")
    assert partners(customer) == [f"Partner {number:02}" for number in range(20)]
    seen = partners(customer)
    while following := [link for link in customer.page.all("a") if link.attributes.get("rel") == "next"]:
        await customer.open(following[0].attributes["href"])
        seen += partners(customer)
    assert seen == [f"Partner {number:02}" for number in range(44)]
    assert "Page 3 of 3" in main_text(customer)
    for page in ("0", "-1", "x", "99999999999999999999", "²"):
        await customer.open(f"{start}?page={page}")
        assert (customer.response.status_code, len(partners(customer))) == (200, 20), page
    await customer.open(f"{start}?page=999")
    assert len(partners(customer)) == 5


# ---- links


async def test_links_that_show_nothing_look_all_alike(shop: Shop, customer: Customer) -> None:
    card, box = await card_of(shop), await box_of(shop)
    voucher = await voucher_of(shop, box)
    good, settings = path(shop, card), shop.services.settings
    token = good.split("/")[2]
    own = await shop.gift_card("50.00")
    await customer.open("/network/x/")
    dead = customer.page.one("main").text
    assert customer.h1 == DEAD
    forged = [
        token[:-1],
        f"{token}A",
        token.swapcase(),
        sign_link(settings, "onboarding", ["c", card.uuid.hex]),
        *(
            sign_link(settings, PURPOSE, content)
            for content in ([], ["x", card.uuid.hex], ["c", 7], ["c", "x"], [["c"], "x"])
        ),
        sign_link(settings, PURPOSE, ["v", card.uuid.hex]),
        sign_link(settings, PURPOSE, ["c", voucher.uuid.hex]),
        sign_link(settings, PURPOSE, ["c", own.uuid.hex]),
        *("%00", "é", "x" * 2000),
    ]
    for each in forged:
        await customer.open(f"/network/{each}/")
        assert (customer.response.status_code, customer.page.one("main").text) == (404, dead), each
    for held, table in ((card, "gift_card"), (voucher, "network_voucher")):
        await customer.open(path(shop, held))
        assert customer.response.status_code == 200
        for change in (
            "status = 'draft'",
            "status = 'cncld'",
            "status = 'exprd'",
            f"status = 'paid', expires_on = {EARLIER}",
        ):
            await shop.execute(f"UPDATE {table} SET {change} WHERE id = :id", id=held.id)  # noqa: S608 - a test's words
            await customer.open(path(shop, held))
            assert (customer.response.status_code, customer.page.one("main").text) == (404, dead), change
            assert "Market" not in customer.response.text
            assert held.code not in customer.response.text


async def test_a_voucher_too_long_after_its_first_usage_shows_nothing(shop: Shop, customer: Customer) -> None:
    voucher = await voucher_of(shop, await box_of(shop))
    await shop.execute(f"UPDATE network_voucher SET usable_until = {LATER}")  # noqa: S608 - a test's words
    assert (await customer.open(path(shop, voucher))).response.status_code == 200
    await shop.execute(f"UPDATE network_voucher SET usable_until = {EARLIER}")  # noqa: S608 - a test's words
    assert (await customer.open(path(shop, voucher))).h1 == DEAD


async def test_it_is_served_on_all_hosts_without_the_code_and_stored_nowhere(shop: Shop, customer: Customer) -> None:
    for held in (await card_of(shop), await voucher_of(shop, await box_of(shop))):
        for host in (SERVICE_URL, SHOP_URL):
            for end in (path(shop, held), path(shop, held).rstrip("/")):
                await customer.open(host + end)
                headers = customer.response.headers
                assert (customer.response.status_code, headers["cache-control"]) == (200, "no-store")
                assert headers["referrer-policy"] == "same-origin"
                assert "default-src 'none'" in headers["content-security-policy"]
                assert customer.page.one("meta", name="robots").attributes["content"] == "noindex"
                for code in (held.code, held.normal_code, held.document_token):
                    assert code not in end
                assert held.code not in customer.response.text
                assert held.normal_code not in customer.response.text
            for sheet in (link for link in customer.page.all("link") if link.attributes["rel"] == "stylesheet"):
                assert (await customer.http.get(host + sheet.attributes["href"])).status_code == 200


def test_a_link_is_not_logged(shop: Shop) -> None:
    token = sign_link(shop.services.settings, PURPOSE, ["c", "0" * 32])
    for said in (
        f"GET /network/{token}/ 200",
        f"next=%2Fnetwork%2F{token}%2F",
        f"https://x.example/network/{token}?name=x",
    ):
        assert token not in mask_secrets(said)
