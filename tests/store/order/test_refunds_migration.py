"""Lines of orders that exist get their part of the discounts, and sum to that of their order."""

from decimal import Decimal

from schema.checkout.checkout import ProductChoice
from tests.fixtures.basket import bought, card_of, columns, experiences, for_two, sale_coupon
from tests.fixtures.payment.order_refund import ordered
from tests.fixtures.shop import Shop
from tests.store.migrations.revisions import at

BEFORE = "0031"
DIFFERENCES = """
    SELECT count(*) FROM shop_order o
    WHERE discount_amount <> (SELECT sum(discount_amount) FROM order_product p WHERE p.order_id = o.id)
"""


async def test_old_orders_survive_both_ways(shop: Shop) -> None:
    sold = await experiences(shop)
    coupon = await sale_coupon(shop, voucher_prototype_ids=[sold.massage.id], max_usages=None)
    await bought(shop, for_two(sold), for_two(sold, adults=1), codes=(coupon.code,))
    await bought(shop, card_of("50.00"), card_of("79.99"), codes=(coupon.code,))
    await bought(shop, card_of("20.00"))
    candle, honey, free = [await shop.product(price) for price in ("3.33", "0.01", "0.00")]
    off = await shop.coupon("ODD", percentage="33.00")
    choices = ProductChoice(candle.id, 7), ProductChoice(honey.id, 1), ProductChoice(free.id, 1)
    await ordered(shop, *choices, codes=(off.code,))
    before = await columns(shop, "order_product", "discount_amount")
    assert await shop.one(DIFFERENCES) == 0
    await at(shop.services.db, BEFORE, down=True)
    await at(shop.services.db, "head")
    assert await shop.one(DIFFERENCES) == 0
    assert await columns(shop, "order_product", "discount_amount") == before
    assert before[4:5] == [(Decimal("0.00"),)]
    assert await columns(shop, "order_product", "refunded_quantity", "refunded_amount") == [(0, Decimal("0.00"))] * 8
