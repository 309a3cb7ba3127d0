"""Transfers between wallets."""

from rest_compat.http.parameters import Ordering, between, exactly, since, until
from rest_compat.resources.payment import PAYMENT_ID
from rest_compat.shapes.keys import number, or_null, same
from rest_compat.shapes.shape import ResourceShape
from schema.payment.transfer import Transfer

TRANSFER = ResourceShape(
    "Transfer",
    Transfer,
    {
        "created_on": "created_on",
        "amount": number("amount.amount"),
        "currency": "amount.currency",
        **same("status", "type"),
        "payment_uuid": or_null("payment.id"),
        "debited_wallet_uuid": or_null("debited_wallet.visible_uuid"),
        "credited_wallet_uuid": or_null("credited_wallet.visible_uuid"),
    },
    example={
        "created_on": "2026-05-02T09:31:07.118240Z",
        "amount": 25.0,
        "currency": "EUR",
        "status": "ok",
        "type": "payment",
        "payment_uuid": PAYMENT_ID,
        "debited_wallet_uuid": "1b9c2f4e-58f5-4cbb-a7b0-2f6f3e5a0a0d",
        "credited_wallet_uuid": "6d1fd2a4-4f0d-4f6e-9d0a-5f6c1d0f5b7e",
    },
)

QUERY = (
    exactly("status", "status", "Transfers with this status."),
    since("created_on__gte", "created_from", "Created at this time or later, such as 2030-12-31 12:00:00."),
    until("created_on__lte", "created_until", "Created at this time or earlier, such as 2030-12-31 12:00:00."),
    between("created_on__range", "created_from", "created_until", "Created within this period."),
)
ORDERING = Ordering({"created_on": "created_on", "status": "status", "amount": "transfer_amount"}, several=True)
