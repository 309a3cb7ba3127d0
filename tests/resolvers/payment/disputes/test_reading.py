"""`disputes`, `dispute` and `payment.disputes` over GraphQL: what is shown, and to whom."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schema.payment.dispute import DisputeDocumentKind, DisputeKind, DisputeState
from store.payment.disputes import DisputeDocumentRow, DisputeRow
from store.payment.journals import journals_of_payments
from tests.fixtures.basket import card_of
from tests.fixtures.payment.dispute import bought_disputably, open_dispute
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants

START = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
SEEN_BY = {"a1": ("a1",), "a2": ("a2",), "market a": ("a1", "a2"), "market b": ("b1",), "master": ("a1", "a2", "b1")}
WHOLE = """query ($id: UUID!) { dispute(id: $id) { state kind amount { amount } contested { amount } held { amount }
    lost { amount } settled { amount } reasonCode contestUntil closedOn payment { id disputes { id } }
    documents { kind status mediaType dispute { id } } partner { shortName } } }"""


async def stored_disputes(tenants: Tenants) -> Mapping[str, DisputeRow]:
    """A dispute of each of three partners, with a document."""
    rows = {}
    for number, partner in enumerate(("a1", "a2", "b1")):
        payment = await stored_payment(tenants, partner)
        rows[partner] = row = DisputeRow(
            provider_id=f"disp_{partner}",
            partner_id=payment.partner_id,
            payment_id=payment.id,
            kind=DisputeKind.CONTESTABLE,
            state=DisputeState.NEEDS_RESPONSE,
            dispute_amount=Decimal("12.50"),
            reason_code="FRAUD",
            created_on=START + dt.timedelta(hours=number),
            contest_until=START + dt.timedelta(days=14),
        )
        await tenants.add(row)
        of: dict[str, Any] = {"partner_id": payment.partner_id, "dispute_id": row.id, "digest": "0" * 64}
        await tenants.add(DisputeDocumentRow(**of, kind=DisputeDocumentKind.INVOICE, media_type="image/png", size=2000))
    return rows


async def test_disputes_are_listed_for_who_sees_to_them(tenants: Tenants) -> None:
    rows = await stored_disputes(tenants)
    for who, partners in SEEN_BY.items():
        for order, expected in (("NEWEST", partners[::-1]), ("OLDEST", partners)):
            answer = await tenants.graphql(who, f"{{ disputes(orderBy: {order}) {{ nodes {{ id }} }} }}")
            assert [it["id"] for it in answer["data"]["disputes"]["nodes"]] == [str(rows[p].id) for p in expected]


async def test_a_dispute_is_shown_whole(tenants: Tenants) -> None:
    row = (await stored_disputes(tenants))["a1"]
    seen = (await tenants.graphql("a1", WHOLE, id=row.id))["data"]["dispute"]
    assert seen.pop("payment") == {"id": str(row.payment_id), "disputes": [{"id": str(row.id)}]}
    assert seen.pop("documents") == [
        {"kind": "INVOICE", "status": "CREATED", "mediaType": "image/png", "dispute": {"id": str(row.id)}}
    ]
    assert (seen["state"], seen["kind"], seen["reasonCode"]) == ("NEEDS_RESPONSE", "CONTESTABLE", "FRAUD")
    assert (seen["amount"], seen["contested"], seen["lost"]) == ({"amount": "12.50"}, None, {"amount": "0.00"})
    assert seen["closedOn"] is None
    other = await tenants.graphql("a2", WHOLE, id=row.id)
    assert (other.get("data") or {}).get("dispute") is None


async def test_the_journals_of_a_payment_include_its_disputes(shop: Shop) -> None:
    await bought_disputably(shop, card_of("100.00"))
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    row = await dispute.follow()
    await dispute.check()
    async with shop.services.db.sessions() as db:
        journals = (await journals_of_payments(db, [row.payment_id]))[row.payment_id]
    assert [journal.kind for journal in journals] == ["payment", "dispute", "dispute_lost"]
