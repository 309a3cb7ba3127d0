"""Where and when network vouchers are used: who may, what is refused, and the dates that hold."""

import datetime as dt
from typing import Any

from resolvers.network.voucher_usages import cancel_network_voucher_usage
from schema.core.permission import Permission
from schema.network.box import OfferStatus
from schema.network.voucher import NetworkVoucherStatus as S
from store.core.clock import clock
from store.network.voucher_states import set_first_usage
from store.network.vouchers import NetworkVoucherRow
from tests.changes import Transport
from tests.fixtures.box import new_box, new_offer
from tests.fixtures.network import is_proved
from tests.fixtures.network_voucher import (
    network_voucher,
    offered_box,
    stored,
    usages_of_voucher,
    use_voucher,
    voucher_state,
)
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder

DAY, HOUR = dt.timedelta(days=1), dt.timedelta(hours=1)


async def test_how_voucher_and_partner_are_named(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=9)
    voucher = await network_voucher(tenants, box)
    assert (await use_voucher(ask, voucher, partner_source_id="100")).done
    assert (await use_voucher(ask, voucher, id=voucher.id)).done
    assert (await use_voucher(ask, voucher, code=voucher.code.lower().replace("-", " "))).done
    for sent, wrong in (
        ({"partner_source_id": "999"}, ("partner_source_id", "INVALID")),
        ({"partner_source_id": "200"}, ("partner_source_id", "INVALID")),
        ({"at": "b1"}, ("partner_id", "INVALID")),
        ({"partner_uuid": str(tenants.partners["a1"].uuid)}, ("partner_id", "REQUIRED")),
        ({"id": voucher.id, "code": voucher.code}, ("code", "INVALID")),
    ):
        assert (await use_voucher(ask, voucher, **sent)).wrong == {wrong}
    assert (await use_voucher(ask, voucher, who="a1", at="a2")).wrong == {("partner_id", "INVALID")}
    assert (await voucher_state(tenants, voucher))[:2] == ("using", 3)


async def test_who_may_use_a_voucher(tenants: Tenants, ask: Transport) -> None:
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=9))
    without = await holder(tenants, "a1", Permission.VIEW_NETWORK_VOUCHER)
    assert (await use_voucher(ask, voucher, who=without)).wrong == {("", "FORBIDDEN")}
    for who in ("a2", "b1", "market b"):
        assert (await use_voucher(ask, voucher, who=who)).wrong == {("", "NOT_FOUND")}
    assert (await use_voucher(ask, voucher, who="a1", id=voucher.id)).wrong == {("", "NOT_FOUND")}
    assert await voucher_state(tenants, voucher) == ("paid", 0, "0.00")
    for who in ("a1", "market a", "master"):
        assert (await use_voucher(ask, voucher, who=who)).done


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
        assert (await use_voucher(ask, voucher)).wrong == {wrong}, voucher.status
    assert (await use_voucher(ask, good, at="a2")).wrong == {("", "PARTNER_NOT_LINKED")}
    assert (await use_voucher(ask, good, code="NOT-A-CODE")).wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before
    assert await is_proved(tenants)


async def test_a_partner_needs_an_offer_that_counts(tenants: Tenants, ask: Transport) -> None:
    box = await new_box(tenants, max_usages=9)
    voucher, other = await network_voucher(tenants, box), await offered_box(tenants, "a1")
    none = {("", "PARTNER_WITHOUT_OFFER")}
    assert (await use_voucher(ask, voucher)).wrong == none
    for status in (OfferStatus.DRAFT, OfferStatus.SUBMITTED, OfferStatus.REJECTED):
        await new_offer(tenants, box, "a1", status)
    withdrawn = await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED, is_active=False)
    assert (await use_voucher(ask, voucher)).wrong == none
    assert (await use_voucher(ask, voucher, offer_id=withdrawn.id)).wrong == none
    first = await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED)
    assert (await use_voucher(ask, voucher)).done
    second = await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED)
    assert (await use_voucher(ask, voucher)).wrong == {("offer_id", "REQUIRED")}
    elsewhere = await tenants.one("SELECT id FROM offer WHERE box_id = :id", id=other.id)
    for id in (withdrawn.id, elsewhere, 999_999):
        assert (await use_voucher(ask, voucher, offer_id=id)).wrong == {("offer_id", "INVALID")}
    assert (await use_voucher(ask, voucher, offer_id=second.id)).done
    assert [usage.offer_id for usage in await usages_of_voucher(tenants, voucher)] == [first.id, second.id]
    limited = await new_box(tenants, partners=["a2"])
    await new_offer(tenants, limited, "a1", OfferStatus.ACCEPTED)
    assert (await use_voucher(ask, await network_voucher(tenants, limited))).wrong == none


async def test_inactive_and_test_partners(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=9)
    live, test = await network_voucher(tenants, box), await network_voucher(tenants, box, status=S.TEST)
    of = {"id": tenants.partners["a1"].id}
    await tenants.execute("UPDATE partner SET status = 'i' WHERE id = :id", **of)
    assert (await use_voucher(ask, live)).wrong == {("", "PARTNER_INACTIVE")}
    await tenants.execute("UPDATE partner SET status = 't' WHERE id = :id", **of)
    assert (await use_voucher(ask, live)).wrong == {("", "LIVE_MONEY_REFUSED")}
    assert (await use_voucher(ask, test)).done
    await tenants.execute("UPDATE partner SET status = 'n' WHERE id = :id", **of)
    assert (await use_voucher(ask, live)).done
    assert await is_proved(tenants)


async def test_when_it_is_used(tenants: Tenants, ask: Transport) -> None:
    now, box = clock.now(), await offered_box(tenants, "a1", max_usages=9)
    voucher = await network_voucher(tenants, box, starts_on=now - 2 * DAY)
    for moment in (now + 25 * HOUR, now - 4 * DAY):
        assert (await use_voucher(ask, voucher, used_on=moment.isoformat())).wrong == {("used_on", "OUT_OF_RANGE")}
    for moment in (now + 23 * HOUR, now - DAY):
        assert (await use_voucher(ask, voucher, used_on=moment.isoformat())).done
    assert (await use_voucher(ask, voucher, freeze_payout_date="2027-01-15T00:00:00+01:00")).wrong == {
        ("freeze_payout_date", "INVALID")
    }
    await tenants.execute("UPDATE partner SET freeze_payout = true WHERE id = :id", id=tenants.partners["a1"].id)
    assert (await use_voucher(ask, voucher, freeze_payout_date="2027-01-15T00:00:00+01:00")).done
    usages = await usages_of_voucher(tenants, voucher)
    assert usages[-1].freeze_payout_date == dt.datetime(2027, 1, 14, 23, tzinfo=dt.UTC)
    assert all(abs(usage.recorded_on - now) < HOUR for usage in usages)
    assert (await stored(tenants, voucher)).first_used_on == usages[1].used_on


async def test_the_days_after_the_first_usage(tenants: Tenants, ask: Transport) -> None:
    box = await offered_box(tenants, "a1", max_usages=4, max_days_after_first_usage=3)
    now = clock.now()
    voucher = await network_voucher(tenants, box, starts_on=now - DAY)
    assert (await use_voucher(ask, voucher, used_on=(now - DAY).isoformat())).done
    row = await stored(tenants, voucher)
    assert row.usable_until is not None
    assert dt.timedelta(days=2) <= row.usable_until - now < dt.timedelta(days=3)
    assert (await use_voucher(ask, voucher)).done
    first, second = await usages_of_voucher(tenants, voucher)
    await tenants.execute(
        "UPDATE network_voucher SET usable_until = :past WHERE id = :id", past=now - HOUR, id=voucher.id
    )
    before = await tenants.snapshot()
    assert (await use_voucher(ask, voucher)).wrong == {("", "TOO_LONG_AFTER_FIRST_USAGE")}
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", cancel_network_voucher_usage, id=first.id)).done
    assert (await stored(tenants, voucher)).first_used_on == second.used_on
    assert (await use_voucher(ask, voucher)).done
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
