"""The date that decides about the payout of a usage is changed, until the usage is in a payout."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from resolvers.core.operation import Operation
from resolvers.network.gift_card_usages import (
    cancel_network_gift_card_usage,
    update_network_gift_card_usage,
    use_network_gift_card,
)
from resolvers.network.voucher_usages import cancel_network_voucher_usage, update_network_voucher_usage
from store.core.clock import clock
from tests.changes import Direct, Transport
from tests.fixtures.network import is_proved, network_card
from tests.fixtures.network_voucher import network_voucher, offered_box, use_voucher
from tests.fixtures.payment.payout import let_it_fail, put_into_payout
from tests.fixtures.tenants import Tenants

FIRST, SECOND = "2027-01-15T00:00:00+01:00", "2027-02-15T00:00:00+01:00"
DATED = "SELECT u.freeze_payout_date, i.payable_on FROM {table} u CROSS JOIN payable_item i ORDER BY i.journal_id"


@dataclass(frozen=True)
class Usage:
    """A usage at the partner a1, and how it is changed and cancelled."""

    id: int
    table: str
    change: Operation[Any, Any]
    cancel: Operation[Any, Any]


async def use_card(tenants: Tenants, ask: Transport) -> Usage:
    card, partner = await network_card(tenants), tenants.partners["a1"].id
    used = await ask.change("market a", use_network_gift_card, code=card.code, value="30.00", partner_id=partner)
    ((id,),) = await tenants.rows("SELECT id FROM network_gift_card_usage")
    assert used.done
    return Usage(id, "network_gift_card_usage", update_network_gift_card_usage, cancel_network_gift_card_usage)


async def use_box(tenants: Tenants, ask: Transport) -> Usage:
    assert (await use_voucher(ask, await network_voucher(tenants, await offered_box(tenants, "a1")))).done
    ((id,),) = await tenants.rows("SELECT id FROM network_voucher_usage")
    return Usage(id, "network_voucher_usage", update_network_voucher_usage, cancel_network_voucher_usage)


@pytest.mark.parametrize("use", [use_card, use_box])
async def test_it_is_changed_until_the_usage_is_in_a_payout(
    tenants: Tenants, ask: Transport, use: Callable[[Tenants, Transport], Awaitable[Usage]]
) -> None:
    usage = await use(tenants, ask)

    async def change(date: str | None, who: str = "a1") -> Any:
        return (await ask.change(who, usage.change, id=usage.id, freeze_payout_date=date)).wrong

    async def dated() -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await tenants.rows(DATED.format(table=usage.table))]

    today = clock.now().astimezone(ZoneInfo("Europe/Paris")).date()
    before = await tenants.snapshot()
    assert await change(None, "a2") == await change(None, "b1") == {("", "NOT_FOUND")}
    assert await change(FIRST) == {("freeze_payout_date", "INVALID")}
    assert await tenants.snapshot() == before
    await tenants.execute("UPDATE partner SET freeze_payout = true WHERE id = :id", id=tenants.partners["a1"].id)
    for date, day in ((FIRST, dt.date(2027, 1, 15)), (SECOND, dt.date(2027, 2, 15)), (None, today)):
        assert await change(date) == set()
        assert await dated() == [(date and dt.datetime.fromisoformat(date), day)]
    payout = await put_into_payout(tenants.services, tenants.partners["a1"].id)
    assert await change(FIRST) == {("", "USAGE_IN_PAYOUT")}
    await let_it_fail(tenants.services, payout)
    assert (await ask.change("a1", usage.cancel, id=usage.id)).done
    assert await change(FIRST) == set()
    assert await dated() == [(None, today), (None, today)]
    assert await is_proved(tenants)


@pytest.mark.parametrize("use", [use_card, use_box])
async def test_it_is_changed_while_the_usage_is_cancelled(
    tenants: Tenants, use: Callable[[Tenants, Transport], Awaitable[Usage]]
) -> None:
    """Whatever comes first, what takes it back counts with it."""
    ask = Direct(tenants)
    usage = await use(tenants, ask)
    await tenants.execute("UPDATE partner SET freeze_payout = true WHERE id = :id", id=tenants.partners["a1"].id)
    changes = [ask.change("a1", usage.change, id=usage.id, freeze_payout_date=date) for date in (FIRST, SECOND) * 4]
    cancels = [ask.change("a1", usage.cancel, id=usage.id) for _ in range(4)]
    outcomes = await asyncio.gather(*changes[:3], *cancels, *changes[3:])
    assert all(outcome.done for outcome in outcomes)
    (frozen_until, used), (_, taken_back) = await tenants.rows(DATED.format(table=usage.table))
    assert used == taken_back == (frozen_until or clock.now()).astimezone(ZoneInfo("Europe/Paris")).date()
    assert await is_proved(tenants)
