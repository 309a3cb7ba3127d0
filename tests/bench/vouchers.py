"""Vouchers as lists of them are read: whole over REST, 15 values over GraphQL, each beside the same written by hand."""

import datetime as dt
from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson
from sqlmodel import col, select

from coffret.demo.large import add_large_partner
from coffret.demo.users import LARGE_PARTNER_USER
from resolvers.account.administration import create_token
from resolvers.voucher.vouchers import VoucherSort
from resolvers.voucher.vouchers import vouchers as listing
from store.account.users import UserRow
from store.core.clock import clock
from store.partner.partners import MarketplaceRow, PartnerRow
from tests.bench.floors import Rows, moment
from tests.bench.installation import Installation
from tests.bench.voucher_floors import Vouchers

LENGTH = 100
QUERY = """
query Vouchers($first: Int!, $after: String, $filter: VoucherFilter) {
  vouchers(first: $first, after: $after, filter: $filter) {
    edges {
      node {
        id code state kind origin language nbNights nbAdults selfGifted message
        totalPrice { amount currency } gifterDetails { firstName lastName } createdOn expiresOn
      }
    }
    pageInfo { hasNextPage }
  }
}
"""
STATEMENT = """
SELECT id, code, state, kind, origin, language, nb_nights, nb_adults, self_gifted, message, total_price_amount, currency,
  gifter_first_name, gifter_last_name, created_on, expires_on
FROM voucher WHERE partner_id = $1 ORDER BY created_on DESC, id DESC LIMIT 101
"""
STATES = {"draft": "DRAFT", "paid": "PAID", "error": "ERROR", "using": "USING", "used": "USED", "exprd": "EXPIRED"}
KINDS = {"voucher": "SOLD", "imported": "IMPORTED"}


async def lay(installation: Installation, rows: int) -> tuple[int, str, str]:
    """Give the installation the large partner with so many vouchers. Answers its id, its time zone and a token of its user."""
    db = installation.app.state.container.services.db
    await add_large_partner(db, installation.settings, clock, rows, lambda _done, _all: None)
    query = select(PartnerRow.id, MarketplaceRow.time_zone).join(UserRow, col(UserRow.partner_id) == col(PartnerRow.id))
    query = query.join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
    async with db.sessions() as session, session.begin():
        _, token = await create_token(session, LARGE_PARTNER_USER, "bench", clock)
        partner_id, zone = (await session.exec(query.where(col(UserRow.username) == LARGE_PARTNER_USER))).one()
    return partner_id, zone, token


def rest_floor(
    installation: Installation, partner_id: int, zone: str, answer: bytes, size: int = LENGTH, condition: str = "true"
) -> Vouchers:
    """The page of whole vouchers, of those that a condition in SQL is true of."""
    public_url = installation.settings.public_url
    return Vouchers(answer, partner_id=partner_id, size=size, zone=zone, public_url=public_url, condition=condition)


def cursor(created_on: dt.datetime, id: int) -> str:
    """Where a voucher stands among the newest."""
    return listing.orders[VoucherSort.NEWEST].cursor(created_on, id)


def graphql_floor(partner_id: int, answer: bytes) -> Rows:
    """The page of 15 values."""
    extensions = orjson.loads(answer)["extensions"]
    return Rows(answer, statement=STATEMENT, arguments=(partner_id,), write=partial(render_by_hand, extensions))


def render_by_hand(extensions: Any, rows: Sequence[Any]) -> bytes:
    """What one would write by hand."""
    edges = [
        {
            "node": {
                "id": r["id"],
                "code": r["code"],
                "state": STATES[r["state"]],
                "kind": KINDS[r["kind"]],
                "origin": r["origin"],
                "language": r["language"],
                "nbNights": r["nb_nights"],
                "nbAdults": r["nb_adults"],
                "selfGifted": r["self_gifted"],
                "message": r["message"],
                "totalPrice": {"amount": r["total_price_amount"], "currency": r["currency"]},
                "gifterDetails": {"firstName": r["gifter_first_name"], "lastName": r["gifter_last_name"]},
                "createdOn": moment(r["created_on"]),
                "expiresOn": moment(r["expires_on"]),
            }
        }
        for r in rows[:LENGTH]
    ]
    data = {"vouchers": {"edges": edges, "pageInfo": {"hasNextPage": len(rows) > LENGTH}}}
    return orjson.dumps({"data": data, "extensions": extensions}, default=str)
