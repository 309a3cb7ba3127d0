"""The page about one sale tells what the program posts for it."""

import re
from decimal import Decimal

from sqlalchemy import text

from resolvers.payment.page.process import sync_payin
from resolvers.payment.refunds.refunds import refund_payment
from schema.payment.input import RefundPayment
from tests.documents import ROOT
from tests.fixtures.payment.api_payment import (
    begun,
    books_balance,
    created,
    fee_rule,
    paid_at_provider,
    reread,
    wallet_uuid,
)
from tests.fixtures.payment.dispute import DISPUTABLE_CARD, OpenedDispute
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop

PAGE = (ROOT / "docs" / "operating" / "money.md").read_text()
POSTED = text("""
    SELECT j.id, j.kind, a.role, e.amount FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id
    JOIN ledger_account a ON a.id = e.account_id ORDER BY j.id, e.line
""")


async def journals(shop: Shop) -> list[str]:
    """The journals, as the page writes them."""
    rows, lines = await shop.services.db.rows(POSTED), dict[int, tuple[str, list[str], list[str]]]()
    for row in rows:
        _, debits, credits = lines.setdefault(row.id, (row.kind, [], []))
        (debits if row.amount > 0 else credits).append(f"{row.role} {abs(row.amount) / Decimal(100):.2f}")
    return [f"| `{kind}` | {', '.join(debits)} | {', '.join(credits)} |" for kind, debits, credits in lines.values()]


async def test_the_page_tells_what_is_posted(shop: Shop) -> None:
    await fee_rule(shop)
    card = await shop.gift_card("50.00")
    wallet = await wallet_uuid(shop, card)
    payment = await created(shop, "90.00", discount="10.00", extra_source_wallet_uuid=wallet, extra_source_amount="20")
    payin = await begun(shop, payment)
    await paid_at_provider(shop, payin, DISPUTABLE_CARD)
    await sync_payin(shop.services, payin.id)
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("45.00")))
    await send_refunds(shop.services)
    answer = await shop.control("POST", f"/payins/{payin.provider_id}/dispute", {"amount": 3500})
    assert answer.status_code == 200, answer.text
    dispute = OpenedDispute(shop, answer.json()["Id"])
    await dispute.follow()
    await dispute.contest("35.00")
    await dispute.decide("lose")
    await dispute.follow()
    await dispute.check()
    assert re.findall(r"^\| `\w+` \|.*\|$", PAGE, re.MULTILINE) == await journals(shop)
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("45.00")
    await books_balance(shop)
