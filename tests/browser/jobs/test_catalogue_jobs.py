"""Jobs with the catalogue, in a browser: prices, pictures, stock, coupons, translations."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.browser.jobs.conftest import Begin
from tests.browser.jobs.pictures import illustrate
from tests.browser.jobs.table import agrees
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

WREATH = "Winter lavender wreath"


async def test_a_coupon_is_created(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("create-a-coupon")
    await hand.menu("Coupons")
    await hand.link("New coupon")
    await hand.type(hand.page.locator("#f-code"), "SUMMER")
    await hand.type(hand.page.locator("#f-discount-percentage"), "10")
    await hand.button("New coupon")
    await hand.is_done("New coupon")
    coupon = "DELETE FROM coupon WHERE code = 'SUMMER' AND is_active RETURNING discount_percentage"
    assert await shop.rows(coupon) == [(10,)]
    agrees("create-a-coupon", hand.effort)


async def test_a_price_is_changed(shop: RunningShop, begin: Begin) -> None:
    id = await shop.demo_product(WREATH)
    before = await shop.one("SELECT price_amount FROM product WHERE id = :id", id=id)
    hand = await begin("change-a-price")
    await hand.menu("Products")
    await hand.row(WREATH)
    await hand.link("Edit")
    await hand.type(hand.page.locator("#f-price"), "24.50")
    await hand.button("Save")
    await hand.is_done("Edit")
    await hand.reads("€24.50")
    changed = "UPDATE product SET price_amount = :before WHERE id = :id AND price_amount = 24.50 RETURNING id"
    assert await shop.rows(changed, id=id, before=before) == [(id,)]
    agrees("change-a-price", hand.effort)


async def test_a_picture_is_added(shop: RunningShop, begin: Begin, tmp_path: Path) -> None:
    id = await shop.demo_product(WREATH)
    before = await shop.one("SELECT picture_url FROM product WHERE id = :id", id=id)
    content = BytesIO()
    Image.new("RGB", (600, 400), "seagreen").save(content, "JPEG")
    file = tmp_path / "wreath.jpg"
    file.write_bytes(content.getvalue())
    hand = await begin("add-a-picture")
    await hand.menu("Products")
    await hand.row(WREATH)
    await hand.link("Edit")
    await hand.upload(hand.page.locator("#f-pictureUrl-upload"), file)
    await hand.button("Save")
    await hand.is_done("Edit")
    changed = "UPDATE product SET picture_url = :before WHERE id = :id AND picture_url <> :before RETURNING id"
    assert await shop.rows(changed, id=id, before=before) == [(id,)]
    await shop.execute("DELETE FROM media WHERE name = 'wreath'")
    agrees("add-a-picture", hand.effort)


async def test_stock_is_entered(shop: RunningShop, begin: Begin) -> None:
    id = await shop.demo_product(WREATH)
    before = await shop.stock(id)
    hand = await begin("add-stock")
    await hand.menu("Products")
    await hand.row(WREATH)
    await hand.link("Edit")
    await hand.type(hand.page.locator("#f-stock"), "25")
    await hand.button("Save")
    await hand.is_done("Edit")
    assert await shop.stock(id) == 25 != before
    await shop.execute("UPDATE product SET stock = :before WHERE id = :id", id=id, before=before)
    agrees("add-stock", hand.effort)


async def test_an_experience_is_translated(shop: RunningShop, begin: Begin) -> None:
    named = "SELECT id FROM voucher_prototype WHERE name->>'en' = 'Three nights in the snow'"
    id = await shop.one(named)
    before = await shop.one("SELECT name->>'de' FROM voucher_prototype WHERE id = :id", id=id)
    hand = await begin("translate-an-experience")
    await hand.menu("Experiences")
    await hand.row("Three nights in the snow")
    await hand.link("Edit")
    await hand.click(hand.page.get_by_role("radio", name="Deutsch"))
    await hand.type(hand.page.locator("#f-name-de"), "Drei Tage im Schnee")
    await illustrate(hand.page, "languages")
    await hand.button("Save")
    await hand.is_done("Edit")
    name = "UPDATE voucher_prototype SET name = jsonb_set(name, '{de}', to_jsonb(CAST(:before AS text))) WHERE id = :id AND name->>'de' = 'Drei Tage im Schnee' RETURNING id"
    assert await shop.rows(name, id=id, before=before) == [(id,)]
    agrees("translate-an-experience", hand.effort)


async def test_a_look_is_illustrated(begin: Begin) -> None:
    """No job of the list: the picture of the preview."""
    hand = await begin("create-a-partner")
    await hand.menu("Partners", "Settings")
    await hand.row("Maison Valserène")
    await hand.link("Look and theme")
    heading = hand.page.frame_locator("iframe").locator("h1")
    await heading.wait_for()
    await illustrate(hand.page, "theme")
