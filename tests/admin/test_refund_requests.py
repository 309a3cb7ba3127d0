"""The approval of a buyer's request: nothing goes back that was not seen before."""

from decimal import Decimal

from admin.sales.refund_requests import SLUG
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from tests.admin.office import ROOT, Office, notices, send
from tests.admin.test_orders import facts, press, refunds, shop_office, sold
from tests.fixtures.basket import Experiences, bought, for_two
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.payment.refund_request import asked, declined
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer

__all__ = ["shop_office", "sold"]


async def opened(shop: Shop, office: Office, quantities: dict[int, int]) -> tuple[Customer, int]:
    """The form that approves a request about three candles at 20.00 that are sent for 5.00."""
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 3), delivery=DeliveryKind.HOME_DELIVERY)
    id = await asked(shop, quantities)
    return await office.open("staff", f"{ROOT}refund-requests/{id}/{SLUG}/"), id


async def test_an_approval_shows_what_it_refunds_first(shop: Shop, shop_office: Office) -> None:
    staff, id = await opened(shop, shop_office, {0: 2})
    await shop_office.open("staff", f"{ROOT}refund-requests/{id}/")
    heads = [head.text for head in staff.page.one("main").all("th", scope="col")]
    assert heads == ["Name", "Quantity", "Unit price", "Total"]
    await shop_office.open("staff", f"{ROOT}refund-requests/{id}/{SLUG}/")
    assert "2 × Candle" in staff.page.one("main").text
    assert "checked" not in staff.page.one("input", name="delivery").attributes
    await press(staff, "preview", message="Sorry.")
    assert staff.response.status_code == 200
    assert facts(staff)["Back to the bank card"] == "€40.00"
    assert facts(staff)["Still refundable afterwards"] == "€25.00"
    (button,) = staff.page.all("button", value="confirm")
    assert button.text == "Approve and refund €40.00"
    assert await refunds(shop) == [], "a preview refunds nothing"
    page, response = staff.page, staff.response
    await press(staff, "confirm")
    assert notices(staff) == ["Done: Approve"]
    assert await refunds(shop) == [Decimal("40.00")]
    assert await shop.one("SELECT answer FROM refund_request") == "Sorry."
    staff.page, staff.response = page, response
    await press(staff, "confirm")
    assert notices(staff) == ["Done: Approve"], "the same form once more"
    assert await refunds(shop) == [Decimal("40.00")]
    await shop_office.open("staff", f"{ROOT}refund-requests/{id}/{SLUG}/")
    assert staff.response.url.path == f"{ROOT}refund-requests/{id}/", "it has its answer"


async def test_many_approvals_show_each_amount_and_the_sum(shop: Shop, shop_office: Office) -> None:
    ids = [(await opened(shop, shop_office, {0: quantity}))[1] for quantity in (1, 2)]
    _, gone = await opened(shop, shop_office, {0: 1})
    await declined(shop, gone)
    staff = await shop_office.choose("staff", f"{ROOT}refund-requests/", SLUG, *ids, gone)
    assert "Sum" not in staff.page.one("main").text
    await send(staff, message="Sorry.")
    amounts = [row.all("td")[0].text for row in staff.page.one("main").all("tr")[1:]]
    assert amounts == ["€20.00", "€40.00", ""]
    assert "Sum: €60.00" in staff.page.one("main").text
    assert await refunds(shop) == [], "a preview refunds nothing"
    await send(staff, _consent="1")
    assert notices(staff)[0] == "2 are done."
    assert "Sum: €60.00" in staff.page.one("main").text
    assert sorted(await refunds(shop)) == [Decimal("20.00"), Decimal("40.00")]


async def test_the_delivery_goes_back_with_all_that_is_left(shop: Shop, shop_office: Office) -> None:
    staff, _ = await opened(shop, shop_office, {0: 3})
    assert "checked" in staff.page.one("input", name="delivery").attributes
    await press(staff, "preview")
    assert facts(staff)["Of it for delivery"] == "€5.00"
    await press(staff, "choose")
    assert "checked" in staff.page.one("input", name="delivery").attributes
    await press(staff, "preview", delivery="")
    await press(staff, "confirm")
    assert await refunds(shop) == [Decimal("60.00")]


async def test_an_approval_that_refunds_something_else_is_shown_again(shop: Shop, shop_office: Office) -> None:
    staff, _ = await opened(shop, shop_office, {0: 3})
    await press(staff, "preview", delivery="")
    await refunded(shop, (0, 1))
    await press(staff, "confirm")
    assert staff.response.status_code == 400
    assert notices(staff)[0].startswith("It would be another refund now")
    assert staff.page.all("button", value="confirm")[0].text == "Approve and refund €40.00"
    assert await refunds(shop) == [Decimal("20.00")]
    await press(staff, "confirm")
    assert await refunds(shop) == [Decimal("20.00"), Decimal("40.00")]


async def test_a_request_that_was_declined_meanwhile_refunds_nothing(shop: Shop, shop_office: Office) -> None:
    staff, id = await opened(shop, shop_office, {0: 1})
    await press(staff, "preview")
    await declined(shop, id)
    await press(staff, "confirm")
    assert staff.response.status_code == 400
    assert len(notices(staff)) == 1
    assert await refunds(shop) == []


async def test_vouchers_that_are_withdrawn_are_named(shop: Shop, sold: Experiences, shop_office: Office) -> None:
    await bought(shop, for_two(sold))
    id = await asked(shop)
    staff = await shop_office.open("staff", f"{ROOT}refund-requests/{id}/{SLUG}/")
    await press(staff, "preview")
    assert "These are withdrawn" in staff.page.one("main").text
    await shop_office.open("trainee", f"{ROOT}refund-requests/{id}/{SLUG}/")
    assert shop_office.browser("trainee").response.status_code == 403
    await shop_office.open("neighbour", f"{ROOT}refund-requests/{id}/{SLUG}/")
    assert shop_office.browser("neighbour").response.status_code == 404
