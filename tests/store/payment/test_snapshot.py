"""What attempts store of their checkout: readable for every release that has stored one, and unchanged by reading."""

import json
import pathlib
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import text

from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.checkout.placement import fingerprint_of
from store.payment.attempts import AttemptRow
from store.payment.snapshot import BUYER, CODES, DELIVERY, LINES, VAT, AttemptCode
from tests.fixtures.payment.payment import stored_attempt
from tests.fixtures.tenants import Tenants, open_tenants

STORED = json.loads((pathlib.Path(__file__).parents[2] / "data" / "stored_attempts.json").read_text())
"""Attempts as stored before their columns were typed, one of each kind of shop."""
COLUMNS = ("lines", "buyer", "delivery", "vat", "coupons", "cards")


@pytest.fixture
async def tenants(database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Tenants]:
    """A filled database of its own."""
    async with open_tenants(database_url, tmp_path) as opened:
        yield opened


async def _store(tenants: Tenants, columns: dict[str, Any]) -> AttemptRow:
    """Store JSON as an older release has, and read the attempt."""
    partner = tenants.partners["a1"]
    async with tenants.services.db.sessions() as db, db.begin():
        attempt = stored_attempt(partner.id)
        db.add(attempt)
        await db.flush()
        for name, value in columns.items():
            stored = {"value": json.dumps(value), "id": attempt.id}
            await (await db.connection()).execute(
                text(f"UPDATE checkout_attempt SET {name} = CAST(:value AS jsonb) WHERE id = :id"),  # noqa: S608 - a test's words
                stored,
            )
    async with tenants.services.db.sessions() as db:
        return await db.get_one(AttemptRow, attempt.id)


async def _stored(tenants: Tenants, attempt: AttemptRow) -> dict[str, Any]:
    row = await tenants.row("checkout_attempt", attempt.id)
    return {name: row[name] for name in COLUMNS}


@pytest.mark.parametrize("kind", STORED)
async def test_rows_of_older_releases_are_read_and_written_unchanged(tenants: Tenants, kind: str) -> None:
    columns = STORED[kind]["columns"]
    attempt = await _store(tenants, columns)
    attempt.cart_last_modified, attempt.total_amount = 12345, Decimal(STORED[kind]["total_amount"])
    assert fingerprint_of(attempt) == STORED[kind]["fingerprint"], "a repeated submit after an upgrade is one"
    for line, stored in zip(attempt.lines, columns["lines"], strict=True):
        assert (line.product_id, line.variant_id) == (stored["product_id"], stored["variant_id"])
        assert line.name == Text(**stored["name"])
        assert [str(amount) for amount in (line.unit_price, line.total, line.vat_rate)] == [
            stored[name] for name in ("unit_price", "total", "vat_rate")
        ]
        assert bool(line.voucher) == ("voucher" in stored)
        assert bool(line.gift_card) == ("gift_card" in stored)
        assert line.counted is line.voucher_id is line.gift_card_id is None
    assert attempt.buyer.last_name == "é"
    assert attempt.delivery.kind is DeliveryKind(columns["delivery"]["kind"])
    values = {name: getattr(attempt, name) for name in COLUMNS}
    again = await tenants.add(stored_attempt(attempt.partner_id, **values))
    assert await _stored(tenants, again) == columns


async def test_what_the_first_releases_did_not_store_has_a_default(tenants: Tenants) -> None:
    columns = json.loads(json.dumps(STORED["gift_card"]["columns"]))
    del columns["delivery"]["reception"], columns["delivery"]["to_giftees"]
    del columns["coupons"][0]["adds"], columns["coupons"][0]["frees"]
    del columns["lines"][0]["gift_card"]["validity_months"]
    attempt = await _store(tenants, columns)
    assert (attempt.delivery.reception, attempt.delivery.to_giftees) == (None, False)
    assert (attempt.coupons[0].adds, attempt.coupons[0].frees) == (Decimal(0), False)
    assert attempt.lines[0].gift_card is not None
    assert attempt.lines[0].gift_card.validity_months == 12


async def test_a_key_that_a_later_release_has_added_is_passed_over(tenants: Tenants) -> None:
    columns = STORED["goods"]["columns"]
    attempt = await _store(tenants, {"lines": [{**line, "engraving": "A&O"} for line in columns["lines"]]})
    assert len(attempt.lines) == len(columns["lines"])


async def test_what_is_not_known_yet_is_left_out(tenants: Tenants) -> None:
    line = STORED["goods"]["columns"]["lines"][0]
    counted = {**line, "counted": False}
    attempt = await _store(tenants, {"lines": [counted], "delivery": STORED["voucher"]["columns"]["delivery"]})
    assert attempt.lines[0].counted is False
    assert attempt.delivery.reception is ReceptionMode.PRINT_AT_HOME
    again = await tenants.add(stored_attempt(attempt.partner_id, lines=attempt.lines))
    assert (await _stored(tenants, again))["lines"] == [counted]


@pytest.mark.parametrize("code", [{"id": "one"}, {"id": 1, "code": "A"}, {"id": 1, "code": "A", "amount": "ten"}])
def test_what_is_no_such_value_is_refused(code: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CODES.read([code])


def test_values_are_frozen() -> None:
    for stored in (LINES, BUYER, DELIVERY, VAT, CODES):
        assert stored.cache_ok
    with pytest.raises(AttributeError):
        AttemptCode(1, "A", Decimal(1)).amount = Decimal(2)  # type: ignore[misc]
