"""The page of an order, and refunds in one flow: chosen, previewed, confirmed, each once."""

import pathlib
import re
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from coffret.app import create_app
from schema.checkout.checkout import ProductChoice
from schema.core.permission import Permission
from schema.delivery.delivery import DeliveryKind
from store.core.settings import Settings
from store.partner.partners import PartnerRow
from tests.admin.office import ROOT, UNLIMITED, Office, errors, notices, send
from tests.described import HELD
from tests.fixtures.basket import Experiences, bought, columns, experiences, for_two
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.shop import BUYER, Shop
from tests.fixtures.tenants import Tenants
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of

REFUND_FORM = "refund-order/"


@pytest.fixture
async def sold(shop: Shop) -> Experiences:
    """What the shop sells, besides products."""
    return await experiences(shop)


@pytest.fixture
async def shop_office(shop: Shop, database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Office]:
    """The back office of the shop: of its staff, of somebody who may only look, and of another shop's staff."""
    settings: dict[str, Any] = {"database_url": database_url, "data_dir": tmp_path, "funnel_scheme": "http"}
    app = create_app(Settings(**settings, **UNLIMITED), run_background=False)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", event_hooks=HELD) as client,
    ):
        tenants = Tenants(app, client)
        await tenants.user("staff", "partner", partner_id=shop.partner.id)
        looks = [Permission.VIEW_ORDER, Permission.VIEW_PAYMENT]
        await tenants.user("trainee", "partner", looks, partner_id=shop.partner.id)
        other = await tenants.add(
            PartnerRow(
                marketplace_id=shop.partner.marketplace_id,
                source_id="other",
                commercial_name="Other",
                short_name="other",
                site_domain="other.localhost",
            )
        )
        await tenants.user("neighbour", "partner", partner_id=other.id)
        office = Office(tenants)
        yield office
        await office.close()


async def order_url(shop: Shop) -> str:
    """The page of the newest order."""
    id = await shop.one("SELECT max(id) FROM shop_order")
    return f"{ROOT}orders/{id}/"


async def test_packing_slips_are_printed_together(shop: Shop, shop_office: Office, sold: Experiences) -> None:
    candle = await shop.product("20.00")
    for language in ("de", "fr"):
        await ordered(shop, ProductChoice(candle.id, 2), delivery=DeliveryKind.HOME_DELIVERY)
        latest = "UPDATE shop_order SET language = :language WHERE id = (SELECT max(id) FROM shop_order)"
        await shop.execute(latest, language=language)
    await bought(shop, for_two(sold))
    staff = await shop_office.open("trainee", f"{ROOT}orders/")
    form = staff.page.one("form", id="bulk")
    assert [each.attributes["value"] for each in form.all("option")] == ["", "sheets"], "who may change nothing prints"
    keys = form.one("input", name="page").attributes["value"].split()
    assert len(keys) == 3
    await shop_office.choose("trainee", f"{ROOT}orders/", "sheets", *reversed(keys))
    slips = staff.page.all("section", class_="slip")
    assert [slip.attributes["lang"] for slip in slips] == ["de", "fr"], "in the order in which they were chosen"
    assert [slip.one("h2").text for slip in slips] == ["Packzettel 1", "Bon de livraison 2"]
    assert "Candle" in slips[0].text
    assert not re.search(r"€|20[.,]00", "".join(slip.text for slip in slips)), "no prices"
    assert "1 order is left out" in staff.page.one("main").text
    other = await shop_office.choose("neighbour", f"{ROOT}orders/", "sheets", *keys)
    assert other.page.all("section", class_="slip") == []
    assert "3 orders are left out" in other.page.one("main").text
    assert (await shop_office.choose("neighbour", f"{ROOT}coupons/", "sheets", 1)).response.status_code == 404
    for state in ("sent", "delivered", "cancelled"):
        await shop.execute("UPDATE shop_order SET fulfilment_state = :state WHERE language = 'de'", state=state)
        await shop_office.choose("trainee", f"{ROOT}orders/", "sheets", *keys)
        assert [slip.attributes["lang"] for slip in staff.page.all("section", class_="slip")] == ["fr"], state


async def press(staff: Customer, step: str, **changes: str) -> Customer:
    """Send the form of the page with one of its buttons. `__` stands for the dots in names."""
    form = next(form for form in staff.page.one("main").all("form") if form.all("button", value=step))
    fields = fields_of(form, staff.page) | {name.replace("__", "."): value for name, value in changes.items()}
    return await staff.post(str(staff.response.url.join(form.attributes["action"])), fields | {"_step": step})


def facts(staff: Customer) -> dict[str, str]:
    """The labelled values of the page."""
    return {
        row.one("dt").text: row.one("dd").text
        for found in staff.page.all("dl", class_="facts")
        for row in found.all("div")
    }


async def line_ids(shop: Shop) -> list[int]:
    """The ids of all lines."""
    return [row[0] for row in await columns(shop, "order_product", "id")]


async def refunds(shop: Shop) -> list[Decimal]:
    """The amounts of all refunds."""
    return sorted(row[0] for row in await columns(shop, "refund", "refund_amount"))


async def test_the_next_step_is_the_first_button(shop: Shop, shop_office: Office) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 2), delivery=DeliveryKind.HOME_DELIVERY)
    staff = await shop_office.open("staff", await order_url(shop))
    assert staff.response.status_code == 200
    (first,) = staff.page.one("main").all("a", class_="main")
    assert (first.text, first.attributes["href"]) == ("Mark sent", f"{await order_url(shop)}mark-order-sent/")
    text = staff.page.one("main").text
    assert text.index("Candle") < text.index("Delivery") < text.index("Buyer") < text.index("Payments and refunds")
    assert "2 × €20.00" in text
    await shop.execute("UPDATE mail SET state = 'sent' WHERE kind = 'order_confirmation'")
    mail = await shop.one("SELECT id FROM mail WHERE kind = 'order_confirmation'")
    staff = await shop_office.open("staff", await order_url(shop))
    again = [link.attributes["href"] for link in staff.page.one("main").all("a") if link.text.startswith("Send again")]
    assert again == [f"{ROOT}mails/{mail}/resend-mail/"]
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'sent'")
    staff = await shop_office.open("staff", await order_url(shop))
    assert [link.text for link in staff.page.one("main").all("a", class_="main")] == ["Mark delivered"]
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'delivered'")
    staff = await shop_office.open("staff", await order_url(shop))
    assert staff.page.one("main").all("a", class_="main") == []


async def test_lines_show_what_was_issued_with_a_masked_code(
    shop: Shop, sold: Experiences, shop_office: Office
) -> None:
    await bought(shop, for_two(sold))
    code = await shop.one("SELECT code FROM voucher")
    staff = await shop_office.open("staff", await order_url(shop))
    text = staff.page.one("main").text
    assert f"•••• {code[-4:]}" in text
    assert code not in staff.response.text
    voucher = await shop.one("SELECT id FROM voucher")
    assert f"{ROOT}vouchers/{voucher}/" in staff.response.text
    trainee = await shop_office.open("trainee", await order_url(shop))
    assert trainee.response.status_code == 200
    assert code[-4:] not in trainee.page.one("main").text, "vouchers need a permission of their own"


async def test_lines_are_refunded_after_a_preview(shop: Shop, sold: Experiences, shop_office: Office) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    first, second = await line_ids(shop)
    staff = await shop_office.open("staff", (await order_url(shop)) + REFUND_FORM)
    await press(staff, "preview", **{f"line.{second}": "1", "reason": "Closed that day"})
    assert staff.response.status_code == 200
    assert staff.h1.startswith("Confirm the refund")
    assert facts(staff)["Back to the bank card"] == "€194.00"
    assert await refunds(shop) == [], "a preview refunds nothing"
    await press(staff, "confirm")
    assert notices(staff) == ["Done: Refund the buyer"]
    assert await refunds(shop) == [Decimal("194.00")]
    assert await shop.one("SELECT reason FROM refund") == "Closed that day"
    assert await shop.one("SELECT refunded_on IS NULL FROM voucher ORDER BY id LIMIT 1")
    assert await shop.one("SELECT refunded_on IS NOT NULL FROM voucher ORDER BY id DESC LIMIT 1")
    assert "−€194.00" in staff.page.one("main").text
    voucher = await shop.one("SELECT max(id) FROM voucher")
    customer = await shop.one("SELECT min(id) FROM customer")
    pages = f"{ROOT}vouchers/", f"{ROOT}vouchers/{voucher}/", f"{ROOT}customers/{customer}/", await order_url(shop)
    for path in pages:
        staff = await shop_office.open("staff", path)
        chips = [chip.text for chip in staff.page.one("main").all("span", class_="chip")]
        assert "Refunded" in chips, path
        assert "Error" not in chips, path
    staff = await shop_office.open("staff", (await order_url(shop)) + REFUND_FORM)
    boxes = [box.attributes["name"] for box in staff.page.all("input", type="checkbox")]
    assert f"line.{first}" in boxes
    assert f"line.{second}" not in boxes


async def test_a_confirmation_that_is_sent_twice_refunds_once(shop: Shop, shop_office: Office) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 3))
    (line,) = await line_ids(shop)
    staff = await shop_office.open("staff", (await order_url(shop)) + REFUND_FORM)
    await press(staff, "preview", **{f"line.{line}": "1", f"quantity.{line}": "1"})
    page, response = staff.page, staff.response
    await press(staff, "confirm")
    assert await refunds(shop) == [Decimal("20.00")]
    staff.page, staff.response = page, response
    await press(staff, "confirm")
    assert notices(staff) == ["Done: Refund the buyer"]
    assert await refunds(shop) == [Decimal("20.00")]


async def test_a_preview_that_no_longer_holds_is_shown_again(shop: Shop, shop_office: Office) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 3))
    (line,) = await line_ids(shop)
    staff = await shop_office.open("staff", (await order_url(shop)) + REFUND_FORM)
    await press(staff, "preview", **{f"line.{line}": "1", f"quantity.{line}": ""})
    assert facts(staff)["Back to the bank card"] == "€60.00"
    await refunded(shop, (0, 1))
    order = await shop_office.browser("staff").http.get(await order_url(shop))
    assert all(text in order.text for text in ("Partly refunded", "−€20.00", "€40.00", "Remaining"))
    assert "€40.00" in (await staff.http.get((await order_url(shop)) + REFUND_FORM)).text
    await press(staff, "confirm")
    assert staff.response.status_code == 400
    assert notices(staff)[0].startswith("It would be another refund now")
    assert facts(staff)["Back to the bank card"] == "€40.00"
    assert await refunds(shop) == [Decimal("20.00")]
    await press(staff, "confirm")
    assert await refunds(shop) == [Decimal("20.00"), Decimal("40.00")]


async def test_a_refund_that_is_no_longer_possible_is_chosen_again(shop: Shop, shop_office: Office) -> None:
    candle, honey = await shop.product("20.00"), await shop.product("8.00")
    await ordered(shop, ProductChoice(candle.id, 2), ProductChoice(honey.id, 1))
    line, _ = await line_ids(shop)
    staff = await shop_office.open("staff", (await order_url(shop)) + REFUND_FORM)
    await press(staff, "preview", **{f"line.{line}": "1"})
    await refunded(shop, 0)
    await press(staff, "confirm")
    assert staff.response.status_code == 400
    assert staff.h1.startswith("Refund: ")
    assert staff.page.all("p", class_="notice")
    assert await refunds(shop) == [Decimal("40.00")]


async def test_what_is_wrong_stands_at_its_line(shop: Shop, shop_office: Office) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 2))
    (line,) = await line_ids(shop)
    url = (await order_url(shop)) + REFUND_FORM
    staff = await shop_office.open("staff", url)
    await press(staff, "preview")
    assert (staff.response.status_code, notices(staff)) == (400, ["Choose what is refunded."])
    for typed in ("0", "x", "-1", "1.5", "9" * 12):
        await press(staff, "preview", **{f"line.{line}": "1", f"quantity.{line}": typed})
        assert errors(staff) == {f"quantity.{line}": "Enter a whole number."}, typed
    await press(staff, "preview", **{f"line.{line}": "1", f"quantity.{line}": "5"})
    assert errors(staff) == {f"quantity.{line}": "Only 2 are left to refund."}
    assert await refunds(shop) == []


async def test_a_changed_choice_begins_with_what_was_chosen(shop: Shop, shop_office: Office) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 3))
    (line,) = await line_ids(shop)
    staff = await shop_office.open("staff", (await order_url(shop)) + REFUND_FORM)
    await press(staff, "preview", **{f"line.{line}": "1", f"quantity.{line}": "2"})
    await press(staff, "choose")
    assert staff.response.status_code == 200
    assert staff.page.one("input", name=f"quantity.{line}").attributes["value"] == "2"
    assert "checked" in staff.page.one("input", name=f"line.{line}").attributes


async def test_an_amount_of_a_payment_is_refunded(shop: Shop, shop_office: Office) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 2))
    staff = await shop_office.open("staff", (await order_url(shop)) + REFUND_FORM)
    (other,) = [link for link in staff.page.one("main").all("a") if link.text == "Refund an amount instead"]
    staff = await shop_office.open("staff", other.attributes["href"])
    await press(staff, "preview", amount="zero")
    assert errors(staff) == {"amount": "Enter a number."}
    await press(staff, "preview", amount="41")
    assert errors(staff) == {"amount": "Only €40.00 is left to refund."}
    await press(staff, "preview", amount="12,50")
    assert facts(staff)["Still refundable afterwards"] == "€27.50"
    await press(staff, "confirm")
    assert notices(staff) == ["Done: Refund the buyer"]
    assert await refunds(shop) == [Decimal("12.50")]


async def test_who_may_not_refund_cannot(shop: Shop, shop_office: Office) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 2))
    (line,) = await line_ids(shop)
    url = (await order_url(shop)) + REFUND_FORM
    trainee = await shop_office.open("trainee", await order_url(shop))
    assert "Refund the buyer" not in trainee.page.one("main").text
    assert (await shop_office.open("trainee", url)).response.status_code == 403
    assert (await shop_office.open("neighbour", url)).response.status_code == 404
    assert (await shop_office.open("neighbour", await order_url(shop))).response.status_code == 404
    for who, status in (("trainee", 403), ("neighbour", 404)):
        form = {
            "csrf": await shop_office.csrf(who),
            f"line.{line}": "1",
            "_step": "confirm",
            "_card": "40",
            "_gift": "0",
        }
        other = await shop_office.browser(who).post(url, form | {"_key": "k" * 20})
        assert other.response.status_code == status
    assert await refunds(shop) == []
    assert not re.search(r"CANCELLED|refunded", str(await columns(shop, "shop_order", "status")))


async def test_an_order_is_found_by_a_code_and_corrected(shop: Shop, sold: Experiences, shop_office: Office) -> None:
    await bought(shop, for_two(sold))
    code = await shop.one("SELECT code FROM voucher")
    staff = await shop_office.open("staff", f"{ROOT}orders/?{urlencode({'code': code})}")
    assert [row.text for row in staff.page.all("th", scope="row")] == ["Order 1 · Ada Martin"]
    staff = await shop_office.open("staff", (await order_url(shop)) + "update-order-details/")
    await send(staff, buyer__email="joan@example.com")
    assert notices(staff) == ["Done: Edit details"]
    assert await shop.one("SELECT buyer_email FROM shop_order") == "joan@example.com"
    text = staff.page.one("main").text
    assert "joan@example.com" in text
    assert "Details corrected" in text
    await send(await shop_office.open("staff", (await order_url(shop)) + "update-order-details/"), buyer__email="x")
    assert errors(staff) == {"buyer.email": "Enter an e-mail address like name@example.com."}


async def test_a_customer_has_what_it_bought(shop: Shop, sold: Experiences, shop_office: Office) -> None:
    await bought(shop, for_two(sold))
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    staff = await shop_office.open("staff", f"{ROOT}customers/")
    (row,) = staff.page.all("th", scope="row")
    url = row.one("a").attributes["href"]
    await shop_office.open("staff", url)
    assert staff.response.status_code == 200
    text = staff.page.one("main").text
    for told in (BUYER.email, "€214.00", "Orders", "Vouchers given", "Payments", "Mail"):
        assert told in text, told
    assert "Vouchers received" not in text
    assert await shop.one("SELECT code FROM voucher") not in text
    order = await order_url(shop)
    assert order in [link.attributes["href"] for link in staff.page.one("main").all("a")]
    trainee = await shop_office.open("trainee", url)
    assert "Vouchers given" not in trainee.page.one("main").text
    assert "Export personal data" not in trainee.page.one("main").text
    assert (await shop_office.open("neighbour", url)).response.status_code == 404


async def test_a_customer_is_exported_and_erased_by_its_buttons(shop: Shop, shop_office: Office) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    await shop.execute("UPDATE shop_order SET fulfilment_state = NULL")
    await shop.execute("UPDATE mail SET state = 'sent'")
    rights = [Permission.VIEW_ORDER, Permission.MANAGE_PERSONAL_DATA]
    await shop_office.tenants.user("officer", "partner", rights, partner_id=shop.partner.id)
    id = await shop.one("SELECT id FROM customer")
    staff = await shop_office.open("officer", f"{ROOT}customers/{id}/")
    links = {link.text: link.attributes["href"] for link in staff.page.one("main").all("a")}
    await shop_office.open("officer", links["Export personal data"])
    await send(staff)
    assert BUYER.email in staff.page.one("main").text
    await shop_office.open("officer", links["Erase personal data"])
    await send(staff)
    assert staff.response.status_code == 200
    assert await shop.one("SELECT buyer_email FROM shop_order") == ""
    staff = await shop_office.open("officer", f"{ROOT}customers/")
    assert staff.page.all("th", scope="row") == []
