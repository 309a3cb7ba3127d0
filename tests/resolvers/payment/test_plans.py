"""Lists of payments go along an index whatever is asked of them, and take as many statements for many rows as for few."""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from resolvers.payment.payments import PaymentFilter, PaymentSort
from rest_compat.resources.payment import ORDERING, QUERY
from store.database import filtered_page
from tests.bench import payments
from tests.bench.installation import open_installation
from tests.plans import PlanReader

ROWS = 4000
FILTERS: Sequence[dict[str, Any]] = (
    {},
    {"ids": None},
    {"status": "ERROR"},
    {"statuses": ["ERROR", "CANCELLED"]},
    {"refundStatus": "PARTIAL"},
    {"refundStatuses": ["FULL"]},
    {"refundStatuses": ["PARTIAL", "FULL"]},
    {"customerFirstName": "elod"},
    {"customerFirstName": "nobody"},
    {"customerLastName": "martin97"},
    {"customerEmail": "buyer123@"},
    {"customerEmail": "mail.example"},
    {"orderId": 1},
    {"paymentRequestId": 1},
    {"payoutStatuses": ["PAID", "FAILED"]},
    {"product": "stay"},
    {"origin": "newsletter"},
    {"partnerUuid": None},
    {"marketplaceUuid": None},
    {"createdFrom": "2020-01-02T00:00:00Z", "createdUntil": "2020-01-03T00:00:00Z"},
)
"""What is asked for; null stands for what one of the payments has there."""
PARAMETERS: Mapping[str, str] = {
    "created_on__gte": "2020-01-02",
    "created_on__lte": "2020-01-03",
    "partner_uuid": "",
    "status": "err",
    "status__in": "err,cncl",
    "payout_request_status": "paid",
    "payout_request_status__in": "paid,failed",
    "customer_first_name": "elod",
    "customer_last_name": "martin97",
    "customer_email": "buyer123@",
    "partially_refunded": "true",
    "fully_refunded": "true",
}
"""A value of each documented parameter; an empty one is that of a payment."""
ONE = """
    SELECT payment.id::text, partner.uuid::text AS partner_uuid, marketplace.uuid::text AS marketplace_uuid
    FROM payment JOIN partner ON partner.id = partner_id JOIN marketplace ON marketplace.id = marketplace_id
    WHERE partner_id = $1 LIMIT 1
"""
PAGE = """
query Page($filter: PaymentFilter, $orderBy: PaymentSort! = NEWEST) {
  payments(first: 20, filter: $filter, orderBy: $orderBy) { nodes { id refundStatus } }
}
"""
WHOLE = """
query Whole($first: Int!) {
  payments(first: $first) {
    totalCount
    nodes { id sources { id } transactions { id } refunds { id } extraWallet { uuid transfers { id } } journal { id } }
  }
}
"""


async def test_lists_go_along_an_index_and_statements_do_not_grow(
    database_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {name for filter in FILTERS for name in filter} == {
        "".join(part.capitalize() if at else part for at, part in enumerate(name.split("_")))
        for name in PaymentFilter.model_fields
    }
    assert {parameter.name for parameter in QUERY} == set(PARAMETERS)
    monkeypatch.setattr(filtered_page, "SCANNED_ROWS", 200)  # of so few rows, 5,000 would be all
    async with open_installation(database_url, "", tmp_path) as installation:
        partner_id, token = await payments.lay(installation, ROWS)
        one = await installation.means.pool.fetchrow(ONE, partner_id)
        transport, headers = httpx.ASGITransport(installation.app), {"Authorization": f"Token {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers) as client:
            reader = PlanReader(client, installation.app.state.container.services.db, "payment")
            await _every_filter_and_order_has_an_index(reader, one)
            await _every_parameter_has_an_index(reader, one)
            await _statements_do_not_grow(reader)


async def _every_filter_and_order_has_an_index(reader: PlanReader, one: Mapping[str, Any]) -> None:
    own = {"ids": [one["id"]], "partnerUuid": one["partner_uuid"], "marketplaceUuid": one["marketplace_uuid"]}
    for filter in FILTERS:
        asked = {name: own[name] if value is None else value for name, value in filter.items()}
        for order in PaymentSort:
            await reader.count_statements(PAGE, filter=asked, orderBy=order.name)
            await reader.went_along_an_index(f"{filter} by {order.name}", "FROM payment")


async def _every_parameter_has_an_index(reader: PlanReader, one: Mapping[str, Any]) -> None:
    for name, value in PARAMETERS.items():
        for order in ("", *(f"{sign}{column}" for column in ORDERING.columns for sign in ("", "-"))):
            await reader.read(f"/api/payments/?page_size=20&{name}={value or one['partner_uuid']}&ordering={order}")
            await reader.went_along_an_index(f"{name}={value} by {order}", "FROM payment")
    await reader.read(f"/api/payments/?page_size=20&page={ROWS // 20}")
    await reader.went_along_an_index("the last page", "OFFSET")


async def _statements_do_not_grow(reader: PlanReader) -> None:
    few, many = [await reader.read(f"/api/payments/?page_size={size}") for size in (25, 100)]
    assert few == many == 2
    few, many = [await reader.count_statements(WHOLE, first=first) for first in (25, 100)]
    assert few == many
