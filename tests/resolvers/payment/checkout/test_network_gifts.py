"""Gifts of a network that are sent on a day of the buyer's choice."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from schema.coupon.coupon import ReceptionMode
from store.core.clock import clock
from tests.fixtures.basket import GIFTEE, bought, columns
from tests.fixtures.network_sale import NetworkGoods, network_goods
from tests.fixtures.shop import Shop
from tests.store.migrations.revisions import at


@pytest.fixture
async def goods(shop: Shop) -> NetworkGoods:
    """What the network's own shop sells."""
    return await network_goods(shop)


async def test_a_gift_is_mailed_on_the_chosen_day(shop: Shop, goods: NetworkGoods) -> None:
    await shop.execute("UPDATE marketplace SET time_zone = 'Europe/Paris'")
    day = clock.now().date() + dt.timedelta(days=10)
    chosen = goods.cards(giftee=GIFTEE, send_on=day), goods.boxes(giftee=GIFTEE), goods.cards("60.00", giftee=GIFTEE)
    outcome = await bought(shop, *chosen, reception=ReceptionMode.GIFTEE_EMAIL)
    morning = dt.datetime.combine(day, dt.time(8), ZoneInfo("Europe/Paris"))
    assert [line.issued_item.send_on for line in (await shop.order_page(outcome)).lines if line.issued_item] == [
        morning,
        None,
        None,
    ]
    due = await columns(
        shop,
        "mail",
        "kind",
        "recipient",
        "due_on AT TIME ZONE 'Europe/Paris' - created_on AT TIME ZONE 'Europe/Paris' > interval '1 day'",
    )
    later = sorted((kind, to) for kind, to, is_later in due if is_later)
    assert later == [("network_gift_card", "ada@example.com"), ("network_gift_card", "grace@example.com")]
    at = await shop.one("SELECT max(due_on) AT TIME ZONE 'Europe/Paris' FROM mail")
    assert at == dt.datetime.combine(day, dt.time(8))
    ends = await columns(shop, "gift_card", "value_amount::int", "(expires_on AT TIME ZONE 'Europe/Paris')::date")
    assert dict(ends)[50] - dict(ends)[60] >= dt.timedelta(days=9), "it is valid from the day on which it is sent"
    assert await shop.one("SELECT count(*) FROM mail WHERE kind IN ('network_gift_card', 'network_voucher')") == 6


async def test_gifts_that_wait_since_an_older_release_know_their_day(shop: Shop, goods: NetworkGoods) -> None:
    """Only attempts knew it: as what was sold is downgraded and upgraded again, the days are found there."""
    await shop.execute("UPDATE marketplace SET time_zone = 'Europe/Paris'")
    day = clock.now().date() + dt.timedelta(days=10)
    chosen = (
        goods.cards(giftee=GIFTEE, send_on=day),
        goods.boxes(giftee=GIFTEE, send_on=day),
        goods.cards("60.00", giftee=GIFTEE),
    )
    await bought(shop, *chosen, reception=ReceptionMode.GIFTEE_EMAIL)
    days = [await columns(shop, table, "send_on") for table in ("gift_card", "network_voucher")]
    morning = dt.datetime.combine(day, dt.time(8), ZoneInfo("Europe/Paris"))
    assert days == [[(morning,), (None,)], [(morning,)]]
    await at(shop.services.db, "0058", down=True)
    await at(shop.services.db, "head")
    assert [await columns(shop, table, "send_on") for table in ("gift_card", "network_voucher")] == days
