"""New payments by bank card: where their money goes, and what of it is commission."""

import datetime as dt
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.errors import MarketplacePaymentsNotActive, PaymentsNotActive
from store.customer import Person, customer_for
from store.ledger.books import book_of_partner
from store.ledger.wallets import WalletRow, marketplace_wallet
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.fees import Commission, commission_of
from store.payment.payments import PaymentRow
from store.payment.recording import card_wallet_of


async def wallet_for(db: AsyncSession, partner: PartnerRow, *, is_for_marketplace: bool = False) -> WalletRow:
    """The wallet that a payment by bank card goes to: the partner's; of a refill, the marketplace's own.

    Raises MarketplacePaymentsNotActive if the marketplace has none, and PaymentsNotActive if the partner may not receive
    payments yet.
    """
    if is_for_marketplace:
        own = await marketplace_wallet(db, await book_of_partner(db, partner.id))
        if own is None:
            raise MarketplacePaymentsNotActive
        return own
    wallet = await card_wallet_of(db, partner.id) if partner.payments_active else None
    if wallet is None:
        raise PaymentsNotActive
    return wallet


async def open_payment(
    db: AsyncSession, partner: PartnerRow, customer: Person, *, card_amount: Decimal, now: dt.datetime, **columns: Any
) -> PaymentRow:
    """Store a new payment of a partner, without its sources. `columns` are the other ones, with `payment_amount`.

    Raises what `wallet_for` raises if a part is paid by bank card.
    """
    for_marketplace, amount = columns.get("is_for_marketplace", False), columns["payment_amount"]
    wallet = (
        await wallet_for(db, partner, is_for_marketplace=for_marketplace)
        if card_amount
        else await card_wallet_of(db, partner.id)
    )
    fee, product, origin = Commission(), columns.get("product", ""), columns.get("origin", "")
    if not for_marketplace:
        fee = await commission_of(db, partner.id, {product: card_amount}, origin)
    currency = select(col(MarketplaceRow.currency)).where(col(MarketplaceRow.id) == partner.marketplace_id)
    payment = PaymentRow(
        partner_id=partner.id,
        book_id=await book_of_partner(db, partner.id) if wallet is None else wallet.book_id,
        wallet_id=wallet.id if wallet else None,
        customer_id=await customer_for(db, partner.id, customer.first_name, customer.last_name, customer.email),
        customer_first_name=customer.first_name,
        customer_last_name=customer.last_name,
        customer_email=customer.email,
        currency=(await db.exec(currency)).one(),
        card_amount=card_amount,
        extra_amount=amount - card_amount,
        commission_amount=fee.amount,
        commission_vat_amount=fee.vat,
        net_amount=amount - fee.amount,
        commission_vat_rate=fee.vat_rate,
        is_reverse_charge=fee.is_reverse_charge,
        fee_rule_id=fee.rule_id,
        created_on=now,
        **columns,
    )
    db.add(payment)
    await db.flush()
    return payment
