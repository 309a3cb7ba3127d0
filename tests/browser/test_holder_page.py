"""The pages of the holders of a gift card and of a voucher of a network, in a browser: sound, and without scripts."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page

from schema.core.text import Text
from store.network.boxes import BoxImageRow, BoxRow
from store.network.holder.links import HeldKind, holder_path
from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.fixtures.network_prints import box_of, card_of, design_of, offer_of, usage_of, voucher_of
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]
LINKED = "UPDATE partner SET linked_to_ngc_settings = :linked, linked_to_nv_settings = :linked"
ABOUT = """<p>A day of calm for two: the pools are yours from nine to six, with <strong>steam, sauna and a massage of fifty
minutes</strong>.</p><ul><li>Bathrobe and towels</li><li>Tea and fruit</li><li>Lunch in the garden, if the sun shines</li></ul>"""


async def picture(shop: RunningShop, name: str) -> tuple[int, str]:
    """The id and the path of a picture of the demo."""
    ((id, uuid),) = await shop.rows("SELECT id, uuid FROM media WHERE name LIKE :name ORDER BY id LIMIT 1", name=name)
    return id, f"/media/{uuid}/cover.webp"


async def a_box(shop: RunningShop) -> BoxRow:
    """A box with a picture of the demo, and offers of all partners of the network."""
    texts: dict[str, Any] = {
        "name": Text(en="Spa day for two"),
        "short_description": Text(en="Pools, steam and a massage, at the spa of your choice."),
        "long_description": Text(en=ABOUT),
    }
    box = await box_of(shop, None, **texts)
    id, _ = await picture(shop, "%")
    await shop.add(BoxImageRow(box_id=box.id, position=1, is_cover=True, media_id=id))
    others = "SELECT id FROM partner WHERE marketplace_id = :network AND id <> :own"
    network = {"network": shop.partner.marketplace_id, "own": shop.partner.id}
    for (partner_id,) in await shop.rows(others, **network):
        await offer_of(shop, box, partner_id, name=Text(en="The thermal baths, with a view of the lake"))
    return box


async def open_page(shop: RunningShop, page: Page, kind: HeldKind, uuid: object) -> str:
    """Open the page of a holder on the service's own host; answers its address."""
    url = f"http://127.0.0.1:{shop.program.port}{holder_path(shop.services.settings, kind, str(uuid))}"
    await page.goto(url)
    return url


async def test_the_page_of_a_gift_card(shop: RunningShop, new_customer: NewCustomer) -> None:
    await shop.execute(LINKED, linked=True)
    _, cover = await picture(shop, "%")
    design = await design_of(shop, None, picture_url=cover)
    card = await card_of(shop, design_id=design.id)
    await usage_of(shop, card)
    await usage_of(shop, card, is_active=False, cancelled_on=card.created_on)
    await shop.execute("UPDATE gift_card SET remaining_amount = 110, status = 'using' WHERE id = :id", id=card.id)
    page = (await new_customer()).page
    url = await open_page(shop, page, HeldKind.GIFT_CARD, card.uuid)
    assert await page.inner_text("h1") == "Your gift card"
    await sound(page, "holder gift card")
    await page.fill("#name", "nobody")
    await page.click("form[role=search] button")
    assert urlsplit(page.url).query == "name=nobody&place="
    await sound(page, "holder nobody found")
    await page.goto(url)
    await page.click("header details summary")
    await page.click("button[lang=fr]")
    await page.wait_for_selector("html[lang=fr]")
    await sound(page, "holder gift card french", desktop=False)
    await shop.execute("UPDATE gift_card SET is_active = false WHERE id = :id", id=card.id)
    await page.goto(url)
    await sound(page, "holder paused")


async def test_the_page_of_a_voucher_without_scripts(shop: RunningShop, new_customer: NewCustomer) -> None:
    await shop.execute(LINKED, linked=True)
    voucher = await voucher_of(shop, await a_box(shop))
    page = (await new_customer(scripts=False)).page
    await open_page(shop, page, HeldKind.VOUCHER, voucher.uuid)
    assert await page.inner_text("h1") == "Spa day for two"
    await page.click("main details summary")
    assert await page.is_visible("text=Not on Sundays.")
    page = (await new_customer()).page
    await open_page(shop, page, HeldKind.VOUCHER, voucher.uuid)
    await page.click("main details summary")
    await sound(page, "holder voucher")


async def test_a_plain_card_of_a_network_without_partners(shop: RunningShop, new_customer: NewCustomer) -> None:
    await shop.execute(LINKED, linked=False)
    card = await card_of(shop, message="", giftee_first_name="", gifter_first_name="", gifter_last_name="")
    page = (await new_customer()).page
    await open_page(shop, page, HeldKind.GIFT_CARD, card.uuid)
    await sound(page, "holder plain")
    await page.goto(f"{page.url.removesuffix('/')}x/")
    await sound(page, "holder dead link", desktop=False)
