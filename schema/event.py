"""Events that shops receive. Each is written in the transaction that causes it."""

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any

import strawberry
from sqlalchemy import Enum
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.columns import DescribedEnum, datetime_column, graphql_enum
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel
from schema.event_gift_cards import GIFT_CARD_EVENT_EXAMPLES, GIFT_CARD_EVENT_KEYS
from schema.event_invoices import INVOICE_EVENT_EXAMPLES, INVOICE_EVENT_KEYS
from schema.event_network_vouchers import NETWORK_VOUCHER_EVENT_EXAMPLES, NETWORK_VOUCHER_EVENT_KEYS
from schema.event_offers import OFFER_EVENT_EXAMPLES, OFFER_EVENT_KEYS
from schema.event_orders import ORDER_EVENT_EXAMPLES, ORDER_EVENT_KEYS
from schema.event_payments import PAYMENT_EVENT_EXAMPLES, PAYMENT_EVENT_KEYS

LONGEST_TYPE = 60


@graphql_enum
class EventType(DescribedEnum):
    """The type of an event. New types are added over time; receivers must ignore unknown ones."""

    CART_COMPLETED = "cart.completed", "A cart became an order."
    CART_EXPIRED = "cart.expired", "A cart was deleted because it was not written for two hours."
    DISPUTE_CANCELLED = "dispute.cancelled", "A dispute of a payment was withdrawn."
    DISPUTE_LOST = "dispute.lost", "A dispute of a payment was lost."
    DISPUTE_OPENED = "dispute.opened", "The bank of a buyer disputes a payment."
    DISPUTE_UPDATED = "dispute.updated", "A dispute that is open moved from one state to another."
    DISPUTE_WON = "dispute.won", "A dispute of a payment was won."
    GIFT_CARD_ACTIVATED = "gift_card.activated", "A draft gift card was activated and can be spent."
    GIFT_CARD_CANCELLED = "gift_card.cancelled", "A gift card was cancelled."
    GIFT_CARD_CAPTURED = "gift_card.captured", "A hold that was created over the API was captured, in full or in part."
    GIFT_CARD_EXPIRED = "gift_card.expired", "A gift card expired."
    GIFT_CARD_EXTENDED = "gift_card.extended", "A gift card's validity was extended."
    GIFT_CARD_HELD = "gift_card.held", "An amount of a gift card was held over the API."
    GIFT_CARD_ISSUED = "gift_card.issued", "A gift card was issued."
    GIFT_CARD_RELEASED = (
        "gift_card.released",
        "A hold that was created over the API was released; its amount is back on the card.",
    )
    GIFT_CARD_REVERSED = "gift_card.reversed", "A captured hold was reversed within a day."
    INVOICE_ISSUED = "invoice.issued", "An invoice or credit note was issued."
    NETWORK_GIFT_CARD_ACTIVATED = "network_gift_card.activated", "A draft network gift card was paid and can be used."
    NETWORK_GIFT_CARD_CANCELLED = "network_gift_card.cancelled", "A network gift card was cancelled."
    NETWORK_GIFT_CARD_EXPIRED = "network_gift_card.expired", "A network gift card expired."
    NETWORK_GIFT_CARD_EXTENDED = "network_gift_card.extended", "A network gift card's validity was extended."
    NETWORK_GIFT_CARD_ISSUED = "network_gift_card.issued", "A network gift card was issued."
    NETWORK_GIFT_CARD_USAGE_CANCELLED = (
        "network_gift_card.usage_cancelled",
        "A usage of a network gift card was cancelled; its value is back on the card.",
    )
    NETWORK_GIFT_CARD_USAGE_RETURNED = (
        "network_gift_card.usage_returned",
        "A refund gave back to a network gift card what it had paid, in full or in part.",
    )
    NETWORK_GIFT_CARD_USED = "network_gift_card.used", "A network gift card was used at a partner."
    NETWORK_VOUCHER_ACTIVATED = "network_voucher.activated", "A draft network voucher was paid and can be used."
    NETWORK_VOUCHER_CANCELLED = "network_voucher.cancelled", "A network voucher was cancelled."
    NETWORK_VOUCHER_EXPIRED = "network_voucher.expired", "A network voucher expired."
    NETWORK_VOUCHER_EXTENDED = "network_voucher.extended", "A network voucher's validity was extended."
    NETWORK_VOUCHER_ISSUED = "network_voucher.issued", "A network voucher was issued."
    NETWORK_VOUCHER_USAGE_CANCELLED = "network_voucher.usage_cancelled", "A usage of a network voucher was cancelled."
    NETWORK_VOUCHER_USED = "network_voucher.used", "A network voucher was used at a partner."
    OFFER_ACCEPTED = "offer.accepted", "A marketplace accepted a partner's offer for a box."
    OFFER_REJECTED = "offer.rejected", "A marketplace rejected a partner's offer for a box."
    OFFER_SUBMITTED = "offer.submitted", "A partner's offer for a box was submitted to the marketplace."
    ORDER_CREATED = "order.created", "An order was created."
    ORDER_DETAILS_CORRECTED = (
        "order.details_corrected",
        "Staff corrected the buyer of an order, or to whom and where it is sent.",
    )
    ORDER_FULFILMENT_CHANGED = (
        "order.fulfilment_changed",
        "An order moved on: ready to collect, collected, sent, delivered, cancelled; or its tracking was corrected.",
    )
    ORDER_PAID = "order.paid", "An order was paid."
    PARTNER_KYC_CHANGED = (
        "partner.kyc_changed",
        "The payment provider validated or refused a document, an identity check or the KYC level of a partner.",
    )
    PARTNER_PAYMENTS_ACTIVATED = "partner.payments_activated", "A partner can receive payments."
    PAYMENT_CANCELLED = "payment.cancelled", "A payment was not paid in time, or was cancelled."
    PAYMENT_FAILED = "payment.failed", "A try to pay a payment failed; the customer may try again."
    PAYMENT_REFUNDED = "payment.refunded", "A payment is refunded in full; all of its money has gone back."
    PAYMENT_REQUEST_CANCELLED = "payment_request.cancelled", "A payment request was cancelled."
    PAYMENT_REQUEST_CREATED = "payment_request.created", "A payment request was created."
    PAYMENT_REQUEST_EXPIRED = "payment_request.expired", "A payment request was not paid in time."
    PAYMENT_REQUEST_PAID = "payment_request.paid", "A payment request was paid."
    PAYMENT_SUCCEEDED = "payment.succeeded", "A payment was paid, in the checkout or on its page."
    PAYOUT_ADJUSTMENT_BOOKED = "payout_adjustment.booked", "An adjustment of what a partner has earned was booked."
    PAYOUT_ADJUSTMENT_REJECTED = "payout_adjustment.rejected", "An adjustment was rejected; nothing was booked."
    PAYOUT_ADJUSTMENT_REQUESTED = (
        "payout_adjustment.requested",
        "An adjustment waits for the approval of a second user.",
    )
    PAYOUT_REQUEST_CANCELLED = (
        "payout_request.cancelled",
        "A payout request was cancelled; its content goes into the next one.",
    )
    PAYOUT_REQUEST_CREATED = (
        "payout_request.created",
        "What a partner has earned in a period was gathered to be paid out.",
    )
    PAYOUT_REQUEST_FAILED = "payout_request.failed", "A payout failed, or the bank sent it back."
    PAYOUT_REQUEST_PAID = "payout_request.paid", "A payout request was paid out."
    PAYOUT_REQUEST_VALIDATED = "payout_request.validated", "A payout request was validated and will be paid out."
    PAYOUT_REQUEST_WAITING = (
        "payout_request.waiting",
        "A payout waits, because the marketplace's wallet does not hold what the partner has earned in the network.",
    )
    REFUND_CREATED = "refund.created", "A refund was accepted; its money is on its way."
    REFUND_FAILED = "refund.failed", "The payment provider refused a refund for good."
    REFUND_NEEDS_ACTION = "refund.needs_action", "A refund could not be made for days; a person has to see to it."
    REFUND_REQUEST_APPROVED = "refund_request.approved", "What a buyer has asked for is refunded."
    REFUND_REQUEST_CANCELLED = "refund_request.cancelled", "A buyer has taken a request back."
    REFUND_REQUEST_CREATED = (
        "refund_request.created",
        "A buyer withdraws from the contract, or asks for a refund.",
    )
    REFUND_REQUEST_DECLINED = "refund_request.declined", "What a buyer has asked for is declined."
    REFUND_SUCCEEDED = "refund.succeeded", "All of a refund's money has gone back."
    VOUCHER_EXTENDED = "voucher.extended", "A voucher's validity was extended."
    VOUCHER_ISSUED = "voucher.issued", "A voucher was issued."
    VOUCHER_STATE_CHANGED = "voucher.state_changed", "A voucher moved from one state to another."
    WEBHOOK_TEST = "webhook.test", "A test of a webhook endpoint. It is never stored."


_VOUCHER_KEYS = {"id": "The voucher's id.", "code": "The code printed on it."}
EVENT_DATA_KEYS: Mapping[EventType, Mapping[str, str]] = {
    EventType.CART_COMPLETED: {
        "id": "The cart's id.",
        "last_modified": "The version of the cart that was bought: its `last_modified` in milliseconds, as in REST.",
        "return_url": "Where the customer is redirected afterwards; null if nowhere.",
        "order_id": "The id of the order that was created from it.",
        "order_uuid": "The order's uuid.",
        "order_number": "The order's number.",
    },
    EventType.CART_EXPIRED: {
        "id": "The cart's id.",
        "last_modified": "When it was last written, in milliseconds, as in REST.",
        "expired_on": "When it expired: two hours later.",
        "return_url": "Where the customer would have been redirected; null if nowhere, or no longer known.",
        "items": "Its lines, each with `product_id`, `variant_id`, `quantity`; null if no longer known.",
    },
    **{EventType(type): keys for type, keys in GIFT_CARD_EVENT_KEYS.items()},
    **{EventType(type): keys for type, keys in INVOICE_EVENT_KEYS.items()},
    **{EventType(type): keys for type, keys in NETWORK_VOUCHER_EVENT_KEYS.items()},
    **{EventType(type): keys for type, keys in OFFER_EVENT_KEYS.items()},
    EventType.ORDER_CREATED: {
        "id": "The order's id.",
        "uuid": "The order's uuid.",
        "number": "The order's number.",
        "kind": "What was ordered: `products`, `vouchers`, `gift_cards`, `mixed` (vouchers and gift cards) or `network`.",
        "created_on": "When it was created.",
        "language": "The buyer's language.",
        "cart_id": "The cart it was created from; for vouchers and gift cards the basket, which is not a cart "
        "of the API.",
        "return_url": "Where the customer is redirected afterwards; null if nowhere.",
        "message": "The buyer's message; empty if none.",
        "buyer": "The buyer: `first_name`, `last_name`, `email`, `phone`.",
        "delivery": "The delivery: `kind`, `name`, `recipient_name`, `address` (null unless it is sent to the buyer).",
        "products": "The lines, each with `product_id`, `variant_id`, `voucher_id`, `gift_card_id`, "
        "`network_gift_card_id`, `network_voucher_id` (null unless the line is of that kind), `name`, `variant`, `choices`, "
        "`quantity`, `unit_price`, `total`, `vat_rate`.",
        "products_total": "The total of the products, before discounts.",
        "discount_total": "The total that coupons deduct.",
        "delivery_total": "The price of delivery.",
        "total": "The total to pay.",
    },
    **{EventType(type): keys for type, keys in ORDER_EVENT_KEYS.items()},
    EventType.ORDER_PAID: {
        "id": "The order's id.",
        "uuid": "The order's uuid.",
        "number": "The order's number.",
        "cart_id": "The cart it was created from; for vouchers and gift cards the basket, which is not a cart "
        "of the API.",
        "total": "The total that was paid.",
        "gift_card_total": "The part that was paid with gift cards.",
        "card_total": "The part that was paid by bank card.",
    },
    EventType.PARTNER_KYC_CHANGED: {
        "id": "The partner's id.",
        "uuid": "The partner's uuid.",
        "status": "`ok`: the provider has validated the partner; `error`: it has not, or not yet.",
        "detail": "The status in a sentence, with what to do.",
        "changed": "What changed, each with `kind` (`level`, `document`, `identity_check`, `renewal`, `owner`), `id` "
        "(null except for a document and an identity check), `document_type` (null except for a document), `status`, "
        "`refused_reason`; a renewal has `renew_by` too, the last day for it, with the status `due` or, if it is more "
        "than 90 days away, `ok`; an owner has `person`, the name.",
        "errors": "What is refused or missing now, each with `kind`, `id` (null if missing), `document_type`, "
        "`status`, `refused_reason`.",
    },
    EventType.PARTNER_PAYMENTS_ACTIVATED: {
        "id": "The partner's id.",
        "uuid": "The partner's uuid.",
        "source_id": "The partner's id in the network's own systems.",
        "activation_id": "The id of the completed activation.",
    },
    **{EventType(type): keys for type, keys in PAYMENT_EVENT_KEYS.items()},
    EventType.VOUCHER_EXTENDED: {
        **_VOUCHER_KEYS,
        "old_expires_on": "When it would have expired before.",
        "expires_on": "When it expires now.",
    },
    EventType.VOUCHER_ISSUED: {
        **_VOUCHER_KEYS,
        "voucher_prototype_id": "The id of its prototype.",
        "order_id": "The order it was sold with; null if the partner issued it.",
        "state": "`paid`: it can be used; `draft`: it is not paid yet.",
        "language": "The buyer's language.",
        "reception_mode": "How it reaches its recipient, with the values of coupons: `print_at_home`, `giftee_email` "
        "and so on.",
        "total_price": "Its price with options, before coupons.",
        "purchase_price": "The price that was paid.",
        "created_on": "When it was created.",
        "activated_on": "When it becomes usable; null if not yet.",
        "expires_on": "When it expires; null if this is set on payment.",
    },
    EventType.VOUCHER_STATE_CHANGED: {
        **_VOUCHER_KEYS,
        "old_state": "The previous state, as named in REST.",
        "state": "The new state.",
        "activated_on": "When it became usable; null if never yet.",
        "used_on": "When it was used; null if it is not used.",
        "expires_on": "When it expires; null if never, or not set yet.",
    },
    EventType.WEBHOOK_TEST: {"message": "A greeting."},
}
"""The keys of an event's `data`: key -> its description. Money is `{"amount": "12.50", "currency": "EUR"}`, a time
is ISO 8601 in UTC, a translated text is an object keyed by language, an id is the one in REST and GraphQL.
"""


_TOTALS = {
    "products_total": {"amount": "42.00", "currency": "EUR"},
    "discount_total": {"amount": "4.20", "currency": "EUR"},
    "delivery_total": {"amount": "5.00", "currency": "EUR"},
    "total": {"amount": "42.80", "currency": "EUR"},
}
_ORDER = {"id": 1207, "uuid": "7a1c4f0e-5d0b-4c61-9d55-0f6f6d3f0c11", "number": 318}
_CART = "0b0f4b43-9f53-4f5e-8f0a-3d2f5f1f7a90"
_VOUCHER = {"id": 318, "code": "7K4P-QX2M-RT9W-AB3V"}
_REFUSED_DOCUMENT = {
    "kind": "document",
    "id": 12,
    "document_type": "IDENTITY_PROOF",
    "status": "REFUSED",
    "refused_reason": "DOCUMENT_UNREADABLE",
}
EVENT_EXAMPLES: Mapping[EventType, Mapping[str, Any]] = {
    EventType.CART_COMPLETED: {
        "id": _CART,
        "last_modified": 1795236332114,
        "return_url": "https://shop.example/thanks",
        "order_id": 1207,
        "order_uuid": "7a1c4f0e-5d0b-4c61-9d55-0f6f6d3f0c11",
        "order_number": 318,
    },
    EventType.CART_EXPIRED: {
        "id": _CART,
        "last_modified": 1795229132114,
        "expired_on": "2026-11-21T04:45:32.114000Z",
        "return_url": None,
        "items": [{"product_id": 12, "variant_id": None, "quantity": 2}],
    },
    **{EventType(type): example for type, example in GIFT_CARD_EVENT_EXAMPLES.items()},
    **{EventType(type): example for type, example in INVOICE_EVENT_EXAMPLES.items()},
    **{EventType(type): example for type, example in NETWORK_VOUCHER_EVENT_EXAMPLES.items()},
    **{EventType(type): example for type, example in OFFER_EVENT_EXAMPLES.items()},
    EventType.ORDER_CREATED: {
        **_ORDER,
        "kind": "products",
        "created_on": "2026-11-21T04:45:32.000000Z",
        "language": "fr",
        "cart_id": _CART,
        "return_url": "https://shop.example/thanks",
        "message": "",
        "buyer": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com", "phone": ""},
        "delivery": {
            "kind": "home_delivery",
            "name": {"en": "By post", "fr": "Par la poste"},
            "recipient_name": "Ada Martin",
            "address": {
                "line_1": "1 rue des Lilas",
                "line_2": "",
                "postal_code": "75011",
                "city": "Paris",
                "country": "FR",
            },
        },
        "products": [
            {
                "product_id": 12,
                "variant_id": None,
                "voucher_id": None,
                "gift_card_id": None,
                "network_gift_card_id": None,
                "network_voucher_id": None,
                "name": {"en": "Candle", "fr": "Bougie"},
                "variant": None,
                "choices": None,
                "quantity": 2,
                "unit_price": {"amount": "21.00", "currency": "EUR"},
                "total": {"amount": "42.00", "currency": "EUR"},
                "vat_rate": "20.00",
            }
        ],
        **_TOTALS,
    },
    **{EventType(type): example for type, example in ORDER_EVENT_EXAMPLES.items()},
    EventType.ORDER_PAID: {
        **_ORDER,
        "cart_id": _CART,
        "total": {"amount": "42.80", "currency": "EUR"},
        "gift_card_total": {"amount": "20.00", "currency": "EUR"},
        "card_total": {"amount": "22.80", "currency": "EUR"},
    },
    EventType.PARTNER_KYC_CHANGED: {
        "id": 41,
        "uuid": "dd783a87-8351-4578-ad2a-16c698e86acb",
        "status": "error",
        "detail": "The payment provider has not validated this partner yet. Refused: IDENTITY_PROOF (DOCUMENT_UNREADABLE). "
        "Hand in what is named, or open an identity verification.",
        "changed": [_REFUSED_DOCUMENT],
        "errors": [_REFUSED_DOCUMENT],
    },
    EventType.PARTNER_PAYMENTS_ACTIVATED: {
        "id": 41,
        "uuid": "dd783a87-8351-4578-ad2a-16c698e86acb",
        "source_id": "41",
        "activation_id": "3c1d9c56-6a55-4f0e-9d0d-0d4f4f7a3b52",
    },
    **{EventType(type): example for type, example in PAYMENT_EVENT_EXAMPLES.items()},
    EventType.VOUCHER_EXTENDED: {
        **_VOUCHER,
        "old_expires_on": "2027-11-21T22:59:59.000000Z",
        "expires_on": "2028-02-21T22:59:59.000000Z",
    },
    EventType.VOUCHER_ISSUED: {
        **_VOUCHER,
        "voucher_prototype_id": 7,
        "order_id": 1207,
        "state": "paid",
        "language": "fr",
        "reception_mode": "giftee_email",
        "total_price": {"amount": "240.00", "currency": "EUR"},
        "purchase_price": {"amount": "216.00", "currency": "EUR"},
        "created_on": "2026-11-21T04:45:32.000000Z",
        "activated_on": "2026-11-21T04:45:32.000000Z",
        "expires_on": "2027-11-21T22:59:59.000000Z",
    },
    EventType.VOUCHER_STATE_CHANGED: {
        **_VOUCHER,
        "old_state": "paid",
        "state": "used",
        "activated_on": "2026-11-21T04:45:32.000000Z",
        "used_on": "2026-12-05T10:12:00.000000Z",
        "expires_on": "2027-11-21T22:59:59.000000Z",
    },
    EventType.WEBHOOK_TEST: {"message": "It works."},
}
"""The `data` of an event of each type, for webhook tests and for the documentation."""


@strawberry.pydantic.type(description="An event, with the data of the moment when it happened.")
class Event(SchemaModel):
    key: Annotated[str, strawberry.field(name="id")] = Field(
        max_length=40, unique=True, description="The event's id, `evt_…`: the `id` in the body of its webhooks."
    )
    type: EventType = Field(
        sa_type=Enum(EventType, native_enum=False, length=LONGEST_TYPE, values_callable=lambda e: [m.value for m in e]),
        description="The event's type.",
    )
    occurred_on: dt.datetime = datetime_column("When it happened.")
    subject: str = Field(
        max_length=80,
        description="The id of the object it is about: a cart, an order, a voucher, a gift card, an offer or a partner.",
    )
    data: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        sa_type=JSONB, description="The event's data; the documentation lists the keys for each type."
    )
    partner = partner_relation("The partner it is about; null if it is about a network as a whole.", nullable=True)
    marketplace = marketplace_relation()
