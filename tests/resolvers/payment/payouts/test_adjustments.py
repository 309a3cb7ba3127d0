"""Adjustments: booked by one user or two, decided once, in the next payout, and owed if nothing is left to take."""

import asyncio
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from resolvers.partner.marketplaces import update_marketplace
from resolvers.payment.payouts.adjustments import (
    approve_payout_adjustment,
    create_payout_adjustment,
    payout_adjustment,
    payout_adjustments,
    reject_payout_adjustment,
)
from resolvers.payment.payouts.payouts import create_payout_request, validate_payout_request
from schema.account.user import UserRole
from schema.payment.adjustment import CreatePayoutAdjustment
from schema.payment.payout import PayoutSection
from store.account.users import UserRow
from store.document.payout.source import read_payout_content
from store.payout.requests import PayoutRequestRow
from tests.changes import Direct, Transport
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network import balances, is_proved
from tests.fixtures.payment.api_payment import books_balance, paid, wallets_agree
from tests.fixtures.payment.payout import can_be_paid_out, make_ready, put_into_payout, send, validated
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import PASSWORD, Tenants
from tests.resolvers.account.test_api_tokens import create_for
from tests.resolvers.payment.payouts.test_payouts import earn, opened, refusal

REASON = "The stand at the fair"
JOURNALS = "SELECT count(*) FROM ledger_journal WHERE kind = 'adjustment'"


async def second_user(tenants: Tenants) -> str:
    """Another user of the marketplace."""
    name = "market a, second"
    await tenants.user(name, "marketplace", marketplace_id=tenants.marketplaces["a"].id)
    return name


async def threshold(tenants: Tenants, amount: str | None) -> None:
    """From which amount a second user is needed."""
    values = {"id": tenants.marketplaces["a"].id, "payout_settings": {"approval_from": amount}}
    assert (await Direct(tenants).change("market a", update_marketplace, **values)).done


def asked(tenants: Tenants, amount: str, reason: str = REASON) -> dict[str, Any]:
    return {"partner_uuid": tenants.partners["a1"].uuid, "amount": amount, "reason": reason}


async def adjusted(tenants: Tenants, amount: str, who: str = "market a") -> int:
    """An adjustment, as far as one user brings it; its id."""
    assert (await Direct(tenants).change(who, create_payout_adjustment, **asked(tenants, amount))).done
    return int(await tenants.one("SELECT max(id) FROM payout_adjustment"))


async def events(tenants: Tenants) -> list[str]:
    rows = await tenants.rows("SELECT type FROM event WHERE type LIKE 'payout_adjustment.%' ORDER BY id")
    return [row.type.removeprefix("payout_adjustment.") for row in rows]


async def test_what_is_given_is_a_line_of_the_next_payout(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("market a", create_payout_adjustment, **asked(tenants, "25.00"))).done
    assert await events(tenants) == ["booked"]
    held = await balances(tenants)
    assert (held["partner_network"], held["promotion"]) == (2500, 2500)
    id = await put_into_payout(tenants.services, tenants.partners["a1"].id, is_validated=False)
    query = "query ($id: Int!) { payoutExplain(id: $id) { lines { nodes { section kind sourceKind amount { amount } network { amount } details } } } }"
    (line,) = (await tenants.graphql("market a", query, id=id))["data"]["payoutExplain"]["lines"]["nodes"]
    assert line == {
        "section": "OTHER",
        "kind": "ADJUSTMENT",
        "sourceKind": "payout_adjustment",
        "amount": {"amount": "25.00"},
        "network": {"amount": "25.00"},
        "details": REASON,
    }
    assert await is_proved(tenants)


async def test_documents_show_it_with_its_reason(tenants: Tenants) -> None:
    await adjusted(tenants, "25.00")
    id = await put_into_payout(tenants.services, tenants.partners["a1"].id)
    async with tenants.services.db.sessions() as db:
        content = await read_payout_content(db, await db.get_one(PayoutRequestRow, id))
    (line,) = content.sections[PayoutSection.OTHER].lines
    assert (content.describe(line), line.net) == (f"{content.words.kind(line.kind)} · {REASON}", line.gross)
    assert REASON in str(content.statement().data())


async def test_what_is_taken_lowers_the_payout(tenants: Tenants, ask: Transport) -> None:
    id = await opened(tenants, value="30.00")
    assert (await ask.change("market a", create_payout_adjustment, **asked(tenants, "-12.00"))).done
    await make_ready(tenants, "a1")
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    assert str(await tenants.one("SELECT payout_amount FROM payout_request")) == "18.00"
    held = await balances(tenants)
    assert (held["network_reserved"], held["partner_charges"]) == (1800, 1200)
    assert await is_proved(tenants)


async def test_what_is_not_there_is_owed_and_recovered(tenants: Tenants) -> None:
    await earn(tenants, value="10.00")
    await adjusted(tenants, "-25.00")
    held = await balances(tenants)
    assert (held.get("partner_network"), held["owed_by_partner"], held["partner_charges"]) == (None, 1500, 2500)
    assert await is_proved(tenants)
    await earn(tenants, value="40.00")
    id = await put_into_payout(tenants.services, tenants.partners["a1"].id)
    assert str(await tenants.one("SELECT payout_amount FROM payout_request WHERE id = :id", id=id)) == "25.00"
    assert "owed_by_partner" not in await balances(tenants)
    assert await is_proved(tenants)


async def test_what_is_taken_of_own_earnings_leaves_the_wallet_with_the_payout(shop: Shop) -> None:
    """Beside what it needs for that, the provider pays out the rest."""
    await can_be_paid_out(shop)
    await paid(shop, "50.00")
    at = shop.partner.marketplace_id
    user = await shop.add(UserRow(username="staff@users.example", role=UserRole.MARKETPLACE, marketplace_id=at))
    values = {"partner_uuid": shop.partner.uuid, "amount": "-20.00", "reason": REASON}
    await create_payout_adjustment(market(shop, user.id), CreatePayoutAdjustment.model_validate(values))
    await books_balance(shop)
    payout = await send(shop, await validated(shop))
    assert (payout.status, str(payout.payout_amount), str(payout.recovered_amount)) == ("paid", "30.00", "20.00")
    assert await shop.one("SELECT count(*) FROM ledger_account WHERE role = 'owed_by_partner' AND balance <> 0") == 0
    await books_balance(shop)
    await wallets_agree(shop)


@pytest.mark.parametrize(
    ("least", "amount", "is_pending"),
    [
        (None, "9000.00", False),
        ("0", "0.01", True),
        ("100", "99.99", False),
        ("100", "100", True),
        ("100", "-100", True),
    ],
)
async def test_the_threshold_decides(tenants: Tenants, least: str | None, amount: str, is_pending: bool) -> None:
    await threshold(tenants, least)
    await adjusted(tenants, amount)
    assert await tenants.one("SELECT status FROM payout_adjustment") == ("pending" if is_pending else "booked")
    assert await tenants.one(JOURNALS) == (not is_pending)
    assert await events(tenants) == (["requested"] if is_pending else ["booked"])
    assert await is_proved(tenants)


async def test_a_second_user_approves(tenants: Tenants, ask: Transport) -> None:
    await threshold(tenants, "0")
    id, second = await adjusted(tenants, "50.00"), await second_user(tenants)
    alone = {("", "SECOND_USER_REQUIRED")}
    assert await refusal(tenants, ask, "market a", approve_payout_adjustment, id=id) == alone
    assert await refusal(tenants, ask, "market a", reject_payout_adjustment, id=id, reason="No.") == alone
    for _ in range(2):
        assert (await ask.change(second, approve_payout_adjustment, id=id)).done
    row = (await tenants.rows("SELECT * FROM payout_adjustment"))[0]
    assert (row.status, row.requested_by_id, row.decided_by_id) == (
        "booked",
        tenants.users["market a"].id,
        tenants.users[second].id,
    )
    assert (await tenants.one(JOURNALS), await events(tenants)) == (1, ["requested", "booked"])
    over = {("", "INVALID_TRANSITION")}
    assert await refusal(tenants, ask, second, reject_payout_adjustment, id=id, reason="No.") == over
    assert await is_proved(tenants)


async def test_a_token_for_another_user_is_no_second_one(tenants: Tenants) -> None:
    await threshold(tenants, "0")
    id, second, ask = await adjusted(tenants, "50.00"), await second_user(tenants), Direct(tenants)
    await tenants.with_password("market a", PASSWORD)
    tenants.tokens["program"] = (await create_for(tenants, "market a", second))["newToken"]["secret"]
    alone = {("", "SECOND_USER_REQUIRED")}
    assert (await ask.change("program", approve_payout_adjustment, id=id)).wrong == alone
    assert (await ask.change("program", reject_payout_adjustment, id=id, reason="No.")).wrong == alone
    other = await adjusted(tenants, "50.00", "program")
    assert (await ask.change("market a", approve_payout_adjustment, id=other)).wrong == alone
    assert await tenants.one(JOURNALS) == 0
    for each in (id, other):
        assert (await ask.change("master", approve_payout_adjustment, id=each)).done


async def test_a_second_user_rejects(tenants: Tenants, ask: Transport) -> None:
    await threshold(tenants, "0")
    id, second = await adjusted(tenants, "50.00"), await second_user(tenants)
    for _ in range(2):
        assert (await ask.change(second, reject_payout_adjustment, id=id, reason="It was free.")).done
    row = (await tenants.rows("SELECT * FROM payout_adjustment"))[0]
    assert (row.status, row.rejection_reason, row.booked_on) == ("rejected", "It was free.", None)
    assert (await tenants.one(JOURNALS), await events(tenants)) == (0, ["requested", "rejected"])
    assert await refusal(tenants, ask, second, approve_payout_adjustment, id=id) == {("", "INVALID_TRANSITION")}
    assert await is_proved(tenants)


async def test_the_database_refuses_one_user_for_two(tenants: Tenants) -> None:
    await threshold(tenants, "0")
    await adjusted(tenants, "50.00")
    for change in ("decided_by_id = requested_by_id", "decided_by_id = NULL"):
        with pytest.raises(IntegrityError):
            await tenants.execute(f"UPDATE payout_adjustment SET status = 'booked', booked_on = now(), {change}")  # noqa: S608


async def test_who_may(tenants: Tenants, ask: Transport) -> None:
    await threshold(tenants, "0")
    id = await adjusted(tenants, "50.00")
    for who, code in (("a1", "FORBIDDEN"), ("market b", "NOT_FOUND")):
        for operation, more in ((approve_payout_adjustment, {}), (reject_payout_adjustment, {"reason": "No."})):
            assert await refusal(tenants, ask, who, operation, id=id, **more) == {("", code)}
    values = asked(tenants, "5.00")
    assert await refusal(tenants, ask, "a1", create_payout_adjustment, **values) == {("", "FORBIDDEN")}
    assert await refusal(tenants, ask, "market b", create_payout_adjustment, **values) == {("partner_uuid", "INVALID")}
    wrong = {**values, "amount": "0"}
    assert await refusal(tenants, ask, "market a", create_payout_adjustment, **wrong) == {("amount", "OUT_OF_RANGE")}


async def test_no_user_of_a_partner_adjusts_its_own_earnings(tenants: Tenants, ask: Transport) -> None:
    """Whatever permissions the user has."""
    await threshold(tenants, "0")
    id, a1 = await adjusted(tenants, "50.00"), tenants.partners["a1"]
    await tenants.execute(
        "UPDATE app_user SET permissions = ARRAY['validate_payout', 'view_payout'] WHERE partner_id = :id", id=a1.id
    )
    only = {("", "MARKETPLACE_ONLY")}
    assert await refusal(tenants, ask, "a1", create_payout_adjustment, **asked(tenants, "5.00")) == only
    assert await refusal(tenants, ask, "a1", approve_payout_adjustment, id=id) == only


async def test_lists(tenants: Tenants) -> None:
    await threshold(tenants, "40")
    pending, booked = await adjusted(tenants, "50.00"), await adjusted(tenants, "-5.00")
    query = "query ($status: PayoutAdjustmentStatus) { payoutAdjustments(filter: {status: $status}) { nodes { id } } }"
    for status, expected in ((None, [booked, pending]), ("PENDING", [pending]), ("BOOKED", [booked])):
        for who in ("market a", "a1"):
            body = await tenants.graphql(who, query, status=status)
            assert [node["id"] for node in body["data"]["payoutAdjustments"]["nodes"]] == expected, body
        body = await tenants.graphql("market b", query, status=status)
        assert body["data"]["payoutAdjustments"]["nodes"] == []
    one = "query ($id: Int!) { payoutAdjustment(id: $id) { amount { amount currency } requiresApproval reason } }"
    found = (await tenants.graphql("market a", one, id=pending))["data"]["payoutAdjustment"]
    assert found == {"amount": {"amount": "50.00", "currency": "EUR"}, "requiresApproval": True, "reason": REASON}
    assert {payout_adjustments.permission, payout_adjustment.permission} == {"view_payout"}


# ---- races


async def test_it_is_approved_once_however_many_try(tenants: Tenants) -> None:
    await threshold(tenants, "0")
    id, second = await adjusted(tenants, "50.00"), await second_user(tenants)
    ask = Direct(tenants)
    answers = await asyncio.gather(*(ask.change(second, approve_payout_adjustment, id=id) for _ in range(12)))
    assert all(answer.done for answer in answers)
    assert (await tenants.one(JOURNALS), await events(tenants)) == (1, ["requested", "booked"])
    assert await is_proved(tenants)


async def test_it_is_approved_or_rejected(tenants: Tenants) -> None:
    await threshold(tenants, "0")
    second, ask = await second_user(tenants), Direct(tenants)
    for _ in range(6):
        id = await adjusted(tenants, "50.00")
        answers = await asyncio.gather(
            ask.change(second, approve_payout_adjustment, id=id),
            ask.change(second, reject_payout_adjustment, id=id, reason="No."),
        )
        assert sorted(answer.done for answer in answers) == [False, True]
        status = await tenants.one("SELECT status FROM payout_adjustment WHERE id = :id", id=id)
        posted = await tenants.one(f"{JOURNALS} AND source_id = CAST(:id AS text)", id=str(id))
        assert (status, posted) in {("booked", 1), ("rejected", 0)}
    assert await is_proved(tenants)


@pytest.mark.parametrize(("amount", "rounds"), [("50.00", 4), ("-20.00", 4), ("-40.00", 4), ("-80.00", 1)])
async def test_it_is_approved_while_payouts_are_gathered_and_validated(
    tenants: Tenants, amount: str, rounds: int
) -> None:
    await threshold(tenants, "0")
    await make_ready(tenants, "a1")
    second, ask = await second_user(tenants), Direct(tenants)
    for _ in range(rounds):
        first, id = await opened(tenants, value="60.00"), await adjusted(tenants, amount)
        await earn(tenants, value="30.00")
        uuid = tenants.partners["a1"].uuid
        approved, *_ = await asyncio.gather(
            ask.change(second, approve_payout_adjustment, id=id),
            ask.change("market a", create_payout_request, partner_uuid=uuid),
            ask.change("market a", validate_payout_request, id=first),
        )
        assert approved.done
        assert not await broken_rules(tenants.services.db)
    assert await tenants.one(JOURNALS) == rounds
