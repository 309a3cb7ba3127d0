"""`refunds`, `refund` and `transfers`: what is filtered, in which order, and for whom it is there."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from resolvers.core.lists.listing import PageArguments
from resolvers.payment.refunds.refunds import refund, refunds
from resolvers.payment.transfers import transfers
from schema.core.errors import Forbidden, NotFound
from schema.payment.payment import RefundOrigin, RefundState
from schema.payment.transfer import TransferStatus, TransferType
from store.ledger.wallets import WalletRow, wallet_of_partner
from store.payment.payments import RefundRow
from store.payment.transfers import TransferRow
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.tenants import Tenants

START = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
SEEN_BY = {"a1": ("a1",), "a2": ("a2",), "market a": ("a1", "a2"), "market b": ("b1",), "master": ("a1", "a2", "b1")}


async def stored_refunds(tenants: Tenants) -> Mapping[str, list[RefundRow]]:
    """Refunds of three partners, in each state and of each origin."""
    rows: dict[str, list[RefundRow]] = {}
    for partner, count in (("a1", 8), ("a2", 2), ("b1", 1)):
        payment = await stored_payment(tenants, partner)
        rows[partner] = [
            RefundRow(
                partner_id=payment.partner_id,
                payment_id=payment.id,
                state=list(RefundState)[number % 4],
                origin=list(RefundOrigin)[number % 3],
                refund_amount=Decimal(1 + number),
                created_on=START + dt.timedelta(hours=number),
            )
            for number in range(count)
        ]
        await tenants.add(*rows[partner])
    return rows


async def listed(tenants: Tenants, who: str, kind: str, arguments: str) -> list[Any]:
    """The ids of a list over GraphQL."""
    answer = await tenants.graphql(who, f"{{ {kind}({arguments}) {{ nodes {{ id }} }} }}")
    assert "errors" not in answer, answer
    return [node["id"] for node in answer["data"][kind]["nodes"]]


async def test_refunds_are_listed_for_who_sees_to_them(tenants: Tenants) -> None:
    rows = await stored_refunds(tenants)
    for who, partners in SEEN_BY.items():
        own = [row for partner in partners for row in rows[partner]]
        oldest = [str(row.id) for row in sorted(own, key=lambda row: (row.created_on, row.id))]
        assert await listed(tenants, who, "refunds", "first: 100, orderBy: OLDEST") == oldest
        assert await listed(tenants, who, "refunds", "first: 100") == oldest[::-1]
    own = rows["a1"]
    half = (START + dt.timedelta(hours=4)).isoformat()
    filters = {
        "state: NEEDS_ACTION": [row for row in own if row.state is RefundState.NEEDS_ACTION],
        "states: [PENDING, FAILED]": [row for row in own if row.state in (RefundState.PENDING, RefundState.FAILED)],
        "origin: PROVIDER": [row for row in own if row.origin is RefundOrigin.PROVIDER],
        f'paymentId: "{own[0].payment_id}"': own,
        f'paymentId: "{rows["a2"][0].payment_id}"': [],
        f'createdFrom: "{half}"': own[4:],
        f'createdUntil: "{half}"': own[:5],
    }
    for written, chosen in filters.items():
        found = await listed(tenants, "a1", "refunds", f"first: 100, orderBy: OLDEST, filter: {{{written}}}")
        assert found == [str(row.id) for row in chosen], written
    of_a2 = f'first: 100, filter: {{partnerUuid: "{tenants.partners["a2"].uuid}"}}'
    assert len(await listed(tenants, "market a", "refunds", of_a2)) == 2
    assert await listed(tenants, "a1", "refunds", of_a2) == []


async def test_a_refund_is_there_for_its_partner_alone(tenants: Tenants) -> None:
    row = (await stored_refunds(tenants))["a1"][0]
    for who, partners in SEEN_BY.items():
        lazy = await refund(await tenants.context(who), row.id)
        if "a1" in partners:
            assert (await lazy.object()).id == row.id
        else:
            with pytest.raises(NotFound):
                await lazy.object()


async def test_without_the_permission_there_are_none(tenants: Tenants) -> None:
    await tenants.user("powerless", "partner", [], partner_id=tenants.partners["a1"].id)
    context = await tenants.context("powerless")
    for listing in (refunds, transfers):
        with pytest.raises(Forbidden):
            await listing(context, PageArguments())
    with pytest.raises(Forbidden):
        await refund(context, "00000000-0000-4000-8000-000000000000")


async def test_transfers_are_filtered(tenants: Tenants) -> None:
    payment = await stored_payment(tenants)
    async with tenants.services.db.sessions() as db, db.begin():
        wallets: list[WalletRow] = [
            await wallet_of_partner(db, tenants.partners[name].id, f"wallet of {name}") for name in ("a1", "a2", "b1")
        ]
        rows = [
            TransferRow(
                marketplace_id=wallets[number % 3].marketplace_id,
                partner_id=wallets[number % 3].partner_id,
                type=list(TransferType)[number % 2],
                status=list(TransferStatus)[number % 3 - number // 3],
                transfer_amount=Decimal(1),
                created_on=START + dt.timedelta(hours=number),
                debited_wallet_id=wallets[number % 3].id,
                payment_id=payment.id if number == 3 else None,
            )
            for number in range(9)
        ]
        db.add_all(rows)
    for who, partners in SEEN_BY.items():
        ids = {tenants.partners[name].id for name in partners}
        own = [row.id for row in rows if row.partner_id in ids]
        assert await listed(tenants, who, "transfers", "first: 100, orderBy: OLDEST") == own
    filters = {
        f'walletUuid: "{wallets[0].uuid}"': [row for row in rows if row.debited_wallet_id == wallets[0].id],
        f'paymentId: "{payment.id}"': [rows[3]],
        "type: REVERSAL": [row for row in rows if row.type is TransferType.REVERSAL],
        "status: PENDING": [row for row in rows if row.status is TransferStatus.PENDING],
        f'createdFrom: "{rows[7].created_on.isoformat()}"': rows[7:],
        f'createdUntil: "{rows[1].created_on.isoformat()}"': rows[:2],
    }
    for written, chosen in filters.items():
        found = await listed(tenants, "master", "transfers", f"first: 100, orderBy: OLDEST, filter: {{{written}}}")
        assert found == [row.id for row in chosen], written
    assert all(filters.values())
