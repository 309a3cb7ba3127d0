"""Jobs with gift cards, in a browser: issued, extended, imported, cancelled, exported."""

import csv
import datetime as dt
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.jobs.conftest import Begin
from tests.browser.jobs.pictures import illustrate
from tests.browser.jobs.table import agrees
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

CARDS = "code;value;expiresOn\nPAPER-1001;50,00;31.12.2030\nPAPER-1002;25,00;31.12.2030\nPAPER-1003;100,00;31.12.2030\n"
LAST_CARD = "SELECT id FROM gift_card WHERE partner_id = :partner ORDER BY id DESC LIMIT 1"


async def test_a_gift_card_is_issued(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("issue-a-gift-card")
    await hand.menu("Gift cards")
    await hand.link("Issue")
    await hand.type(hand.page.locator("#f-value"), "50.00")
    await hand.button("Issue a gift card")
    await hand.is_done("Issue a gift card")
    id = await shop.one(LAST_CARD, partner=shop.partner.id)
    assert hand.page.url.partition("?")[0].endswith(f"/gift-cards/{id}/")
    assert await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=id) == 50
    agrees("issue-a-gift-card", hand.effort)


async def test_a_gift_card_is_extended(shop: RunningShop, begin: Begin) -> None:
    id = (await shop.gift_card(expires_on=dt.datetime(2029, 12, 31, tzinfo=dt.UTC))).id
    hand = await begin("extend-a-gift-card")
    await hand.menu("Gift cards")
    await hand.click(hand.page.locator(f"main tbody th a[href$='/gift-cards/{id}/']"))
    await hand.link("Extend")
    await hand.type(hand.page.locator("#f-expiresOn"), "2030-12-31T12:00")
    await hand.button("Extend")
    await hand.is_done("Extend")
    assert str(await shop.one("SELECT expires_on::date FROM gift_card WHERE id = :id", id=id)) == "2030-12-31"
    agrees("extend-a-gift-card", hand.effort)


async def test_gift_cards_are_imported(shop: RunningShop, begin: Begin, tmp_path: Path) -> None:
    file = tmp_path / "cards.csv"
    file.write_text(CARDS)
    hand = await begin("import-gift-cards")
    await hand.menu("Gift cards")
    await hand.link("Import from CSV")
    await hand.upload(hand.page.locator("#f-file"), file)
    await hand.button("Check the file")
    await hand.reads("175.00")
    await illustrate(hand.page, "import")
    await hand.button("Import (3)")
    await expect(hand.page.get_by_role("status")).to_contain_text("3 are imported.")
    assert await shop.one("SELECT sum(remaining_amount) FROM gift_card WHERE code LIKE 'PAPER-100_'") == 175
    agrees("import-gift-cards", hand.effort)


async def test_gift_cards_are_cancelled(shop: RunningShop, begin: Begin) -> None:
    ids = [(await shop.gift_card(value)).id for value in ("20.00", "30.00", "40.00")]
    hand = await begin("cancel-many-gift-cards")
    await hand.menu("Gift cards")
    for id in ids:
        await hand.click(hand.page.locator(f".pick input[value='{id}']"))
    await hand.choose(hand.page.locator("#bulk-action"), "Cancel")
    await hand.button("Continue")
    await hand.reads("Nothing has changed yet.")
    await illustrate(hand.page, "bulk")
    await hand.click(hand.page.get_by_role("checkbox"))
    await hand.button("Cancel (3)")
    await expect(hand.page.get_by_role("status")).to_contain_text("done")
    cancelled = "SELECT count(*) FROM gift_card WHERE id = ANY(:ids) AND status = 'cncld'"
    assert await shop.one(cancelled, ids=ids) == 3
    agrees("cancel-many-gift-cards", hand.effort)


async def test_gift_cards_are_exported(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("export-gift-cards")
    await hand.menu("Gift cards")
    await hand.link("Export")
    await hand.button("Export")
    download = hand.page.get_by_role("link", name="Download")
    await expect(download).to_be_visible(timeout=60_000)
    async with hand.page.expect_download() as started:
        await hand.click(download)
    file = await (await started.value).path()
    with file.open(encoding="utf-8-sig", newline="") as lines:
        _, *rows = csv.reader(lines)
    assert len(rows) == await shop.one(
        "SELECT count(*) FROM gift_card WHERE partner_id = :partner", partner=shop.partner.id
    )
    agrees("export-gift-cards", hand.effort)
