"""What a partner keeps about a person, and what was erased of it."""

import datetime as dt
from typing import Any
from uuid import UUID

import strawberry
from strawberry.scalars import JSON

from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.money import Money
from schema.core.text import Text
from schema.mail import MailKind, MailState
from schema.order.order import OrderStatus
from schema.order.refund_request import RefundRequestKind, RefundRequestState
from schema.payment.payment import PaymentStatus
from schema.payment.request import PaymentRequestStatus


@graphql_enum
class PersonalGiftKind(DescribedEnum):
    """What a person has given or received."""

    VOUCHER = "voucher", "A voucher of the partner."
    GIFT_CARD = "gift_card", "A gift card of the partner."
    NETWORK_GIFT_CARD = "network_gift_card", "A gift card of the network."
    NETWORK_VOUCHER = "network_voucher", "A voucher of the network."


@graphql_enum
class PersonalGiftRole(DescribedEnum):
    """What a person has to do with a gift card or voucher."""

    GIFTER = "gifter", "The person has bought it, or gives it."
    GIFTEE = "giftee", "The person receives it."


@strawberry.type(description="A person as it was named in one place.")
class PersonalContact:
    first_name: str = strawberry.field(description="First name.")
    last_name: str = strawberry.field(description="Last name.")
    email: str = strawberry.field(description="E-mail address.")
    phone: str = strawberry.field(default="", description="Telephone number; empty if not given.")


@strawberry.type(description="A postal address that is kept about a person.")
class PersonalAddress:
    recipient_name: str = strawberry.field(description="The recipient of the parcel; empty if it is the buyer.")
    line_1: str = strawberry.field(description="Street and number.")
    line_2: str = strawberry.field(description="Building, floor or company; empty if none.")
    postal_code: str = strawberry.field(description="Postal code.")
    city: str = strawberry.field(description="Town.")
    country: str = strawberry.field(description="ISO 3166 alpha-2 code.")


@strawberry.type(description="The company for which a person has bought.")
class PersonalBilling:
    company_name: str = strawberry.field(description="Name of the company.")
    vat_id: str = strawberry.field(description="Its VAT number; empty if not given.")
    address: PersonalAddress | None = strawberry.field(
        description="Its address; null in a checkout if it is the one that the order was to be sent to."
    )


@strawberry.type(description="The person among the customers of the partner.")
class PersonalCustomer:
    id: int = strawberry.field(description="The customer's id.")
    created_on: dt.datetime = strawberry.field(description="When it was created.")
    contact: PersonalContact = strawberry.field(description="Name and e-mail address.")


@strawberry.type(description="A line of an order of the person.")
class PersonalOrderLine:
    name: Text = strawberry.field(description="The name at the time of the order.")
    quantity: int = strawberry.field(description="The quantity.")
    total: Money = strawberry.field(description="The price, before discounts.")


@strawberry.type(description="An order of the person.")
class PersonalOrder:
    id: int = strawberry.field(description="The order's id.")
    number: int = strawberry.field(description="The order's number.")
    status: OrderStatus = strawberry.field(description="Its status.")
    created_on: dt.datetime = strawberry.field(description="When it was created.")
    language: str = strawberry.field(description="The buyer's language.")
    buyer: PersonalContact = strawberry.field(description="The buyer.")
    address: PersonalAddress | None = strawberry.field(description="Where it was sent; null if it was not.")
    billing: PersonalBilling | None = strawberry.field(description="The company for which it was bought; null if none.")
    message: str = strawberry.field(description="The buyer's message; empty if none.")
    tracking_number: str = strawberry.field(description="The carrier's number of the parcel; empty if none.")
    lines: list[PersonalOrderLine] = strawberry.field(description="What was ordered.")
    total: Money = strawberry.field(description="The total.")


@strawberry.type(description="For whom something is bought, as the buyer has written it.")
class PersonalGiftWords:
    giftee: PersonalContact = strawberry.field(description="The giftee.")
    address: PersonalAddress | None = strawberry.field(description="Where it is posted to; null if it is not.")
    from_gifter: str = strawberry.field(description='The name printed after "from"; empty for the buyer\'s name.')
    message: str = strawberry.field(description="The message; empty if none.")


@strawberry.type(description="A checkout that reached its payment, whether it became an order or not.")
class PersonalCheckout:
    id: UUID = strawberry.field(description="Its id.")
    created_on: dt.datetime = strawberry.field(description="When the payment began.")
    state: str = strawberry.field(
        description="`starting`, `open`, `abandoned`, `completed`, `failed`, `refunding`, `refunded`."
    )
    buyer: PersonalContact | None = strawberry.field(description="The buyer; null if that is somebody else.")
    address: PersonalAddress | None = strawberry.field(
        description="The buyer's address; null if not given, or not theirs."
    )
    billing: PersonalBilling | None = strawberry.field(
        description="The company for which it was to be bought; null if none, or if the buyer is somebody else."
    )
    message: str = strawberry.field(description="The buyer's message; empty if none, or not theirs.")
    gifts: list[PersonalGiftWords] = strawberry.field(
        description="The presents in it: all of them for the buyer, otherwise those for the person."
    )


@strawberry.type(description="A payment of the person.")
class PersonalPayment:
    id: UUID = strawberry.field(description="The payment's id.")
    status: PaymentStatus = strawberry.field(description="Its status.")
    created_on: dt.datetime = strawberry.field(description="When it was created.")
    amount: Money = strawberry.field(description="The amount.")
    description: str = strawberry.field(description="What it is for.")
    customer: PersonalContact = strawberry.field(description="Who pays.")


@strawberry.type(description="A payment request to the person.")
class PersonalPaymentRequest:
    id: int = strawberry.field(description="The request's id.")
    status: PaymentRequestStatus = strawberry.field(description="Its status.")
    created_on: dt.datetime = strawberry.field(description="When it was created.")
    amount: Money = strawberry.field(description="The amount.")
    reference: str = strawberry.field(description="The reference.")
    description: str = strawberry.field(description="What it is for.")
    customer: PersonalContact = strawberry.field(description="Who is to pay.")


@strawberry.type(description="A withdrawal, or a request for a refund, of the person.")
class PersonalRefundRequest:
    id: int = strawberry.field(description="The request's id.")
    kind: RefundRequestKind = strawberry.field(description="What was asked for.")
    state: RefundRequestState = strawberry.field(description="Its state.")
    requested_on: dt.datetime = strawberry.field(description="When it was sent.")
    name: str = strawberry.field(description="The name under which it was sent.")
    email: str = strawberry.field(description="The e-mail address to which it is answered.")
    reason: str = strawberry.field(description="Why; empty if not given.")
    answer: str = strawberry.field(description="The seller's answer; empty if none.")


@strawberry.type(description="A voucher or gift card that the person has given or received.")
class PersonalGift:
    kind: PersonalGiftKind = strawberry.field(description="What it is.")
    id: int = strawberry.field(description="Its id.")
    roles: list[PersonalGiftRole] = strawberry.field(description="What the person has to do with it.")
    created_on: dt.datetime = strawberry.field(description="When it was issued.")
    expires_on: dt.datetime | None = strawberry.field(description="When it expires; null if never.")
    value: Money = strawberry.field(description="Its value.")
    gifter: PersonalContact | None = strawberry.field(description="Who gives it; null if that is somebody else.")
    gifter_address: PersonalAddress | None = strawberry.field(
        description="The address of who gives it; null if not kept, or somebody else's."
    )
    giftee: PersonalContact = strawberry.field(description="Who receives it.")
    giftee_address: str = strawberry.field(description="Where it was posted to; empty if it was not.")
    from_gifter: str = strawberry.field(description='The name printed after "from"; empty if none.')
    to_giftee: str = strawberry.field(description='The name printed after "for"; empty if none.')
    message: str = strawberry.field(description="The gifter's message; empty if none.")
    notes: list[str] = strawberry.field(description="What staff have noted about its reservations.")


@strawberry.type(description="A usage of a gift card or voucher of the network that the person has given or received.")
class PersonalNetworkUsage:
    kind: PersonalGiftKind = strawberry.field(description="What was used.")
    gift_id: int = strawberry.field(description="The id of the gift card or voucher.")
    used_on: dt.datetime = strawberry.field(description="When it was used.")
    partner_id: int = strawberry.field(description="The id of the partner at which it was used.")
    amount: Money = strawberry.field(description="How much was used.")
    comment: str = strawberry.field(description="What staff have noted; empty if nothing.")


@strawberry.type(description="A mail to the person.")
class PersonalMail:
    id: int = strawberry.field(description="The message's id.")
    kind: MailKind = strawberry.field(description="The kind of message.")
    state: MailState = strawberry.field(description="The delivery state.")
    created_on: dt.datetime = strawberry.field(description="When it was created.")
    sent_on: dt.datetime | None = strawberry.field(description="When it was sent; null if not yet.")
    recipient: str = strawberry.field(description="The address it is sent to.")
    subject: str = strawberry.field(description="Its subject; empty until the first attempt to send it.")
    content: dict[str, Any] = strawberry.field(graphql_type=JSON, description="The data that it shows.")


@strawberry.type(description="An event, or an entry of the audit log, that contains data of the person.")
class PersonalRecord:
    id: str = strawberry.field(description="The event's key, or the entry's id.")
    name: str = strawberry.field(description="The event's type, or the operation of the entry.")
    occurred_on: dt.datetime = strawberry.field(description="When it happened.")
    data: dict[str, Any] = strawberry.field(
        graphql_type=JSON, description="What it says about the person; everything else is `***`."
    )


@strawberry.type(description="All that a partner keeps about a person.")
class PersonalData:
    partner_id: int = strawberry.field(description="The partner that keeps it.")
    email: str = strawberry.field(description="The e-mail address by which it was found, in lower case.")
    exported_on: dt.datetime = strawberry.field(description="When it was read.")
    file_url: str = strawberry.field(
        default="",
        description="The address of the same as a JSON file, for the person. It works for ten minutes, for whoever has it.",
    )
    customers: list[PersonalCustomer] = strawberry.field(description="The person among the customers.")
    orders: list[PersonalOrder] = strawberry.field(description="The orders of the person.")
    checkouts: list[PersonalCheckout] = strawberry.field(description="Checkouts that reached their payment.")
    payments: list[PersonalPayment] = strawberry.field(description="The payments of the person.")
    payment_requests: list[PersonalPaymentRequest] = strawberry.field(description="The payment requests to the person.")
    refund_requests: list[PersonalRefundRequest] = strawberry.field(
        description="The person's withdrawals and requests for refunds."
    )
    gifts: list[PersonalGift] = strawberry.field(description="Vouchers and gift cards given or received.")
    network_usages: list[PersonalNetworkUsage] = strawberry.field(
        description="Usages of the gift cards and vouchers of the network among them."
    )
    mails: list[PersonalMail] = strawberry.field(description="The mail to the person as a buyer or giftee.")
    events: list[PersonalRecord] = strawberry.field(description="Events that contain the person's data.")
    audit_entries: list[PersonalRecord] = strawberry.field(
        description="Entries of the audit log that contain the person's data."
    )


@strawberry.type(description="What was erased of the data of a person: how many rows of each kind.")
class PersonalDataErasure:
    partner_id: int = strawberry.field(description="The partner that kept it.")
    erased_on: dt.datetime = strawberry.field(description="When it was erased.")
    customers: int = strawberry.field(description="Customers.")
    orders: int = strawberry.field(description="Orders; their amounts, lines and dates stay.")
    checkouts: int = strawberry.field(description="Checkouts that reached their payment.")
    payments: int = strawberry.field(description="Payments; their amounts and dates stay.")
    payment_requests: int = strawberry.field(description="Payment requests.")
    refund_requests: int = strawberry.field(description="Withdrawals and requests for refunds.")
    gifts: int = strawberry.field(description="Vouchers and gift cards; they can still be used.")
    mails: int = strawberry.field(description="Mails: those to the person are deleted.")
    events: int = strawberry.field(description="Events.")
    audit_entries: int = strawberry.field(description="Entries of the audit log.")
    stored_responses: int = strawberry.field(
        description="Stored responses to requests with an `Idempotency-Key`, and answers of webhook endpoints."
    )
