"""Previews of products, options, designs, offers, and of the documents that their buyers get, before anything is sold."""

from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from resolvers.catalogue.experience_page import preview_option
from resolvers.checkout.network_shop import preview_network_design
from resolvers.checkout.object_preview import (
    preview_design,
    preview_gift_card_document,
    preview_network_card_document,
    preview_network_voucher_document,
    preview_product,
    preview_voucher_document,
)
from resolvers.core.caller import Caller
from resolvers.core.context import Context
from resolvers.network.offer_preview import preview_offer
from schema.core.errors import NotFound
from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.partner.partner import PartnerStatus
from store.gift_card.designs import GiftCardDesignRow
from tests.admin.office import ROOT, Office
from tests.fixtures.box import new_box, new_offer
from tests.fixtures.document import scanned
from tests.fixtures.voucher import sell
from tests.funnel.checkout.customer import Customer

SHOP_PAGE, DOCUMENT = "shop-page/", "document-preview/"


async def design(office: Office, of: str | None = "a1", **more: Any) -> str:
    """The page of a design of a partner, or of the network."""
    row = GiftCardDesignRow(
        marketplace_id=office.tenants.marketplaces["a"].id,
        partner_id=office.tenants.partners[of].id if of else None,
        name=Text(en="Balloons", fr="Ballons"),
        short_description=Text(),
        description=Text(),
        **more,
    )
    await office.tenants.add(row)
    return f"{ROOT}gift-card-designs/{row.id}/"


async def offer(office: Office, status: OfferStatus = OfferStatus.DRAFT) -> str:
    """The page of an offer of a1."""
    made = await new_offer(
        office.tenants, await new_box(office.tenants), "a1", status, description=Text(en="Warm stones.")
    )
    return f"{ROOT}offers/{made.id}/"


async def option(office: Office, name: str = "robe") -> str:
    """The page of an option of a1."""
    return f"{ROOT}voucher-options/{getattr(await sell(office.tenants, 'a1'), name).id}/"


async def preview(staff: Customer, page: str, named: str = "Preview in the shop") -> None:
    """Follow the link to the preview of an object."""
    await staff.open(page)
    (link,) = (it for it in staff.page.all("a") if it.text == named)
    await staff.open(link.attributes["href"])
    assert staff.response.status_code == 200


async def framed(staff: Customer) -> None:
    """Open what the preview has in its frame."""
    await staff.open(staff.page.one("iframe").attributes["src"].partition("#")[0])
    assert staff.response.status_code == 200
    assert "inert" in staff.page.one("body").attributes
    assert not [it for it in staff.page.all("script") if it.attributes.get("type") == "module"]
    assert "frame-ancestors 'self'" in staff.response.headers["content-security-policy"]


async def test_a_product_is_seen_as_its_buyers_choose_it(office: Office) -> None:
    id = office.tenants.owned["a1"].product
    await office.tenants.execute("UPDATE product SET is_active = false WHERE id = :id", id=id)
    await office.tenants.execute(f"UPDATE partner SET status = '{PartnerStatus.NEW.value}'")  # noqa: S608 - a test's words
    staff = await office.open("a1", f"{ROOT}products/{id}/")
    name = staff.h1
    before = await office.tenants.snapshot()
    await preview(staff, f"{ROOT}products/{id}/")
    assert "Not on sale" in staff.page.one("main").text
    await framed(staff)
    (line,) = staff.page.all("li", class_="line")
    assert line.one("h3").text == name
    assert not [told for told in line.all("p", class_="wrong") if "sold" in told.text], "as if it were on sale"
    assert await office.tenants.snapshot() == before


@pytest.mark.parametrize("name", ["robe", "breakfast"], ids=["to choose", "included"])
async def test_an_option_is_seen_in_an_experience_that_has_it(office: Office, name: str) -> None:
    page = await option(office, name)
    await office.tenants.execute("UPDATE voucher_option SET is_active = false")
    await preview(await office.open("a1", page), page)
    staff = office.browser("a1")
    await framed(staff)
    assert staff.h1 == "Nights above the lake"
    items_of_page = [
        item
        for part in ("extras", "included")
        for items in staff.page.all("ul", class_=part)
        for item in items.all("li")
    ]
    assert len(items_of_page) == 1, "only this one"


async def test_an_option_that_no_experience_has_is_told(office: Office) -> None:
    page = await option(office, "elsewhere")
    await office.tenants.execute("UPDATE voucher_option SET is_global = false")
    staff = await office.open("a1", f"{page}{SHOP_PAGE}?_lang=en")
    assert staff.response.status_code == 404
    assert staff.page.one(role="alert").text.endswith("No experience has this option.")
    assert "frame-ancestors 'self'" in staff.response.headers["content-security-policy"]


async def test_a_design_is_seen_in_the_shop_and_on_paper(office: Office) -> None:
    page = await design(office, is_active=False)
    await design(office)
    await office.tenants.execute("UPDATE partner SET gift_card_offer_enabled = false")
    staff = office.browser("a1")
    await preview(staff, page)
    picture = staff.page.one("img", class_="document").attributes
    assert picture["alt"] == "The first page of the document, without a code"
    await framed(staff)
    assert [
        label.one("span", class_="name").text for label in staff.page.all("label") if label.all("span", class_="name")
    ] == ["Balloons"]
    answer = await staff.http.get(picture["src"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.headers["cache-control"] == "no-store"
    assert scanned(answer.content) == []
    await staff.open(page)
    assert staff.page.one("img", class_="document").attributes["src"] == f"{page}{DOCUMENT}"
    in_english, in_french = [(await staff.http.get(f"{page}{DOCUMENT}?_lang={each}")).content for each in ("en", "fr")]
    assert answer.content == in_english != in_french


@pytest.mark.parametrize("has_shop", [True, False], ids=["shop", "no shop"])
async def test_a_design_of_a_network_is_seen_in_its_shop(office: Office, *, has_shop: bool) -> None:
    page = await design(office, None, is_active=False)
    own = office.tenants.partners["a1"].id
    await office.tenants.execute("UPDATE partner SET is_network_shop = :is WHERE id = :id", id=own, **{"is": has_shop})
    for who in ("market a", "a2"):
        staff = await office.open(who, f"{page}{SHOP_PAGE}?_lang=en")
        assert staff.response.status_code == (200 if has_shop else 404)
        if has_shop:
            assert [card.one("h3").text for card in staff.page.all("li", class_="card")] == ["Balloons"]
        else:
            assert staff.page.one(role="alert").text == "Marketplace: The network has no shop of its own."
        answer = await staff.http.get(f"{page}{DOCUMENT}")
        assert (answer.status_code, scanned(answer.content)) == (200, []), "the document needs no shop"


@pytest.mark.parametrize("status", [OfferStatus.DRAFT, OfferStatus.ACCEPTED])
async def test_an_offer_is_seen_as_holders_of_vouchers_find_it(office: Office, status: OfferStatus) -> None:
    page, staff = await offer(office, status), office.browser("a1")
    before = await office.tenants.snapshot()
    await preview(staff, page, "Preview for holders of vouchers")
    assert ("Not on sale" in staff.page.one("main").text) == (status is OfferStatus.DRAFT)
    await framed(staff)
    (partner,) = staff.page.one("ul", class_="partners").all("li")
    assert partner.one("h3").text == office.tenants.partners["a1"].commercial_name
    assert "Warm stones." in partner.text
    assert await office.tenants.snapshot() == before


async def test_experiences_and_boxes_have_a_document(office: Office) -> None:
    stay = (await sell(office.tenants, "a1")).stay
    box = await new_box(office.tenants)
    for who, page in (("a1", f"voucher-prototypes/{stay.id}"), ("market a", f"boxes/{box.id}")):
        staff = await office.open(who, f"{ROOT}{page}/")
        src = staff.page.one("img", class_="document").attributes["src"]
        answer = await staff.http.get(src)
        assert (answer.status_code, scanned(answer.content)) == (200, [])
    assert await office.tenants.one("SELECT count(*) FROM voucher") == 0


async def test_previews_have_the_tenants_of_their_objects(office: Office) -> None:
    product = f"{ROOT}products/{office.tenants.owned['a1'].product}/"
    pages = {product, await option(office), await design(office)}
    for page in (*pages, await offer(office)):
        for path in ("shop-preview/", SHOP_PAGE, DOCUMENT):
            for who in ("b1", "market b", *(["a2"] if page in pages else [])):
                assert (await office.open(who, page + path)).response.status_code == 404, (who, page + path)
            assert (await office.open(None, page + path)).path.startswith(f"{ROOT}log-in/")
    assert (await office.open("market b", f"{await design(office, None)}{DOCUMENT}")).response.status_code == 404
    for page in (product, f"{ROOT}gift-cards/{office.tenants.owned['a1'].gift_card}/"):
        assert (await office.open("a1", page + DOCUMENT)).response.status_code == 404, "none of its own"


async def test_customers_have_no_previews(office: Office) -> None:
    tenants = office.tenants
    a1, network = tenants.partners["a1"].id, tenants.marketplaces["a"].id
    customer = Context(tenants.services, Caller.customer(a1, network))
    other = Context(tenants.services, Caller.preview(tenants.partners["a2"].id, network))
    sold, box = await sell(tenants, "a1"), await new_box(tenants)
    own, of_network, offer_id = [
        int(page.split("/")[-2]) for page in (await design(office), await design(office, None), await offer(office))
    ]
    for context in (customer, other):
        calls: Sequence[Awaitable[object]] = (
            preview_product(context, tenants.owned["a1"].product),
            preview_option(context, sold.robe.id),
            preview_design(context, own),
            preview_offer(context, offer_id),
            preview_gift_card_document(context, own, "en"),
            preview_voucher_document(context, sold.stay.id, "en"),
        )
        for call in calls:
            with pytest.raises(NotFound):
                await call
    of_networks: Sequence[Awaitable[object]] = (
        preview_network_design(customer, of_network),
        preview_network_card_document(customer, of_network, "en"),
        preview_network_voucher_document(customer, box.id, "en"),
        preview_network_card_document(other, own, "en"),
        preview_network_design(other, own),
        preview_network_voucher_document(other, box.id + 1000, "en"),
    )
    for call in of_networks:
        with pytest.raises(NotFound):
            await call
