"""Network vouchers that a network issues, imports, changes, extends and cancels: rows, money, refusals."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.job.expiry import expire_vouchers
from resolvers.network.voucher_issuing import (
    activate_network_voucher,
    cancel_network_voucher,
    extend_network_voucher,
    import_network_voucher,
    issue_network_voucher,
    update_network_voucher,
)
from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
from schema.core.permission import Permission
from schema.network.voucher import NetworkVoucherStatus as S
from store.core.clock import clock
from store.network.boxes import BoxRow
from store.network.vouchers import NetworkVoucherRow
from tests.changes import Direct, Transport
from tests.fixtures.box import new_box
from tests.fixtures.network import balances, is_proved, link, set_terms
from tests.fixtures.network_voucher import (
    network_voucher,
    offered_box,
    stored,
    usages_of_voucher,
    voucher_balance,
)
from tests.fixtures.tenants import Tenants

DAY = dt.timedelta(days=1)
GIFTEE = {"first_name": "Grace", "last_name": "Bell", "email": "grace@example.com", "address": "1 Mill Lane\nYork"}


def later(days: int = 700) -> str:
    return (clock.now() + dt.timedelta(days=days)).isoformat()


async def newest(tenants: Tenants) -> NetworkVoucherRow:
    """The voucher that was issued last."""
    async with tenants.services.db.sessions() as db:
        return await db.get_one(NetworkVoucherRow, await tenants.one("SELECT max(id) FROM network_voucher"))


async def issued(ask: Transport, box: BoxRow, **more: Any) -> NetworkVoucherRow:
    """A voucher that was issued over the API."""
    assert (await ask.change("market a", issue_network_voucher, box_id=box.id, **more)).done
    return await newest(ask.tenants)


async def test_a_voucher_has_what_its_box_says(tenants: Tenants, ask: Transport) -> None:
    box = await new_box(tenants, max_usages=3, max_days_after_first_usage=20, is_active=False)
    voucher = await issued(ask, box, gifter_details={"first_name": "Ada"}, giftee_details=GIFTEE, language="fr")
    assert (voucher.status, voucher.max_usages, voucher.max_days_after_first_usage) == (S.PAID, 3, 20)
    assert (str(voucher.price_amount), voucher.currency, voucher.marketplace_id) == (
        "120.00",
        "EUR",
        box.marketplace_id,
    )
    assert (voucher.gifter_first_name, voucher.giftee_email, voucher.recipient_address) == (
        "Ada",
        "grace@example.com",
        "1 Mill Lane\nYork",
    )
    assert (voucher.language, voucher.order_id, len(voucher.code)) == ("fr", None, 19)
    assert voucher.expires_on is not None
    assert dt.timedelta(days=364) < voucher.expires_on - clock.now() < dt.timedelta(days=367)
    assert (await balances(tenants))["owed_by_marketplace"] == await voucher_balance(tenants, voucher) == 12000
    assert await is_proved(tenants)
    (event,) = await tenants.rows(
        "SELECT type, partner_id, marketplace_id FROM event WHERE type = 'network_voucher.issued'"
    )
    assert tuple(event) == ("network_voucher.issued", None, box.marketplace_id)


async def test_the_validity_that_the_network_has_set(tenants: Tenants, ask: Transport) -> None:
    await set_terms(tenants, product="voucher", validity_months=3)
    box, start = await new_box(tenants), clock.now() + 30 * DAY
    voucher = await issued(ask, box, starts_on=start.isoformat())
    assert voucher.expires_on is not None
    assert dt.timedelta(days=89) <= voucher.expires_on - start < dt.timedelta(days=94)


async def test_drafts_and_test_vouchers(tenants: Tenants, ask: Transport) -> None:
    box, before = await new_box(tenants), await balances(tenants)
    await issued(ask, box, status=S.TEST)
    voucher = await issued(ask, box, status=S.DRAFT)
    assert await balances(tenants) == before
    for _ in range(2):
        assert (await ask.change("market a", activate_network_voucher, id=voucher.id)).done
        assert (await stored(tenants, voucher)).status is S.PAID
        assert (await balances(tenants))["network_voucher"] == 12000
    assert (await balances(tenants, is_live=False))["network_voucher"] == 12000
    assert await is_proved(tenants)


async def test_what_cannot_be_issued(tenants: Tenants, ask: Transport) -> None:
    box, other = await new_box(tenants), await new_box(tenants, "b")
    before = await tenants.snapshot()
    assert (await ask.change("a1", issue_network_voucher, box_id=box.id)).wrong == {("", "FORBIDDEN")}
    cases: tuple[tuple[dict[str, Any], tuple[str, str]], ...] = (
        ({"box_id": other.id}, ("box_id", "INVALID")),
        ({"box_id": 999_999}, ("box_id", "INVALID")),
        ({"status": S.USED}, ("status", "INVALID")),
        ({"status": S.CANCELLED}, ("status", "INVALID")),
        ({"expires_on": (clock.now() - DAY).isoformat()}, ("expires_on", "OUT_OF_RANGE")),
        ({"starts_on": later(9), "expires_on": later(8)}, ("expires_on", "OUT_OF_RANGE")),
    )
    for sent, wrong in cases:
        refused = await ask.change("market a", issue_network_voucher, **{"box_id": box.id, **sent})
        assert refused.wrong == {wrong}, sent
    assert await tenants.snapshot() == before


IMPORTS: tuple[tuple[dict[str, Any], tuple[str, int, str, int]], ...] = (
    ({}, ("paid", 0, "0.00", 12000)),
    ({"price": "90.00"}, ("paid", 0, "0.00", 9000)),
    ({"status": S.USING, "usage_count": 2, "first_used_on": "now"}, ("using", 2, "80.00", 4000)),
    ({"status": S.USED, "usage_count": 3, "first_used_on": "now"}, ("used", 3, "120.00", 0)),
    ({"status": S.USED, "usage_count": 3, "first_used_on": "now", "expires_on": "past"}, ("used", 3, "120.00", 0)),
    ({"status": S.EXPIRED, "expires_on": "past"}, ("exprd", 0, "0.00", 12000)),
    ({"status": S.CANCELLED}, ("cncld", 0, "0.00", 0)),
    ({"status": S.DRAFT}, ("draft", 0, "0.00", 0)),
)


def dated(values: dict[str, Any]) -> dict[str, Any]:
    """These values, with times for their names."""
    moments = {"now": clock.now() - DAY, "past": clock.now() - DAY, "old": clock.now() - 340 * DAY}
    return {name: moments[value].isoformat() if value in moments else value for name, value in values.items()}


@pytest.mark.parametrize(("values", "expected"), IMPORTS)
async def test_vouchers_of_another_system(
    tenants: Tenants, ask: Transport, values: dict[str, Any], expected: tuple[str, int, str, int]
) -> None:
    box = await new_box(tenants, max_usages=3)
    named = {"box_id": box.id, "code": "old 77", "created_on": "old"}
    outcome = await ask.change("market a", import_network_voucher, **dated({**named, **values}))
    assert outcome.done, outcome.wrong
    row = await newest(tenants)
    assert (row.code, row.normal_code) == ("old 77", "OLD77")
    assert (row.status.value, row.usage_count, str(row.used_amount), await voucher_balance(tenants, row)) == expected
    assert clock.now() - row.created_on > 300 * DAY
    assert await is_proved(tenants)


async def test_an_imported_voucher_is_used_to_its_end(tenants: Tenants) -> None:
    """What it was used for elsewhere stays; its own usages are cancelled down to that."""
    await link(tenants, "a1")
    ask, box = Direct(tenants), await offered_box(tenants, "a1", price_amount=Decimal("100.00"), max_usages=3)
    first = clock.now() - 3 * DAY
    values = {"status": S.USING, "usage_count": 1, "first_used_on": first.isoformat(), "code": "OLD-1"}
    assert (await ask.change("market a", import_network_voucher, box_id=box.id, **values)).done
    row = await newest(tenants)
    for _ in range(2):
        sent = {"code": "old1", "partner_id": tenants.partners["a1"].id}
        assert (await ask.change("a1", use_network_voucher, **sent)).done
    usages = await usages_of_voucher(tenants, row)
    assert [str(usage.value_amount) for usage in usages] == ["33.33", "33.34"]
    assert (await stored(tenants, row)).status is S.USED
    for usage in usages:
        assert (await ask.change("a1", cancel_network_voucher_usage, id=usage.id)).done
    row = await stored(tenants, row)
    assert (row.status, row.usage_count, str(row.used_amount), row.first_used_on) == (S.USING, 1, "33.33", first)
    assert await is_proved(tenants)


async def test_what_cannot_be_imported(tenants: Tenants, ask: Transport) -> None:
    box = await new_box(tenants, max_usages=3)
    there = await network_voucher(tenants, box)
    before = await tenants.snapshot()
    mistyped = there.code[:-1] + ("2" if there.code[-1] != "2" else "3")
    cases: tuple[tuple[dict[str, Any], set[tuple[str, str]]], ...] = (
        ({"code": there.code.lower()}, {("code", "ALREADY_TAKEN")}),
        ({"code": "a/b"}, {("code", "INVALID")}),
        ({"code": "- -"}, {("code", "INVALID")}),
        ({"code": mistyped}, {("code", "INVALID")}),
        ({"price": "0.00"}, {("price", "OUT_OF_RANGE")}),
        ({"usage_count": 1, "first_used_on": "now"}, {("usage_count", "INVALID")}),
        ({"status": S.USING}, {("usage_count", "REQUIRED")}),
        ({"status": S.USING, "usage_count": 3, "first_used_on": "now"}, {("usage_count", "INVALID")}),
        ({"status": S.USED, "usage_count": 2, "first_used_on": "now"}, {("usage_count", "INVALID")}),
        ({"status": S.USING, "usage_count": 4, "first_used_on": "now"}, {("usage_count", "OUT_OF_RANGE")}),
        ({"status": S.USING, "usage_count": 1}, {("first_used_on", "REQUIRED")}),
        ({"first_used_on": "now"}, {("first_used_on", "INVALID")}),
        ({"status": S.USING, "usage_count": 1, "first_used_on": later()}, {("first_used_on", "OUT_OF_RANGE")}),
        ({"created_on": later()}, {("created_on", "OUT_OF_RANGE")}),
        ({"expires_on": "past"}, {("expires_on", "OUT_OF_RANGE")}),
        ({"status": S.EXPIRED}, {("expires_on", "INVALID")}),
    )
    for sent, wrong in cases:
        values = {"box_id": box.id, "code": "NEW-1", **dated(sent)}
        assert (await ask.change("market a", import_network_voucher, **values)).wrong == wrong, sent
    assert (await ask.change("a1", import_network_voucher, box_id=box.id, code="N-1")).wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before


async def test_cancelling_owes_no_more(tenants: Tenants, ask: Transport) -> None:
    await link(tenants, "a1")
    voucher = await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=4))
    sent = {"code": voucher.code, "partner_id": tenants.partners["a1"].id}
    assert (await ask.change("market a", use_network_voucher, **sent)).done
    for _ in range(2):
        assert (await ask.change("market a", cancel_network_voucher, code=voucher.code.lower())).done
        row = await stored(tenants, voucher)
        assert (row.status, row.usage_count, str(row.unowed_amount)) == (S.CANCELLED, 1, "90.00")
        found = await balances(tenants)
        assert (found["owed_by_marketplace"], found["partner_network"]) == (3000, 3000)
        assert await voucher_balance(tenants, voucher) == 0
    wrong = {("", "INVALID_TRANSITION")}
    assert (await ask.change("market a", activate_network_voucher, id=voucher.id)).wrong == wrong
    assert await is_proved(tenants)


async def test_who_may_change_a_voucher(tenants: Tenants, ask: Transport) -> None:
    await link(tenants, "a1")
    voucher = await network_voucher(tenants, await new_box(tenants))
    before = await tenants.snapshot()
    for run, more in (
        (activate_network_voucher, {}),
        (cancel_network_voucher, {}),
        (update_network_voucher, {"is_active": False}),
        (extend_network_voucher, {"expires_on": later()}),
    ):
        assert (await ask.change("a1", run, id=voucher.id, **more)).wrong == {("", "FORBIDDEN")}
        assert (await ask.change("market b", run, id=voucher.id, **more)).wrong == {("", "NOT_FOUND")}
        assert (await ask.change("market b", run, code=voucher.code, **more)).wrong == {("", "NOT_FOUND")}
        assert (await ask.change("market a", run, **more)).wrong == {("code", "INVALID")}
    assert await tenants.snapshot() == before


async def test_a_partner_with_the_permission_is_refused(tenants: Tenants, ask: Transport) -> None:
    """The vouchers are the network's, whatever its partners' users were granted."""
    box = await new_box(tenants)
    voucher = await network_voucher(tenants, box)
    await tenants.user("manager", "partner", [Permission.MANAGE_NETWORK_VOUCHER], partner_id=tenants.partners["a1"].id)
    before = await tenants.snapshot()
    for run, sent in (
        (issue_network_voucher, {"box_id": box.id}),
        (import_network_voucher, {"box_id": box.id, "code": "NEW-1"}),
        (cancel_network_voucher, {"code": voucher.code}),
    ):
        assert (await ask.change("manager", run, **sent)).wrong == {("", "MARKETPLACE_ONLY")}
    assert await tenants.snapshot() == before


async def test_a_voucher_is_deactivated_and_back(tenants: Tenants, ask: Transport) -> None:
    voucher = await network_voucher(tenants, await new_box(tenants), message="Enjoy!")
    for active in (False, True):
        assert (await ask.change("market a", update_network_voucher, id=voucher.id, is_active=active)).done
        assert (await stored(tenants, voucher)).is_active is active
    assert (await stored(tenants, voucher)).message == "Enjoy!"
    for empty in ("", None):
        assert (await ask.change("market a", update_network_voucher, id=voucher.id, message=empty)).done
        assert (await stored(tenants, voucher)).message is None


@pytest.mark.parametrize("books", [False, True])
async def test_what_expires_stays_owed_unless_it_is_booked(tenants: Tenants, ask: Transport, books: bool) -> None:
    await set_terms(tenants, product="voucher", books_breakage=books)
    old = clock.now() - dt.timedelta(minutes=1)
    voucher = await network_voucher(tenants, await new_box(tenants), expires_on=old)
    live = await network_voucher(tenants, await new_box(tenants))
    assert await expire_vouchers(tenants.services) == 1
    assert (await stored(tenants, voucher)).status is S.EXPIRED
    assert (await stored(tenants, live)).status is S.PAID
    found = await balances(tenants)
    assert (await voucher_balance(tenants, voucher), found.get("breakage", 0)) == ((0, 12000) if books else (12000, 0))
    assert await is_proved(tenants)
    refused = await ask.change("market a", extend_network_voucher, id=voucher.id, expires_on=old.isoformat())
    assert refused.wrong == {("expires_on", "INVALID")}
    assert (await ask.change("market a", extend_network_voucher, id=voucher.id, expires_on=later())).done
    assert (await stored(tenants, voucher)).status is S.PAID
    assert (await voucher_balance(tenants, voucher), (await balances(tenants)).get("breakage", 0)) == (12000, 0)
    assert await is_proved(tenants)
    events = await tenants.rows(
        "SELECT type FROM event WHERE subject = :id AND type LIKE 'network_voucher.%' ORDER BY id", id=str(voucher.id)
    )
    assert [row[0].partition(".")[2] for row in events] == ["issued", "expired", "extended"]


@pytest.mark.parametrize("books", [False, True])
async def test_a_usage_of_an_expired_voucher_is_cancelled(tenants: Tenants, books: bool) -> None:
    """It stays expired; what the usage took is booked like the rest, or owed like the rest."""
    await set_terms(tenants, product="voucher", books_breakage=books)
    await link(tenants, "a1")
    ask, voucher = Direct(tenants), await network_voucher(tenants, await offered_box(tenants, "a1", max_usages=2))
    sent = {"code": voucher.code, "partner_id": tenants.partners["a1"].id}
    assert (await ask.change("a1", use_network_voucher, **sent)).done
    await tenants.execute("UPDATE network_voucher SET expires_on = now() - interval '1 minute'")
    assert await expire_vouchers(tenants.services) == 1
    (usage,) = await usages_of_voucher(tenants, voucher)
    assert (await ask.change("a1", cancel_network_voucher_usage, id=usage.id)).done
    row, unowed, owed = await stored(tenants, voucher), "120.00" if books else "0.00", 0 if books else 12000
    assert (row.status, str(row.unowed_amount), await voucher_balance(tenants, voucher)) == (S.EXPIRED, unowed, owed)
    assert (await balances(tenants)).get("breakage", 0) == 12000 - owed
    assert await is_proved(tenants)
    assert (await ask.change("market a", extend_network_voucher, id=voucher.id, expires_on=later())).done
    row = await stored(tenants, voucher)
    assert (row.status, str(row.unowed_amount), await voucher_balance(tenants, voucher)) == (S.PAID, "0.00", 12000)
    assert "breakage" not in await balances(tenants)
    assert await is_proved(tenants)


async def test_vouchers_that_cannot_be_extended(tenants: Tenants, ask: Transport) -> None:
    box = await new_box(tenants)
    for more in ({"status": S.CANCELLED}, {"expires_on": None}):
        voucher = await network_voucher(tenants, box, **more)
        refused = await ask.change("market a", extend_network_voucher, id=voucher.id, expires_on=later())
        assert refused.wrong == {("", "NOT_EXTENDABLE")}
