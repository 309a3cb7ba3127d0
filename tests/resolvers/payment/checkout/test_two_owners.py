"""Orders of what is the partner's own and what is its network's: one payment, and each has its part of it."""

from decimal import Decimal

import pytest

from schema.checkout.checkout import PaymentAttemptStatus, ShopKind
from tests.fixtures.basket import GIFTEE, Experiences, bought, card_of, columns, for_two
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.dispute import balances
from tests.fixtures.payment.mixed_order import mixed_shop
from tests.fixtures.shop import Shop

Goods = tuple[NetworkGoods, Experiences]


@pytest.fixture
async def goods(shop: Shop) -> Goods:
    """What is sold."""
    return await mixed_shop(shop)


async def is_proved(shop: Shop) -> None:
    """All rules of the ledger hold."""
    assert await broken_rules(shop.services.db) == {}


async def test_it_is_one_order_and_each_has_its_part(shop: Shop, goods: Goods) -> None:
    """194.00 and 50.00 are the partner's, less 10 % commission and VAT on it: 29.28; 60.00 and 120.00 the network's."""
    network, own = goods
    outcome = await bought(
        shop, for_two(own), network.cards("60.00", giftee=GIFTEE), card_of("50.00"), network.boxes(giftee=GIFTEE)
    )
    assert (outcome.status, outcome.kind) == (PaymentAttemptStatus.COMPLETED, ShopKind.MIXED)
    paid = await columns(
        shop, "payment", "payment_amount", "partner_share_amount", "commission_amount", "is_for_marketplace", "wallet_id"
    )
    assert paid == [(Decimal("424.00"), Decimal("244.00"), Decimal("29.28"), True, network.wallet.id)]
    lines = "num_nonnulls(voucher_id, gift_card_id)", "num_nonnulls(network_gift_card_id, network_voucher_id)"
    assert await columns(shop, "order_product", *lines) == [(1, 0), (0, 1), (1, 0), (0, 1)]
    assert await balances(shop) == {
        "wallet": 39472,
        "fees_wallet": 2928,
        "partner_network": 21472,
        "commission": 2440,
        "vat_on_commission": 488,
        "card": 6000 + 5000,
        "issued": 5000,
        "network_voucher": 12000,
    }
    assert await shop.one("SELECT network_amount FROM payable_item") == 21472
    await is_proved(shop)
