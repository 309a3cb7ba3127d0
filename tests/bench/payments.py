"""A partner with many payments, what is asked of its lists, and what they cost at least: written by hand, with asyncpg."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import orjson
from starlette.requests import Request

from resolvers.payment.payments import PaymentSort
from resolvers.payment.payments import payments as listing
from store.ledger.books import book_of_partner
from store.ledger.wallets import open_card_wallets
from tests.bench import vouchers
from tests.bench.floors import Floor, Means, Rows, moment
from tests.bench.installation import Installation

LENGTH = 100
QUERY = """
query Payments($first: Int!, $after: String, $filter: PaymentFilter, $orderBy: PaymentSort! = NEWEST) {
  payments(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    edges {
      node {
        id status refundStatus product origin description createdOn modifiedOn
        amount { amount currency } net { amount } refunded { amount } customer { firstName lastName email }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""
STATEMENT = """
SELECT id, status, product, origin, description, created_on, modified_on, payment_amount, currency, net_amount,
  refunded_amount, customer_first_name, customer_last_name, customer_email
FROM payment WHERE partner_id = $1 ORDER BY created_on DESC, id DESC LIMIT 101
"""
WHOLE = """
SELECT p.id, p.status, p.currency, customer_first_name, customer_last_name, customer_email, origin, p.partner_id,
  r.uuid AS partner_uuid, p.created_on, modified_on, payment_amount, discount_amount, commission_amount, net_amount,
  refunded_amount, type, product, extra_amount, extra_wallet_id, w.uuid AS wallet_uuid, payin_result_code,
  payin_result_message, payment_request_id, document_token, o.id AS payout_id, o.status AS payout_status,
  o.created_on AS payout_created_on, o.validated_on AS payout_validated_on
FROM payment p JOIN partner r ON r.id = p.partner_id LEFT JOIN wallet w ON w.id = p.extra_wallet_id
LEFT JOIN LATERAL (
  SELECT o.id, o.status, o.created_on, o.validated_on FROM (
    SELECT 'payment' AS source_kind, p.id::text AS source_id, 'payment' AS kind
    UNION ALL SELECT 'network_gift_card_usage', u.id::text, 'capture' FROM network_gift_card_usage u WHERE u.payment_id = p.id
  ) g JOIN ledger_journal j ON (j.source_kind, j.source_id, j.kind) = (g.source_kind, g.source_id, g.kind)
  JOIN payable_item i ON i.journal_id = j.id JOIN payout_request o ON o.id = i.payout_request_id ORDER BY o.id LIMIT 1
) o ON true
WHERE p.partner_id = $1 ORDER BY p.created_on DESC, p.id DESC LIMIT 100
"""
COUNT = "SELECT count(*) FROM payment WHERE partner_id = $1"
STATUSES = {"ip": "IN_PROGRESS", "ok": "OK", "err": "ERROR", "cncl": "CANCELLED"}
ADD = """
INSERT INTO payment (id, partner_id, book_id, currency, status, type, payment_amount, discount_amount, card_amount,
  extra_amount, extra_wallet_id, commission_amount, commission_vat_amount, commission_vat_rate, net_amount, refunded_amount, product, origin,
  description, language, created_on, modified_on, payin_result_code, payin_result_message, customer_first_name,
  customer_last_name, customer_email, document_token, round, is_for_marketplace, is_reverse_charge)
SELECT gen_random_uuid(), $1, $2, 'EUR', (ARRAY['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ip', 'cncl', 'err'])[1 + n % 10],
  'credit_card', 100, 0, CASE WHEN n % 4 = 0 THEN 75 ELSE 100 END, CASE WHEN n % 4 = 0 THEN 25 ELSE 0 END,
  CASE WHEN n % 4 = 0 THEN $3::int END, 3.75, 0.63, 20, 96.25,
  CASE WHEN n % 10 > 6 THEN 0 WHEN n % 100 = 1 THEN 10 WHEN n % 200 = 3 THEN 100 ELSE 0 END,
  (ARRAY['stay', 'vouchers', 'products'])[1 + n % 3], (ARRAY['shop', 'newsletter'])[1 + n % 2], '', 'en',
  t, t, '', '', (ARRAY['Ada', 'Élodie', 'Zoë'])[1 + n % 3], 'Martin' || n % 977, 'buyer' || n || '@mail.example',
  md5('payment' || n) || md5('token' || n), 0, false, false
FROM generate_series($4::int, $5::int - 1) n, LATERAL (SELECT timestamptz '2020-01-01' + n * interval '97 seconds' AS t) x
"""


async def lay(installation: Installation, rows: int) -> tuple[int, str]:
    """Give the large partner so many payments; those that are there count. Answers its id and a token of its user."""
    partner_id, _, token = await vouchers.lay(installation, 0)
    pool = installation.means.pool
    stored = await pool.fetchval(COUNT, partner_id)
    async with installation.app.state.container.services.db.sessions() as db, db.begin():
        book_id = await book_of_partner(db, partner_id)
        (wallet,) = await open_card_wallets(db, book_id, partner_id, 1)
    if stored < rows:
        await pool.execute(ADD, partner_id, book_id, wallet.id, stored, rows, timeout=1800)
        await pool.execute("VACUUM (ANALYZE) payment", timeout=600)
    return partner_id, token


def cursor(created_on: Any, id: Any) -> str:
    """Where a payment stands among the newest."""
    return listing.orders[PaymentSort.NEWEST].cursor(created_on, id)


@dataclass(frozen=True)
class Payments(Floor):
    """A page of whole payments and its count, with two queries, written by orjson."""

    partner_id: int = 0
    public_url: str = ""

    name: ClassVar[str] = "Starlette + asyncpg + orjson, by hand"

    async def bring(self, means: Means, request: Request) -> bytes:
        """The page."""
        rows = await means.pool.fetch(WHOLE, self.partner_id)
        count = await means.pool.fetchval(COUNT, self.partner_id)
        page: Mapping[str, Any] = {
            "count": count,
            "previous": None,
            "has_previous": False,
            "has_next": count > LENGTH,
            "current_page": 1,
            "page_range": list(range(1, -(-count // LENGTH) + 1)),
            "results": [_payment(row, self.public_url) for row in rows],
        }
        return orjson.dumps(page)


def _payment(r: Any, public_url: str) -> dict[str, Any]:
    def number(value: Any) -> orjson.Fragment:
        return orjson.Fragment(f"{value:.2f}")

    receipt = f"{public_url}/documents/receipts/{r['document_token']}.pdf"
    return {
        "id": str(r["id"]),
        "status": r["status"],
        "currency": r["currency"],
        "payment_receipt_pdf_file": receipt if r["status"] == "ok" else "",
        "customer": {
            "first_name": r["customer_first_name"],
            "last_name": r["customer_last_name"],
            "email": r["customer_email"],
        },
        "origin": r["origin"],
        "payout_request_id": r["payout_id"],
        "payout_request_status": r["payout_status"] or "",
        "payout_request_creation_date": r["payout_created_on"] and moment(r["payout_created_on"]),
        "payout_request_validation_date": r["payout_validated_on"] and moment(r["payout_validated_on"]),
        "partner": r["partner_id"],
        "partner_uuid": str(r["partner_uuid"]),
        "created_on": moment(r["created_on"]),
        "modified_on": moment(r["modified_on"]),
        "amount": str(r["payment_amount"]),
        "discount": str(r["discount_amount"]),
        "commission": number(r["commission_amount"]),
        "net_amount": number(r["net_amount"]),
        "refunded_amount": number(r["refunded_amount"]),
        "type": r["type"],
        "product": r["product"],
        "extra_source_amount": number(r["extra_amount"]),
        "extra_source_wallet": r["extra_wallet_id"],
        "extra_source_wallet_uuid": None if r["wallet_uuid"] is None else str(r["wallet_uuid"]),
        "payin_result_code": r["payin_result_code"],
        "payin_result_message": r["payin_result_message"],
        "payment_request_id": r["payment_request_id"],
    }


def rest_floor(installation: Installation, partner_id: int, answer: bytes) -> Payments:
    """The first page of whole payments."""
    return Payments(answer, partner_id=partner_id, public_url=installation.settings.public_url)


def graphql_floor(partner_id: int, answer: bytes) -> Rows:
    """The page of some values of each."""
    extensions = orjson.loads(answer)["extensions"]
    return Rows(answer, statement=STATEMENT, arguments=(partner_id,), write=partial(render_by_hand, extensions))


def render_by_hand(extensions: Any, rows: Sequence[Any]) -> bytes:
    """What one would write by hand."""
    edges = [
        {
            "node": {
                "id": r["id"],
                "status": STATUSES[r["status"]],
                "refundStatus": _refund_status(r),
                "product": r["product"],
                "origin": r["origin"],
                "description": r["description"],
                "createdOn": moment(r["created_on"]),
                "modifiedOn": moment(r["modified_on"]),
                "amount": {"amount": r["payment_amount"], "currency": r["currency"]},
                "net": {"amount": r["net_amount"]},
                "refunded": {"amount": r["refunded_amount"]},
                "customer": {
                    "firstName": r["customer_first_name"],
                    "lastName": r["customer_last_name"],
                    "email": r["customer_email"],
                },
            }
        }
        for r in rows[:LENGTH]
    ]
    last = rows[LENGTH - 1]
    page = {"hasNextPage": len(rows) > LENGTH, "endCursor": cursor(last["created_on"], last["id"])}
    return orjson.dumps(
        {"data": {"payments": {"edges": edges, "pageInfo": page}}, "extensions": extensions}, default=str
    )


def _refund_status(r: Any) -> str:
    if not r["refunded_amount"]:
        return "NONE"
    return "PARTIAL" if r["refunded_amount"] < r["payment_amount"] else "FULL"
