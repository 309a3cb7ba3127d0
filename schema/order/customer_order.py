"""An order as its buyer sees it over the API, with the token of its page."""

import datetime as dt
from decimal import Decimal

import strawberry

from schema.checkout.checkout import ShopKind
from schema.checkout.codes import CodeKind
from schema.core.money import Money
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.legal.legal_document import LegalDocumentKind
from schema.order.fulfilment import FulfilmentState
from schema.order.order import OrderStatus
from schema.order.page import IssuedState
from schema.order.page_requests import Obstacle
from schema.order.refund_request import RefundRequestKind, RefundRequestState
from schema.payment.payment import RefundState


@strawberry.type(description="A voucher or gift card that an order has issued, as its buyer sees it.")
class CustomerOrderItem:
    state: IssuedState = strawberry.field(description="What can be done with it.")
    code: str | None = strawberry.field(description="The code; null if it was refunded or cancelled.")
    value: Money = strawberry.field(description="Its value.")
    remaining: Money | None = strawberry.field(description="What is left of a gift card; null for vouchers.")
    usages_left: int | None = strawberry.field(
        description="How often a voucher of the network can still be used; null for all others."
    )
    starts_on: dt.datetime | None = strawberry.field(
        description="From when on it can be used; null for a voucher of the partner."
    )
    expires_on: dt.datetime | None = strawberry.field(
        description="The end of the last day on which it can be used; null if it has none."
    )
    used_on: dt.datetime | None = strawberry.field(
        description="When a voucher of the partner was used; null if it was not, and for all others."
    )
    document_url: str | None = strawberry.field(
        description="The address of the document to print (PDF); null if it has none any more."
    )
    calendar_url: str | None = strawberry.field(
        description="The address of a calendar file that reminds of its last day; null if it cannot be used or has none."
    )
    apple_wallet_url: str | None = strawberry.field(
        description="The address of its pass for Apple Wallet; null if none."
    )
    google_wallet_url: str | None = strawberry.field(
        description="The address of its pass for Google Wallet; null if none."
    )
    giftee: str = strawberry.field(description="The name of whom it is for; empty if unknown.")
    reception_mode: ReceptionMode = strawberry.field(description="How it is received.")
    recipient_email: str = strawberry.field(
        description="The e-mail address that it is sent to; empty if it is posted or collected."
    )
    send_on: dt.datetime | None = strawberry.field(
        description="When it will be e-mailed to its recipient; null once it is sent, and if it was not left for later."
    )
    is_sendable: bool = strawberry.field(
        description="Whether it can be sent again, or to another address: `resendGiftByToken`."
    )
    is_waiting: bool = strawberry.field(
        description="Whether it waits for its day, and can be sent now (`sendGiftNowByToken`), on another day or to another "
        "address (`rescheduleGiftByToken`)."
    )


@strawberry.type(description="A line of an order, as its buyer sees it.")
class CustomerOrderLine:
    position: int = strawberry.field(description="Its place in the order, from 0.")
    name: Text = strawberry.field(description="The name at the time of the order.")
    details: list[Text] = strawberry.field(description="The variant and the choices.")
    quantity: int = strawberry.field(description="The quantity.")
    unit_price: Money = strawberry.field(description="The unit price, VAT included.")
    total: Money = strawberry.field(description="quantity × unit price, before discounts.")
    picture_url: str | None = strawberry.field(description="The address of its picture; null if it has none.")
    refunded_quantity: int = strawberry.field(description="How many of it were refunded, or are promised to be.")
    requestable_quantity: int = strawberry.field(
        description="How many of it a withdrawal or a request for a refund can be about now."
    )
    obstacle: Obstacle | None = strawberry.field(
        description="Why nothing of it can be asked for; null if something can be, as far as the line is concerned."
    )
    issued_item: CustomerOrderItem | None = strawberry.field(
        description="The issued voucher or gift card; null for goods."
    )


@strawberry.type(description="How an order is delivered, as its buyer sees it.")
class CustomerOrderDelivery:
    kind: DeliveryKind = strawberry.field(description="The kind of delivery.")
    name: Text = strawberry.field(description="The name of the delivery mode at the time of the order.")
    description: Text = strawberry.field(
        description="The shop's information about it, such as opening hours and delivery times."
    )
    address: list[str] = strawberry.field(
        description="The lines of the address without the country; empty if nothing is sent to the buyer's address."
    )
    country: str | None = strawberry.field(description="ISO 3166 code of the country; null without an address.")


@strawberry.type(description="How far an order is that is handed over or sent, as its buyer sees it.")
class CustomerOrderFulfilment:
    state: FulfilmentState = strawberry.field(description="Its state.")
    reached_on: dt.datetime | None = strawberry.field(
        description="When it has reached this state; null while it is prepared."
    )
    carrier: str | None = strawberry.field(description="Who carries the parcel; null if not given.")
    tracking_number: str | None = strawberry.field(description="The carrier's number of it; null if not given.")
    tracking_url: str | None = strawberry.field(
        description="Where the customer follows the parcel, an https address; null if not given."
    )


@strawberry.type(description="The VAT of one rate, which an order's total includes.")
class CustomerOrderVat:
    rate: Decimal = strawberry.field(description="The rate in percent.")
    net: Money = strawberry.field(description="The amount without VAT.")
    vat: Money = strawberry.field(description="The VAT.")
    gross: Money = strawberry.field(description="The amount with VAT.")


@strawberry.type(
    description="What an order was paid with: products − discount + delivery = total = gift cards + bank card."
)
class CustomerOrderTotals:
    products: Money = strawberry.field(description="The sum of the lines.")
    discount: Money = strawberry.field(description="What coupons took off.")
    delivery: Money = strawberry.field(description="The price of delivery.")
    total: Money = strawberry.field(description="The total, VAT included.")
    gift_cards: Money = strawberry.field(description="What gift cards have paid.")
    by_card: Money = strawberry.field(description="What the bank card has paid.")
    vat: list[CustomerOrderVat] = strawberry.field(description="The VAT that the total includes, by rate.")


@strawberry.type(description="A coupon or gift card that an order was paid with.")
class CustomerOrderCode:
    code: str = strawberry.field(description="The code.")
    kind: CodeKind = strawberry.field(description="What it is.")
    amount: Money = strawberry.field(description="What it has taken off or paid.")


@strawberry.type(description="A refund of an order's payment, as its buyer sees it.")
class CustomerOrderRefund:
    created_on: dt.datetime = strawberry.field(description="When it was accepted.")
    amount: Money = strawberry.field(description="What goes back, without what has failed.")
    state: RefundState = strawberry.field(description="How far it is.")


@strawberry.type(description="A line of an order in a request of its buyer.")
class CustomerRefundRequestLine:
    name: Text = strawberry.field(description="The name of the line.")
    quantity: int = strawberry.field(description="How many of it the request is about.")


@strawberry.type(description="A withdrawal or a request for a refund, as its buyer sees it.")
class CustomerRefundRequest:
    id: int = strawberry.field(description="The request's id.")
    kind: RefundRequestKind = strawberry.field(description="What the buyer asks for.")
    state: RefundRequestState = strawberry.field(description="Its state.")
    requested_on: dt.datetime = strawberry.field(description="When the buyer sent it.")
    answered_on: dt.datetime | None = strawberry.field(
        description="When it was approved, declined or taken back; null before."
    )
    email: str = strawberry.field(description="The e-mail address to which it is confirmed and answered.")
    reason: str = strawberry.field(description="Why, in the words of the buyer; empty if not given.")
    answer: str = strawberry.field(description="The seller's message to the buyer; empty if none.")
    lines: list[CustomerRefundRequestLine] = strawberry.field(description="What it is about.")


@strawberry.type(description="What the buyer of an order can ask for now.")
class CustomerRequestOffer:
    kind: RefundRequestKind = strawberry.field(description="What can be asked for.")
    ends_on: dt.datetime | None = strawberry.field(
        description="The end of the period for a withdrawal; null while it has not begun."
    )


@strawberry.type(description="A version of a legal text that an order was placed under.")
class CustomerOrderDocument:
    kind: LegalDocumentKind = strawberry.field(description="What it is.")
    url: Text = strawberry.field(description="Its address, in each language that has it.")


@strawberry.type(description="The company that has bought, as its invoice names it.")
class CustomerOrderBilling:
    company_name: str = strawberry.field(description="Name of the company.")
    vat_id: str = strawberry.field(description="Its VAT number; empty if not given.")
    address: list[str] = strawberry.field(description="The lines of its address, without the country.")
    country: str = strawberry.field(description="ISO 3166 code of the country.")


@strawberry.type(description="An order as its buyer sees it: what the page of the order shows.")
class CustomerOrder:
    number: int = strawberry.field(description="The order's number.")
    status: OrderStatus = strawberry.field(description="The state of its payment.")
    kind: ShopKind = strawberry.field(description="What was ordered.")
    created_on: dt.datetime = strawberry.field(description="When it was ordered.")
    time_zone: str = strawberry.field(description="IANA time zone of the marketplace, in which days are counted.")
    language: str = strawberry.field(description="The language of the order.")
    first_name: str = strawberry.field(description="The buyer's first name.")
    email: str = strawberry.field(description="The buyer's e-mail address.")
    message: str = strawberry.field(description="What the buyer wrote to the shop; empty if nothing.")
    billing: CustomerOrderBilling | None = strawberry.field(
        description="The company that has bought; null if the buyer is a person."
    )
    page_url: str = strawberry.field(description="The address of the page of the order.")
    lines: list[CustomerOrderLine] = strawberry.field(description="Its lines.")
    delivery: CustomerOrderDelivery = strawberry.field(description="How it is delivered.")
    fulfilment: CustomerOrderFulfilment | None = strawberry.field(
        description="How far it is; null if nothing is handed over or sent, or nobody has recorded it."
    )
    totals: CustomerOrderTotals = strawberry.field(description="What was paid.")
    codes: list[CustomerOrderCode] = strawberry.field(description="The coupons and gift cards it was paid with.")
    refunds: list[CustomerOrderRefund] = strawberry.field(
        description="Its refunds, newest first. One that failed wholly is none."
    )
    requests: list[CustomerRefundRequest] = strawberry.field(
        description="The withdrawals and requests for a refund of its buyer, newest first."
    )
    request_offer: CustomerRequestOffer | None = strawberry.field(
        description="What its buyer can ask for with `requestRefundByToken`; null if nothing."
    )
    receipt_urls: list[str] = strawberry.field(
        description="The addresses of the receipts of its payments (PDF): invoices, if a company has bought."
    )
    legal_documents: list[CustomerOrderDocument] = strawberry.field(
        description="The versions of the legal texts that it was placed under."
    )
