"""Network vouchers are used at partners, and usages are cancelled: amounts, money, refusals, dates, races."""

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
from schema.core.permission import Permission
from schema.network.box import OfferStatus
from schema.network.voucher import NetworkVoucherStatus as S
from store.core.clock import clock
from store.network.voucher_states import set_first_usage
from store.network.vouchers import NetworkVoucherRow
from store.payment.fees import FeeRuleRow
from tests.changes import Direct, Transport
from tests.fixtures.box import new_box, new_offer
from tests.fixtures.network import balances, is_proved, link, set_terms
from tests.fixtures.network_voucher import (
    network_voucher,
    offered_box,
    stored,
    usages_of_voucher,
    voucher_balance,
)
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder

pytestmark = pytest.mark.usefixtures("linked")
DAY, HOUR = dt.timedelta(days=1), dt.timedelta(hours=1)


@pytest.fixture
async def linked(tenants: Tenants) -> None:
    """Partners a1 and b1 take part in the vouchers of their networks, a2 does not."""
    await link(tenants, "a1")
    await link(tenants, "b1", source_id=200)


async def use(ask: Transport, voucher: NetworkVoucherRow, who: str = "market a", at: str = "a1", **more: Any) -> Any:
    """Use a voucher at a partner."""
    where = {"partner_id": ask.tenants.partners[at].id}
    named = {} if "id" in more else {"code": voucher.code}
    sent = {**named, **({} if "partner_source_id" in more else where), **more}
    return await ask.change(who, use_network_voucher, **sent)


async def shown(tenants: Tenants, voucher: NetworkVoucherRow) -> tuple[str, int, str]:
    """The status of a voucher, how often it was used, and what that took."""
    row = await stored(tenants, voucher)
    return row.status.value, row.usage_count, str(row.used_amount)


async def test_a_usage_moves_its_part_of_the_price_to_the_partner(tenants: Tenants, ask: Transport) -> None:
    await set_terms(tenants, product="voucher", commission_rate=10, vat_rate=20, management_fee_amount=1)
    box = await offered_box(tenants, "a1", max_usages=4)
    voucher = await network_voucher(tenants, box)
    assert (await balances(tenants))["owed_by_marketplace"] == 12000
    assert (await use(ask, voucher, comment="Lunch", reservation_id="R-1")).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    assert (str(usage.value_amount), str(usage.net_amount)) == ("30.00", "25.20")
    assert (str(usage.commission_amount), str(usage.management_fee_amount)) == ("3.60", "1.20")
    assert (usage.comment, usage.reservation_id, usage.offer_id is not None) == ("Lunch", "R-1", True)
    assert await shown(tenants, voucher) == ("using", 1, "30.00")
    found = await balances(tenants)
    assert (found["partner_network"], found["network_voucher"]) == (2520, 9000)
    assert (found["commission"], found["management_fees"], found["vat_on_commission"]) == (300, 100, 80)
    assert await is_proved(tenants)
    assert (await ask.change("a1", cancel_network_voucher_usage, id=usage.id, comment="Rain")).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    assert (usage.is_active, usage.comment, usage.cancelled_on is not None) == (False, "Rain", True)
    assert await shown(tenants, voucher) == ("paid", 0, "0.00")
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
    assert (await use(ask, voucher)).done
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
        assert (await use(ask, voucher)).done
    assert [str(usage.value_amount) for usage in await usages_of_voucher(tenants, voucher)] == values
    assert await shown(tenants, voucher) == ("used", most, price)
    assert (await use(ask, voucher)).wrong == {("", "NO_USAGE_LEFT")}
    assert await voucher_balance(tenants, voucher) == 0
    assert await is_proved(tenants)


@pytest.mark.parametrize("first", [0, 1, 2])
async def test_what_cancelled_usages_give_back_is_used_again(tenants: Tenants, first: int) -> None:
    """Whichever is cancelled, and in whatever order: the usages that count sum to the price."""
    ask, box = Direct(tenants), await offered_box(tenants, "a1", price_amount=Decimal("100.00"), max_usages=3)
    voucher = await network_voucher(tenants, box)
    for _ in range(3):
        assert (await use(ask, voucher)).done
    usages = await usages_of_voucher(tenants, voucher)
    for gone in (usages[first], usages[(first + 1) % 3]):
        assert (await ask.change("market a", cancel_network_voucher_usage, id=gone.id)).done
    assert (await shown(tenants, voucher))[:2] == ("using", 1)
    assert await is_proved(tenants)
    for _ in range(2):
        assert (await use(ask, voucher)).done
    active = [usage.value_amount for usage in await usages_of_voucher(tenants, voucher) if usage.is_active]
    assert (len(active), sum(active)) == (3, Decimal("100.00"))
    assert await shown(tenants, voucher) == ("used", 3, "100.00")
    assert await is_proved(tenants)


async def test_later_changes_of_the_box_do_not_concern_its_vouchers(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=2)
    voucher = await network_voucher(tenants, box)
    await tenants.execute(
        "UPDATE box SET is_active = false, price_amount = 500, max_usages = 9, max_days_after_first_usage = 1 WHERE id = :id",
        id=box.id,
    )
    assert (await use(ask, voucher)).done
    assert await shown(tenants, voucher) == ("using", 1, "60.00")
    assert (await stored(tenants, voucher)).usable_until is None


async def test_how_voucher_and_partner_are_named(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=9)
    voucher = await network_voucher(tenants, box)
    assert (await use(ask, voucher, partner_source_id="100")).done
    assert (await use(ask, voucher, id=voucher.id)).done
    assert (await use(ask, voucher, code=voucher.code.lower().replace("-", " "))).done
    for sent, wrong in (
        ({"partner_source_id": "999"}, ("partner_source_id", "INVALID")),
        ({"partner_source_id": "200"}, ("partner_source_id", "INVALID")),
        ({"at": "b1"}, ("partner_id", "INVALID")),
        ({"partner_uuid": str(tenants.partners["a1"].uuid)}, ("partner_id", "REQUIRED")),
        ({"id": voucher.id, "code": voucher.code}, ("code", "INVALID")),
    ):
        assert (await use(ask, voucher, **sent)).wrong == {wrong}
    assert (await use(ask, voucher, who="a1", at="a2")).wrong == {("partner_id", "INVALID")}
    assert (await shown(tenants, voucher))[:2] == ("using", 3)


async def test_who_may_use_a_voucher(tenants: Tenants, ask: Transport) -> None:
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=9))
    without = await holder(tenants, "a1", Permission.VIEW_NETWORK_VOUCHER)
    assert (await use(ask, voucher, who=without)).wrong == {("", "FORBIDDEN")}
    for who in ("a2", "b1", "market b"):
        assert (await use(ask, voucher, who=who)).wrong == {("", "NOT_FOUND")}
    assert (await use(ask, voucher, who="a1", id=voucher.id)).wrong == {("", "NOT_FOUND")}
    assert await shown(tenants, voucher) == ("paid", 0, "0.00")
    for who in ("a1", "market a", "master"):
        assert (await use(ask, voucher, who=who)).done


async def test_each_refusal_has_its_code_and_changes_nothing(tenants: Tenants, ask: Transport) -> None:
    now, box = clock.now(), await offered_box(tenants, "a1")
    cases: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"status": S.DRAFT}, ("", "NOT_USABLE")),
        ({"status": S.CANCELLED}, ("", "NOT_USABLE")),
        ({"status": S.EXPIRED}, ("", "EXPIRED")),
        ({"expires_on": now - DAY}, ("", "EXPIRED")),
        ({"is_active": False}, ("", "DEACTIVATED")),
        ({"starts_on": now + HOUR}, ("", "NOT_YET_VALID")),
        ({"frozen_on": now}, ("", "FROZEN_BY_DISPUTE")),
    ]
    vouchers = [(await network_voucher(tenants, box, **more), wrong) for more, wrong in cases]
    good = await network_voucher(tenants, box)
    before = await tenants.snapshot()
    for voucher, wrong in vouchers:
        assert (await use(ask, voucher)).wrong == {wrong}, voucher.status
    assert (await use(ask, good, at="a2")).wrong == {("", "PARTNER_NOT_LINKED")}
    assert (await use(ask, good, code="NOT-A-CODE")).wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before
    assert await is_proved(tenants)


async def test_a_partner_needs_an_offer_that_counts(tenants: Tenants, ask: Transport) -> None:
    box = await new_box(tenants, max_usages=9)
    voucher, other = await network_voucher(tenants, box), await offered_box(tenants, "a1")
    none = {("", "PARTNER_WITHOUT_OFFER")}
    assert (await use(ask, voucher)).wrong == none
    for status in (OfferStatus.DRAFT, OfferStatus.SUBMITTED, OfferStatus.REJECTED):
        await new_offer(tenants, box, "a1", status)
    withdrawn = await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED, is_active=False)
    assert (await use(ask, voucher)).wrong == none
    assert (await use(ask, voucher, offer_id=withdrawn.id)).wrong == none
    first = await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED)
    assert (await use(ask, voucher)).done
    second = await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED)
    assert (await use(ask, voucher)).wrong == {("offer_id", "REQUIRED")}
    elsewhere = await tenants.one("SELECT id FROM offer WHERE box_id = :id", id=other.id)
    for id in (withdrawn.id, elsewhere, 999_999):
        assert (await use(ask, voucher, offer_id=id)).wrong == {("offer_id", "INVALID")}
    assert (await use(ask, voucher, offer_id=second.id)).done
    assert [usage.offer_id for usage in await usages_of_voucher(tenants, voucher)] == [first.id, second.id]
    limited = await new_box(tenants, partners=["a2"])
    await new_offer(tenants, limited, "a1", OfferStatus.ACCEPTED)
    assert (await use(ask, await network_voucher(tenants, limited))).wrong == none


async def test_inactive_and_test_partners(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=9)
    live, test = await network_voucher(tenants, box), await network_voucher(tenants, box, status=S.TEST)
    of = {"id": tenants.partners["a1"].id}
    await tenants.execute("UPDATE partner SET status = 'i' WHERE id = :id", **of)
    assert (await use(ask, live)).wrong == {("", "PARTNER_INACTIVE")}
    await tenants.execute("UPDATE partner SET status = 't' WHERE id = :id", **of)
    assert (await use(ask, live)).wrong == {("", "LIVE_MONEY_REFUSED")}
    assert (await use(ask, test)).done
    await tenants.execute("UPDATE partner SET status = 'n' WHERE id = :id", **of)
    assert (await use(ask, live)).done
    assert await is_proved(tenants)


async def test_test_vouchers_move_no_live_money(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=2)
    before, voucher = await balances(tenants), await network_voucher(tenants, box, status=S.TEST)
    assert (await use(ask, voucher)).done
    assert await shown(tenants, voucher) == ("test", 1, "60.00")
    assert (await use(ask, voucher)).done
    assert await shown(tenants, voucher) == ("used", 2, "120.00")
    assert await balances(tenants) == before
    assert (await balances(tenants, is_live=False))["partner_network"] == 12000
    (usage, _) = await usages_of_voucher(tenants, voucher)
    assert (await ask.change("a1", cancel_network_voucher_usage, id=usage.id)).done
    assert await shown(tenants, voucher) == ("test", 1, "60.00")
    assert await is_proved(tenants)


async def test_when_it_is_used(tenants: Tenants, ask: Transport) -> None:
    now, box = clock.now(), await offered_box(tenants, "a1", max_usages=9)
    voucher = await network_voucher(tenants, box, starts_on=now - 2 * DAY)
    for moment in (now + 25 * HOUR, now - 4 * DAY):
        assert (await use(ask, voucher, used_on=moment.isoformat())).wrong == {("used_on", "OUT_OF_RANGE")}
    for moment in (now + 23 * HOUR, now - DAY):
        assert (await use(ask, voucher, used_on=moment.isoformat())).done
    assert (await use(ask, voucher, freeze_payout_date="2027-01-15T00:00:00+01:00")).wrong == {
        ("freeze_payout_date", "INVALID")
    }
    await tenants.execute("UPDATE partner SET freeze_payout = true WHERE id = :id", id=tenants.partners["a1"].id)
    assert (await use(ask, voucher, freeze_payout_date="2027-01-15T00:00:00+01:00")).done
    usages = await usages_of_voucher(tenants, voucher)
    assert usages[-1].freeze_payout_date == dt.datetime(2027, 1, 14, 23, tzinfo=dt.UTC)
    assert all(abs(usage.recorded_on - now) < HOUR for usage in usages)
    assert (await stored(tenants, voucher)).first_used_on == usages[1].used_on


async def test_the_days_after_the_first_usage(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=4, max_days_after_first_usage=3)
    now = clock.now()
    voucher = await network_voucher(tenants, box, starts_on=now - DAY)
    assert (await use(ask, voucher, used_on=(now - DAY).isoformat())).done
    row = await stored(tenants, voucher)
    assert row.usable_until is not None
    assert dt.timedelta(days=2) <= row.usable_until - now < dt.timedelta(days=3)
    assert (await use(ask, voucher)).done
    first, second = await usages_of_voucher(tenants, voucher)
    await tenants.execute(
        "UPDATE network_voucher SET usable_until = :past WHERE id = :id", past=now - HOUR, id=voucher.id
    )
    before = await tenants.snapshot()
    assert (await use(ask, voucher)).wrong == {("", "TOO_LONG_AFTER_FIRST_USAGE")}
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", cancel_network_voucher_usage, id=first.id)).done
    assert (await stored(tenants, voucher)).first_used_on == second.used_on
    assert (await use(ask, voucher)).done
    assert await is_proved(tenants)


def test_the_last_day_is_one_of_the_network() -> None:
    """Days are those of its time zone, and the last one is whole."""
    from zoneinfo import ZoneInfo

    values: dict[str, Any] = {"max_days_after_first_usage": 2}
    voucher = NetworkVoucherRow(**values)
    late = dt.datetime(2026, 3, 27, 23, 30, tzinfo=dt.UTC)
    set_first_usage(voucher, late, ZoneInfo("Europe/Paris"))
    assert voucher.usable_until == dt.datetime(2026, 3, 30, 21, 59, 59, tzinfo=dt.UTC)
    set_first_usage(voucher, late, ZoneInfo("America/New_York"))
    assert voucher.usable_until == dt.datetime(2026, 3, 30, 3, 59, 59, tzinfo=dt.UTC)
    voucher.max_days_after_first_usage = 0
    set_first_usage(voucher, late, ZoneInfo("UTC"))
    assert voucher.usable_until is None


async def test_cancelling_twice_changes_nothing_more(tenants: Tenants, ask: Transport) -> None:
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1"))
    assert (await use(ask, voucher)).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    for who in ("a2", "b1", "market b"):
        assert (await ask.change(who, cancel_network_voucher_usage, id=usage.id)).wrong == {("", "NOT_FOUND")}
    for _ in range(2):
        assert (await ask.change("market a", cancel_network_voucher_usage, id=usage.id)).done
        assert await shown(tenants, voucher) == ("paid", 0, "0.00")
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
    assert (await use(ask, voucher)).done
    await tenants.execute("UPDATE network_voucher_usage SET payout_request_id = 7")
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
        assert (await use(ask, voucher)).done
        await tenants.execute(
            "UPDATE network_voucher SET status = :status WHERE id = :id", status=status, id=voucher.id
        )
        (usage,) = await usages_of_voucher(tenants, voucher)
        assert (await ask.change("market a", cancel_network_voucher_usage, id=usage.id)).wrong == wrong
        assert await shown(tenants, voucher) == after


async def test_nothing_is_used_twice(tenants: Tenants) -> None:
    """Two hundred usages at once: as many happen as the voucher has."""
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=5))
    ask = Direct(tenants)
    outcomes = await asyncio.gather(*(use(ask, voucher, who=("a1", "market a")[n % 2]) for n in range(200)))
    assert sum(outcome.done for outcome in outcomes) == 5
    assert {wrong for outcome in outcomes for wrong in outcome.wrong} == {("", "NO_USAGE_LEFT")}
    assert await shown(tenants, voucher) == ("used", 5, "120.00")
    assert (await balances(tenants))["partner_network"] == 12000
    assert await is_proved(tenants)
    ids = [usage.id for usage in await usages_of_voucher(tenants, voucher)]
    ends = (ask.change("market a", cancel_network_voucher_usage, id=id) for id in ids * 4)
    assert all(outcome.done for outcome in await asyncio.gather(*ends))
    assert await shown(tenants, voucher) == ("paid", 0, "0.00")
    assert await is_proved(tenants)


async def test_a_voucher_is_used_while_its_usages_are_cancelled(tenants: Tenants) -> None:
    """Usages and cancellations at once: counts, amounts and the ledger agree."""
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=3))
    ask = Direct(tenants)
    for _ in range(3):
        assert (await use(ask, voucher)).done
    ids = [usage.id for usage in await usages_of_voucher(tenants, voucher)]
    jobs = [use(ask, voucher) for _ in range(12)]
    jobs += [ask.change("a1", cancel_network_voucher_usage, id=id) for id in ids * 4]
    outcomes = await asyncio.gather(*jobs)
    assert {wrong for outcome in outcomes for wrong in outcome.wrong} <= {("", "NO_USAGE_LEFT")}
    active = [usage for usage in await usages_of_voucher(tenants, voucher) if usage.is_active]
    row = await stored(tenants, voucher)
    assert (row.usage_count, row.used_amount) == (len(active), sum(usage.value_amount for usage in active))
    assert await is_proved(tenants)
