"""What a shop sells of its network: the window, one box, and the rules of a basket of network products."""

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from resolvers.checkout import basket
from resolvers.checkout.basket import open_basket, put_line
from resolvers.checkout.network_shop import open_box, open_network_shop
from schema.checkout.basket import BoxChoice, GiftCardChoice, NetworkGiftCardChoice, VoucherChoice
from schema.checkout.checkout import CheckoutKey, CheckoutKind
from schema.core.errors import GiftCardsNotSold, InvalidInput, NotFound, PartnerInactive
from schema.partner.partner import PartnerStatus
from store.core.session_ids import new_session_id
from tests.fixtures.network_sale import NetworkGoods, network_goods, new_box
from tests.fixtures.shop import Shop


@pytest_asyncio.fixture
async def goods(shop: Shop) -> NetworkGoods:
    """What the network sells in its own shop."""
    return await network_goods(shop)


def new_key(kind: CheckoutKind = CheckoutKind.NETWORK) -> CheckoutKey:
    return CheckoutKey(uuid.uuid4(), new_session_id(), kind)


async def problems(shop: Shop, choice: Any, kind: CheckoutKind = CheckoutKind.NETWORK) -> set[str]:
    """The places where a choice cannot be put into a basket; nothing of it is kept."""
    key = new_key(kind)
    with pytest.raises(InvalidInput) as refused:
        await put_line(shop.context, key, uuid.uuid4(), choice)
    assert (await open_basket(shop.context, key)).basket_lines == ()
    return {".".join(map(str, problem.path)) for problem in refused.value.problems}


async def test_the_window(shop: Shop, goods: NetworkGoods) -> None:
    favourite = await new_box(shop, is_highlight=True, ranking=9)
    await new_box(shop, is_active=False)
    window = await open_network_shop(shop.context)
    assert [box.id for box in window.boxes] == [favourite.id, goods.box.id]
    assert window.boxes[0].partners_count == 1
    assert window.cards is not None
    assert [design.id for design in window.cards.designs] == [goods.design.id]
    assert (window.cards.minimum, window.cards.maximum) == (Decimal("10.00"), Decimal("1000.00"))


async def test_a_partner_sells_what_it_takes_part_in(shop: Shop, goods: NetworkGoods) -> None:
    change = (
        "UPDATE partner SET is_network_shop = false, linked_to_ngc_settings = :cards, linked_to_nv_settings = :boxes"
    )
    await shop.execute(change, cards=True, boxes=False)
    window = await open_network_shop(shop.context)
    assert (window.cards is not None, window.boxes) == (True, ())
    with pytest.raises(NotFound):
        await open_box(shop.context, goods.box.id)
    await shop.execute(change, cards=False, boxes=True)
    window = await open_network_shop(shop.context)
    assert (window.cards, len(window.boxes)) == (None, 1)
    await shop.execute(change, cards=False, boxes=False)
    with pytest.raises(NotFound):
        await open_network_shop(shop.context)


async def test_a_partner_that_may_not_sell(shop: Shop, goods: NetworkGoods) -> None:
    await shop.execute("UPDATE partner SET status = :status", status=PartnerStatus.INACTIVE.value)
    for looked in (open_network_shop(shop.context), open_box(shop.context, goods.box.id)):
        with pytest.raises(PartnerInactive):
            await looked


@pytest.mark.parametrize("id", [0, -1, 2**31, 4711])
async def test_boxes_that_are_not_there(shop: Shop, goods: NetworkGoods, id: int) -> None:
    assert goods
    with pytest.raises(NotFound):
        await open_box(shop.context, id)


async def test_a_box_that_nobody_accepts_is_not_sold(shop: Shop, goods: NetworkGoods) -> None:
    assert (await open_box(shop.context, goods.box.id)).price == Decimal("120.00")
    await shop.execute("UPDATE offer SET is_active = false")
    with pytest.raises(NotFound):
        await open_box(shop.context, goods.box.id)
    assert await problems(shop, goods.boxes()) == {"box_id"}


async def test_what_cannot_be_put_into_a_basket(shop: Shop, goods: NetworkGoods) -> None:
    today = shop.services.clock.now().date()
    late, old = today + dt.timedelta(days=400), today - dt.timedelta(days=2)
    assert await problems(shop, goods.boxes(0, send_on=late)) == {"quantity", "send_on"}
    assert await problems(shop, BoxChoice(4711)) == {"box_id"}
    assert await problems(shop, goods.cards("0.00", 101, send_on=old)) == {"amount", "quantity", "send_on"}
    assert await problems(shop, goods.cards("10.001")) == {"amount"}
    assert await problems(shop, goods.cards("NaN")) == {"amount"}
    assert await problems(shop, NetworkGiftCardChoice(Decimal(50), 4711)) == {"design_id"}
    assert await problems(shop, goods.cards(message="x" * 1001)) == {"message"}


async def test_a_shop_sells_what_the_network_does_but_the_networks_shop_nothing_else(
    shop: Shop, goods: NetworkGoods
) -> None:
    for choice in (goods.cards(), goods.boxes()):
        key = new_key(CheckoutKind.BASKET)
        seen = await put_line(shop.context, key, uuid.uuid4(), choice)
        assert [line.problem for line in seen.basket_lines] == [None]
    await shop.execute("UPDATE partner SET is_network_shop = false, linked_to_ngc_settings = false")
    assert await problems(shop, goods.cards(), CheckoutKind.BASKET) == {"prototype_id"}
    await shop.execute("UPDATE partner SET linked_to_nv_settings = false")
    assert await problems(shop, goods.boxes(), CheckoutKind.BASKET) == {"box_id"}
    await shop.execute("UPDATE partner SET is_network_shop = true")
    with pytest.raises(GiftCardsNotSold):
        await basket.put_line(shop.context, new_key(), uuid.uuid4(), GiftCardChoice(Decimal("50.00")))
    assert await problems(shop, VoucherChoice(4711)) == {"prototype_id"}


async def test_quantities_count(shop: Shop, goods: NetworkGoods) -> None:
    key = new_key()
    await put_line(shop.context, key, uuid.uuid4(), goods.boxes(3))
    view = await put_line(shop.context, key, uuid.uuid4(), goods.cards("25.50", 2))
    assert [(line.quantity, line.base_price, line.total) for line in view.basket_lines] == [
        (3, Decimal("120.00"), Decimal("360.00")),
        (2, Decimal("25.50"), Decimal("51.00")),
    ]
    assert view.totals.total == Decimal("411.00")
    assert view.totals.vat == ()


async def test_an_order_has_a_limit(shop: Shop, goods: NetworkGoods) -> None:
    """Each piece is issued while other orders wait."""
    key, line_id = new_key(), uuid.uuid4()
    await put_line(shop.context, key, line_id, goods.boxes(100))
    await put_line(shop.context, key, uuid.uuid4(), goods.cards("50.00", 100))
    with pytest.raises(InvalidInput) as refused:
        await put_line(shop.context, key, uuid.uuid4(), goods.cards("20.00"))
    assert [problem.path for problem in refused.value.problems] == [("quantity",)]
    view = await put_line(shop.context, key, line_id, goods.boxes(99))
    assert [line.quantity for line in view.basket_lines] == [99, 100]
