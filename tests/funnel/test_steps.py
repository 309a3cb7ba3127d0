"""The checkout from its first step to its last, without scripts."""

from schema.cart import CartItem
from schema.delivery import DeliveryKind
from tests.funnel.customer import Customer
from tests.shop_world import Shop


async def test_a_walk(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00", stock=3)
    cart = await shop.cart(CartItem(candle.id, 2))
    await customer.open(f"/ecommerce/shop/customization/?cart={cart.id}")
    assert customer.response.status_code == 200, customer.response.text
    assert customer.h1 == "Your order"
    home = shop.modes[DeliveryKind.HOME_DELIVERY]
    await customer.send(
        "/ecommerce/shop/customization/", {"delivery": str(home), "country": "FR"}, ("do", "continue")
    )
    assert customer.step == "information?cart" or "information" in customer.path
