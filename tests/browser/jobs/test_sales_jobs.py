"""Jobs with orders, in a browser: found, handed over, corrected, refunded; codes and links to pay."""

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.browser.jobs.conftest import Begin, BuySoap
from tests.browser.jobs.pictures import illustrate
from tests.browser.jobs.table import agrees
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

REFUNDED = """
    SELECT sum(p.refunded_amount) FROM payment p JOIN shop_order o ON o.id = p.order_id
    WHERE o.number = :number AND o.partner_id = :partner
"""


async def test_an_order_is_found_by_its_buyer(begin: Begin) -> None:
    hand = await begin("find-an-order")
    await illustrate(hand.page, "home")
    await hand.search("Brancaleoni")
    await illustrate(hand.page, "search")
    await hand.link("Order 1 · Matteo Brancaleoni")
    await hand.reads("€39.90")
    agrees("find-an-order", hand.effort)


async def test_an_order_is_marked_ready(shop: RunningShop, begin: Begin, buy_soap: BuySoap) -> None:
    _, order = await buy_soap("Lovelace", DeliveryKind.CLICK_AND_COLLECT)
    hand = await begin("hand-an-order-over")
    await hand.link("Orders to prepare")
    await illustrate(hand.page, "list")
    await hand.row(f"Order {order['number']} ·")
    await illustrate(hand.page, "order")
    await hand.link("Mark ready")
    await hand.button("Mark ready")
    await hand.is_done("Mark ready")
    state = "SELECT fulfilment_state::text FROM shop_order WHERE number = :number AND partner_id = :partner"
    assert await shop.one(state, number=order["number"], partner=shop.partner.id) == "ready_to_collect"
    agrees("hand-an-order-over", hand.effort)


async def test_the_address_of_an_order_is_corrected(shop: RunningShop, begin: Begin, buy_soap: BuySoap) -> None:
    _, order = await buy_soap("Curie", DeliveryKind.HOME_DELIVERY)
    hand = await begin("correct-an-address")
    await hand.menu("Orders")
    await hand.row(f"Order {order['number']} ·")
    await hand.link("Edit details")
    await hand.type(hand.page.locator("#f-delivery-address-line1"), "17 rue des Lilas")
    await hand.button("Save")
    await hand.is_done("Edit details")
    await hand.reads("17 rue des Lilas")
    agrees("correct-an-address", hand.effort)


async def test_a_part_of_an_order_is_refunded(shop: RunningShop, begin: Begin, buy_soap: BuySoap) -> None:
    _, order = await buy_soap("Meitner", DeliveryKind.CLICK_AND_COLLECT)
    hand = await begin("refund-a-line")
    await hand.menu("Orders")
    await hand.row(f"Order {order['number']} ·")
    await hand.link("Refund the buyer")
    await hand.click(hand.page.get_by_role("checkbox", name="Trio of garden soaps"))
    await hand.type(hand.page.get_by_label("Quantity"), "1")
    await hand.button("Preview")
    await hand.reads("€18.00")
    await illustrate(hand.page, "refund")
    await hand.button("Refund €18.00")
    await hand.is_done("Refund the buyer")
    assert await shop.one(REFUNDED, number=order["number"], partner=shop.partner.id) == 18
    agrees("refund-a-line", hand.effort)


async def test_a_withdrawal_is_approved(shop: RunningShop, begin: Begin, buy_soap: BuySoap) -> None:
    buyer, order = await buy_soap("Noether", DeliveryKind.HOME_DELIVERY)
    await buyer.page.get_by_role("link", name="Withdraw from contract here").click()
    await buyer.page.get_by_label("Trio of garden soaps").select_option("1")
    await buyer.page.get_by_role("button", name="Continue").click()
    await buyer.page.get_by_role("button", name="Confirm withdrawal").click()
    await buyer.page.wait_for_url("**#requests")
    hand = await begin("answer-a-request")
    await hand.link("Requests of buyers to answer")
    await hand.row("Ada Noether")
    await hand.link("Approve")
    await hand.button("Preview")
    await hand.button("Approve and refund €18.00")
    await hand.is_done("Approve")
    assert await shop.one(REFUNDED, number=order["number"], partner=shop.partner.id) == 18
    agrees("answer-a-request", hand.effort)


async def test_the_code_of_a_voucher_is_shown(shop: RunningShop, begin: Begin) -> None:
    hand = await begin("show-a-code")
    await hand.search("Hartwell")
    await hand.click(hand.page.get_by_role("link", name="A night among the lavender").first)
    id = int(hand.page.url.rstrip("/").rpartition("/")[2])
    await hand.link("Show the code")
    await hand.button("Show the code")
    await hand.reads(str(await shop.one("SELECT code FROM voucher WHERE id = :id", id=id)))
    await illustrate(hand.page, "code")
    agrees("show-a-code", hand.effort)


async def test_a_link_to_pay_is_sent(shop: RunningShop, begin: Begin) -> None:
    last = await shop.one("SELECT max(id) FROM mail")
    hand = await begin("send-a-payment-link")
    await hand.menu("Payment requests")
    await hand.link("New payment request")
    texts = {"amount": "145", "customer-firstName": "Emily", "customer-lastName": "Hartwell"}
    for name, text in (texts | {"customer-email": "emily.hartwell@example.com"}).items():
        await hand.type(hand.page.locator(f"#f-{name}"), text)
    await hand.choose(hand.page.locator("#f-language"), "English")
    await hand.button("New payment request")
    await hand.is_done("New payment request")
    mail = "SELECT count(*) FROM mail WHERE kind = 'payment_request' AND id > :last"
    assert await shop.one(mail, last=last) == 1
    agrees("send-a-payment-link", hand.effort)
