"""Jobs of marketplaces, of the platform, and with users, in a browser."""

import datetime as dt
import json
import uuid

import pyotp
import pytest
from playwright.async_api import expect

from coffret.demo.users import PASSWORD
from tests.browser.jobs.conftest import Begin
from tests.browser.jobs.job_list import JOBS
from tests.browser.jobs.pictures import illustrate
from tests.browser.jobs.table import agrees
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


async def test_an_offer_is_accepted(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("accept-an-offer")
    await hand.link("Offers to accept")
    await hand.click(hand.page.locator("main tbody th a").first)
    id = int(hand.page.url.rstrip("/").rpartition("/")[2])
    await hand.link("Accept")
    await hand.button("Accept")
    await hand.is_done("Accept")
    assert await shop.one("SELECT status::text FROM offer WHERE id = :id", id=id) == "ACCEPTED"
    agrees("accept-an-offer", hand.effort)


async def test_a_payout_is_validated(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("validate-a-payout")
    await hand.link("Payouts to validate")
    await hand.row("Maison Valserène")
    id = int(hand.page.url.rstrip("/").rpartition("/")[2])
    await hand.link("Validate")
    await hand.button("Validate")
    await hand.is_done("Validate")
    assert await shop.one("SELECT status::text FROM payout_request WHERE id = :id", id=id) != "to be validated"
    agrees("validate-a-payout", hand.effort)


async def test_a_partner_is_created(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("create-a-partner")
    await hand.menu("Partners", "Settings")
    await hand.click(hand.page.get_by_role("link", name="New partner", exact=True))
    field = hand.page.locator
    await hand.type(field("#f-commercialName"), "Atelier Solvigne")
    await hand.type(field("#f-shortName"), "Solvigne")
    await hand.choose(field("#f-status"), "Active")
    await hand.type(field("#f-agencyEmail"), "bonjour@solvigne.example")
    await hand.type(field("#f-legalRepresentative-email"), "luce@solvigne.example")
    await hand.button("New partner")
    await hand.is_done("New partner")
    hidden = (
        "UPDATE partner SET created_on = '2020-01-01' WHERE commercial_name = 'Atelier Solvigne' RETURNING status::text"
    )
    assert await shop.rows(hidden) == [("a",)]  # and is not the first of the list, which other tests open
    agrees("create-a-partner", hand.effort)


async def test_a_colleague_is_invited(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("invite-a-colleague")
    await hand.menu("Users", "Settings")
    await hand.link("Invite")
    await hand.type(hand.page.locator("#f-username"), "luce@example.com")
    await hand.choose(hand.page.locator("#f-role"), "Marketplace")
    await hand.type(hand.page.locator("#f-email"), "luce@example.com")
    await hand.button("Invite")
    await hand.is_done("Invite")
    mail = "SELECT count(*) FROM mail WHERE recipient = 'luce@example.com'"
    assert await shop.one(mail) == 1
    agrees("invite-a-colleague", hand.effort)


async def test_a_second_factor_is_set_up(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("set-up-a-second-factor")
    await hand.click(hand.page.locator(".who summary"))
    await hand.click(hand.page.get_by_role("link", name="Your account"))
    await hand.type(hand.page.locator("#password-on"), PASSWORD)
    await hand.button("Set it up")
    secret = await hand.page.locator("code.secret").inner_text()
    now = dt.datetime.fromisoformat((await shop.control("GET", "/clock")).json()["now"])
    await hand.type(hand.page.locator("#otp"), pyotp.TOTP(secret).at(now))
    await hand.button("Turn it on")
    await expect(hand.page.locator("ul.codes code")).to_have_count(10)
    user = await shop.one("SELECT user_id FROM totp WHERE confirmed_on IS NOT NULL")
    username = "SELECT username FROM app_user WHERE id = :id AND has_second_factor"
    assert await shop.one(username, id=user) == JOBS["set-up-a-second-factor"].role.username
    await shop.execute("DELETE FROM totp")
    await shop.execute("UPDATE app_user SET has_second_factor = false WHERE id = :id", id=user)
    agrees("set-up-a-second-factor", hand.effort)


async def test_the_back_office_is_seen_as_a_partner(begin: Begin) -> None:
    hand = await begin("look-as-a-partner")
    await hand.search("Cardamine")
    await hand.click(hand.page.locator("main").get_by_role("link", name="Table Cardamine", exact=True).first)
    await hand.click(hand.page.locator("main details.others summary"))
    await hand.link("Look as this partner")
    await hand.type(hand.page.locator("#f-reason"), "Ticket 4711")
    await hand.button("Look as this partner")
    await hand.reads("You look as Table Cardamine, and change nothing.")
    await illustrate(hand.page, "look-as")
    agrees("look-as-a-partner", hand.effort)
    await hand.button("End")


async def test_a_failed_job_is_retried(shop: RunningShop, begin: Begin) -> None:
    cart = {"partner_id": shop.partner.id, "cart_id": str(uuid.uuid4()), "last_modified": 1}
    failed = """
        INSERT INTO pgqueuer (priority, entrypoint, payload, execute_after, headers, status, attempts)
        VALUES (0, 'drop_cart', :payload, now(), '{"error": "ConnectError"}', 'failed', 33) RETURNING id
    """
    ((id,),) = await shop.rows(failed, payload=json.dumps(cart).encode())
    hand = await begin("retry-a-job")
    await hand.link("Failed jobs")
    await hand.row(f"drop_cart · {id}")
    await hand.link("Retry")
    await hand.button("Retry")
    await hand.is_done("Retry")
    assert await shop.one("SELECT count(*) FROM pgqueuer WHERE id = :id AND status = 'failed'", id=id) == 0
    agrees("retry-a-job", hand.effort)
