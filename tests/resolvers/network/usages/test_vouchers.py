"""Network vouchers are used at partners, and usages are cancelled: amounts, money, events, races."""

import asyncio
import datetime as dt
from decimal import Decimal

import pytest

from resolvers.network.voucher_usages import cancel_network_voucher_usage
from schema.network.voucher import NetworkVoucherStatus as S
from store.payment.fees import FeeRuleRow
from tests.changes import Direct, Transport
from tests.fixtures.network import balances, is_proved, set_terms
from tests.fixtures.network_voucher import (
    network_voucher,
    offered_box,
    stored,
    usages_of_voucher,
    use_voucher,
    voucher_balance,
    voucher_state,
)
from tests.fixtures.payment.payout import put_into_payout
from tests.fixtures.tenants import Tenants

DAY, HOUR = dt.timedelta(days=1), dt.timedelta(hours=1)


async def test_a_usage_moves_its_part_of_the_price_to_the_partner(tenants: Tenants, ask: Transport) -> None:
    await set_terms(tenants, product="voucher", commission_rate=10, vat_rate=20, management_fee_amount=1)
    box = await offered_box(tenants, "a1", max_usages=4)
    voucher = await network_voucher(tenants, box)
    assert (await balances(tenants))["owed_by_marketplace"] == 12000
    assert (await use_voucher(ask, voucher, comment="Lunch", reservation_id="R-1")).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    assert (str(usage.value_amount), str(usage.net_amount)) == ("30.00", "25.20")
    assert (str(usage.commission_amount), str(usage.management_fee_amount)) == ("3.60", "1.20")
    assert (usage.comment, usage.reservation_id, usage.offer_id is not None) == ("Lunch", "R-1", True)
    assert await voucher_state(tenants, voucher) == ("using", 1, "30.00")
    found = await balances(tenants)
    assert (found["partner_network"], found["network_voucher"]) == (2520, 9000)
    assert (found["commission"], found["management_fees"], found["vat_on_commission"]) == (300, 100, 80)
    assert await is_proved(tenants)
    assert (await ask.change("a1", cancel_network_voucher_usage, id=usage.id, comment="Rain")).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    assert (usage.is_active, usage.comment, usage.cancelled_on is not None) == (False, "Rain", True)
    assert await voucher_state(tenants, voucher) == ("paid", 0, "0.00")
    row = await stored(tenants, voucher)
    assert (row.first_used_on, row.usable_until) == (None, None)
    assert await voucher_balance(tenants, voucher) == 12000
    assert "partner_network" not in await balances(tenants)
    kinds = await tenants.rows(
        "SELECT source_kind, kind FROM ledger_journal WHERE source_kind LIKE 'network_v%' ORDER BY id"
    )
    assert [tuple(row) for row in kinds] == [
        ("network_voucher", "issue"),
        ("network_voucher_usage", "capture"),
        ("network_voucher_usage", "reversal"),
    ]
    assert await is_proved(tenants)


async def test_a_fee_rule_goes_before_the_terms_of_the_network(tenants: Tenants, ask: Transport) -> None:
    await set_terms(tenants, product="voucher", commission_rate=10)
    await tenants.add(
        FeeRuleRow(
            marketplace_id=tenants.marketplaces["a"].id,
            partner_id=tenants.partners["a1"].id,
            product="network_voucher",
            percentage=Decimal(4),
            currency="EUR",
        )
    )
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1"))
    assert (await use_voucher(ask, voucher)).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    assert (str(usage.commission_rate), str(usage.commission_amount)) == ("4.00", "4.80")
    assert usage.fee_rule_id is not None
    assert await is_proved(tenants)


@pytest.mark.parametrize(
    ("price", "most", "values"),
    [
        ("100.00", 3, ["33.33", "33.33", "33.34"]),
        ("100.00", 1, ["100.00"]),
        ("0.05", 7, ["0.00"] * 6 + ["0.05"]),
        ("10.01", 2, ["5.00", "5.01"]),
    ],
)
async def test_all_usages_sum_to_the_price(tenants: Tenants, price: str, most: int, values: list[str]) -> None:
    ask, box = Direct(tenants), await offered_box(tenants, "a1", price_amount=Decimal(price), max_usages=most)
    voucher = await network_voucher(tenants, box)
    for _ in values:
        assert (await use_voucher(ask, voucher)).done
    assert [str(usage.value_amount) for usage in await usages_of_voucher(tenants, voucher)] == values
    assert await voucher_state(tenants, voucher) == ("used", most, price)
    assert (await use_voucher(ask, voucher)).wrong == {("", "NO_USAGE_LEFT")}
    assert await voucher_balance(tenants, voucher) == 0
    assert await is_proved(tenants)


@pytest.mark.parametrize("first", [0, 1, 2])
async def test_what_cancelled_usages_give_back_is_used_again(tenants: Tenants, first: int) -> None:
    """Whichever is cancelled, and in whatever order: the usages that count sum to the price."""
    ask, box = Direct(tenants), await offered_box(tenants, "a1", price_amount=Decimal("100.00"), max_usages=3)
    voucher = await network_voucher(tenants, box)
    for _ in range(3):
        assert (await use_voucher(ask, voucher)).done
    usages = await usages_of_voucher(tenants, voucher)
    for gone in (usages[first], usages[(first + 1) % 3]):
        assert (await ask.change("market a", cancel_network_voucher_usage, id=gone.id)).done
    assert (await voucher_state(tenants, voucher))[:2] == ("using", 1)
    assert await is_proved(tenants)
    for _ in range(2):
        assert (await use_voucher(ask, voucher)).done
    active = [usage.value_amount for usage in await usages_of_voucher(tenants, voucher) if usage.is_active]
    assert (len(active), sum(active)) == (3, Decimal("100.00"))
    assert await voucher_state(tenants, voucher) == ("used", 3, "100.00")
    assert await is_proved(tenants)


async def test_later_changes_of_the_box_do_not_concern_its_vouchers(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=2)
    voucher = await network_voucher(tenants, box)
    await tenants.execute(
        "UPDATE box SET is_active = false, price_amount = 500, max_usages = 9, max_days_after_first_usage = 1 WHERE id = :id",
        id=box.id,
    )
    assert (await use_voucher(ask, voucher)).done
    assert await voucher_state(tenants, voucher) == ("using", 1, "60.00")
    assert (await stored(tenants, voucher)).usable_until is None


async def test_test_vouchers_move_no_live_money(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=2)
    before, voucher = await balances(tenants), await network_voucher(tenants, box, status=S.TEST)
    assert (await use_voucher(ask, voucher)).done
    assert await voucher_state(tenants, voucher) == ("test", 1, "60.00")
    assert (await use_voucher(ask, voucher)).done
    assert await voucher_state(tenants, voucher) == ("used", 2, "120.00")
    assert await balances(tenants) == before
    assert (await balances(tenants, is_live=False))["partner_network"] == 12000
    (usage, _) = await usages_of_voucher(tenants, voucher)
    assert (await ask.change("a1", cancel_network_voucher_usage, id=usage.id)).done
    assert await voucher_state(tenants, voucher) == ("test", 1, "60.00")
    assert await is_proved(tenants)


async def test_cancelling_twice_changes_nothing_more(tenants: Tenants, ask: Transport) -> None:
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1"))
    assert (await use_voucher(ask, voucher)).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    for who in ("a2", "b1", "market b"):
        assert (await ask.change(who, cancel_network_voucher_usage, id=usage.id)).wrong == {("", "NOT_FOUND")}
    for _ in range(2):
        assert (await ask.change("market a", cancel_network_voucher_usage, id=usage.id)).done
        assert await voucher_state(tenants, voucher) == ("paid", 0, "0.00")
    events = await tenants.rows(
        "SELECT type, partner_id, data FROM event WHERE type LIKE 'network_voucher.%' AND subject = :id ORDER BY id",
        id=str(voucher.id),
    )
    partner = tenants.partners["a1"].id
    assert [tuple(row)[:2] for row in events] == [
        ("network_voucher.issued", None),
        ("network_voucher.used", partner),
        ("network_voucher.usage_cancelled", partner),
    ]
    assert all(voucher.code not in str(row.data) for row in events)


async def test_a_usage_in_a_payout_stays(tenants: Tenants, ask: Transport) -> None:
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1"))
    assert (await use_voucher(ask, voucher)).done
    await put_into_payout(tenants.services, tenants.partners["a1"].id)
    (usage,) = await usages_of_voucher(tenants, voucher)
    before = await tenants.snapshot()
    refused = await ask.change("market a", cancel_network_voucher_usage, id=usage.id, comment="x")
    assert refused.wrong == {("", "USAGE_IN_PAYOUT")}
    assert await tenants.snapshot() == before


async def test_a_usage_of_a_cancelled_or_expired_voucher(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=2)
    for status, wrong, after in (
        ("cncld", {("", "NOT_USABLE")}, ("cncld", 1, "60.00")),
        ("exprd", set(), ("exprd", 0, "0.00")),
    ):
        voucher = await network_voucher(tenants, box)
        assert (await use_voucher(ask, voucher)).done
        await tenants.execute(
            "UPDATE network_voucher SET status = :status WHERE id = :id", status=status, id=voucher.id
        )
        (usage,) = await usages_of_voucher(tenants, voucher)
        assert (await ask.change("market a", cancel_network_voucher_usage, id=usage.id)).wrong == wrong
        assert await voucher_state(tenants, voucher) == after


async def test_nothing_is_used_twice(tenants: Tenants) -> None:
    """Two hundred usages at once: as many happen as the voucher has."""
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=5))
    ask = Direct(tenants)
    outcomes = await asyncio.gather(*(use_voucher(ask, voucher, who=("a1", "market a")[n % 2]) for n in range(200)))
    assert sum(outcome.done for outcome in outcomes) == 5
    assert {wrong for outcome in outcomes for wrong in outcome.wrong} == {("", "NO_USAGE_LEFT")}
    assert await voucher_state(tenants, voucher) == ("used", 5, "120.00")
    assert (await balances(tenants))["partner_network"] == 12000
    assert await is_proved(tenants)
    ids = [usage.id for usage in await usages_of_voucher(tenants, voucher)]
    ends = (ask.change("market a", cancel_network_voucher_usage, id=id) for id in ids * 4)
    assert all(outcome.done for outcome in await asyncio.gather(*ends))
    assert await voucher_state(tenants, voucher) == ("paid", 0, "0.00")
    assert await is_proved(tenants)


async def test_a_voucher_is_used_while_its_usages_are_cancelled(tenants: Tenants) -> None:
    """Usages and cancellations at once: counts, amounts and the ledger agree."""
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=3))
    ask = Direct(tenants)
    for _ in range(3):
        assert (await use_voucher(ask, voucher)).done
    ids = [usage.id for usage in await usages_of_voucher(tenants, voucher)]
    jobs = [use_voucher(ask, voucher) for _ in range(12)]
    jobs += [ask.change("a1", cancel_network_voucher_usage, id=id) for id in ids * 4]
    outcomes = await asyncio.gather(*jobs)
    assert {wrong for outcome in outcomes for wrong in outcome.wrong} <= {("", "NO_USAGE_LEFT")}
    active = [usage for usage in await usages_of_voucher(tenants, voucher) if usage.is_active]
    row = await stored(tenants, voucher)
    assert (row.usage_count, row.used_amount) == (len(active), sum(usage.value_amount for usage in active))
    assert await is_proved(tenants)
