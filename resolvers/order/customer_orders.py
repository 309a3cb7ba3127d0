"""Orders as their buyers see them over the API: from what the page of an order shows."""

from decimal import Decimal

from schema.checkout.checkout import Totals
from schema.core.money import Money
from schema.core.text import Text
from schema.order.customer_order import (
    CustomerOrder,
    CustomerOrderBilling,
    CustomerOrderCode,
    CustomerOrderDelivery,
    CustomerOrderDocument,
    CustomerOrderFulfilment,
    CustomerOrderItem,
    CustomerOrderLine,
    CustomerOrderRefund,
    CustomerOrderTotals,
    CustomerOrderVat,
    CustomerRefundRequest,
    CustomerRefundRequestLine,
    CustomerRequestOffer,
)
from schema.order.page import IssuedItem, IssuedState, OrderPage, OrderPageBilling
from schema.order.page_fulfilment import OrderPageFulfilment
from schema.order.page_requests import OrderPageRequest, RefundForm

NOTHING = Decimal("0.00")


class CustomerOrderView:
    """The view of the page of an order. `root` is the address of the service, at which its pages and documents are."""

    def __init__(self, page: OrderPage, form: RefundForm, root: str) -> None:
        self._page, self._form, self._root = page, form, root
        self._currency = page.totals.currency

    def order(self) -> CustomerOrder:
        """The whole order."""
        page, offer = self._page, self._page.request_offer
        return CustomerOrder(
            number=page.number,
            status=page.status,
            kind=page.kind,
            created_on=page.ordered_on,
            time_zone=page.time_zone,
            language=page.language,
            first_name=page.first_name,
            email=page.email,
            message=page.message,
            billing=None if page.billing is None else _billing(page.billing),
            page_url=f"{self._root}{page.path}",
            lines=self._lines(),
            delivery=self._delivery(),
            fulfilment=None if page.fulfilment is None else _fulfilment(page.fulfilment),
            totals=self._totals(page.totals),
            codes=[CustomerOrderCode(code=c.code, kind=c.kind, amount=self._money(c.amount)) for c in page.codes],
            refunds=[
                CustomerOrderRefund(created_on=each.moment, amount=self._money(each.amount), state=each.state)
                for each in page.refunds
            ],
            requests=[_request(each) for each in page.requests],
            request_offer=None if offer is None else CustomerRequestOffer(kind=offer.kind, ends_on=offer.ends_on),
            receipt_urls=[f"{self._root}{path}" for path in page.receipts],
            legal_documents=[
                CustomerOrderDocument(kind=link.kind, url=self._urls(link.address)) for link in page.legal
            ],
        )

    def _lines(self) -> list[CustomerOrderLine]:
        return [
            CustomerOrderLine(
                position=position,
                name=line.name,
                details=list(line.details),
                quantity=line.quantity,
                unit_price=self._money(line.unit_price),
                total=self._money(line.total),
                picture_url=self._url(line.picture_url),
                refunded_quantity=line.refunded_quantity,
                requestable_quantity=asked.quantity if self._form.offer else 0,
                obstacle=asked.obstacle,
                issued_item=None if line.issued_item is None else self._item(line.issued_item, position),
            )
            for position, (line, asked) in enumerate(zip(self._page.lines, self._form.lines, strict=True))
        ]

    def _item(self, item: IssuedItem, position: int) -> CustomerOrderItem:
        is_reminded = item.state is IssuedState.USABLE and item.expires_on is not None
        return CustomerOrderItem(
            state=item.state,
            code=None if item.state is IssuedState.WITHDRAWN else item.code,
            value=Money(amount=item.value, currency=item.currency),
            remaining=None if item.remaining is None else Money(amount=item.remaining, currency=item.currency),
            usages_left=item.usages_left,
            starts_on=item.starts_on,
            expires_on=item.expires_on,
            used_on=item.used_on,
            document_url=self._url(item.document_path),
            calendar_url=self._url(f"{self._page.path}{position}.ics") if is_reminded else None,
            apple_wallet_url=self._url(item.apple_pass_path),
            google_wallet_url=self._url(item.google_pass_path),
            giftee=item.giftee,
            reception_mode=item.reception,
            recipient_email=item.recipient_email,
            send_on=item.send_on,
            is_sendable=item.is_sendable,
            is_waiting=item.is_waiting,
        )

    def _delivery(self) -> CustomerOrderDelivery:
        delivery = self._page.delivery
        return CustomerOrderDelivery(
            kind=delivery.kind,
            name=delivery.name,
            description=delivery.description,
            address=list(delivery.address),
            country=(delivery.country or None) if delivery.address else None,
        )

    def _totals(self, totals: Totals) -> CustomerOrderTotals:
        return CustomerOrderTotals(
            products=self._money(totals.products),
            discount=self._money(totals.discount),
            delivery=self._money(totals.delivery or NOTHING),
            total=self._money(totals.total),
            gift_cards=self._money(totals.gift_cards),
            by_card=self._money(totals.by_card),
            vat=[
                CustomerOrderVat(
                    rate=each.rate,
                    net=self._money(each.net),
                    vat=self._money(each.vat),
                    gross=self._money(each.gross),
                )
                for each in totals.vat
            ],
        )

    def _money(self, amount: Decimal) -> Money:
        return Money(amount=amount, currency=self._currency)

    def _url(self, address: str) -> str | None:
        """The whole address; null for an empty one. Pictures of goods may be elsewhere."""
        if not address.startswith("/"):
            return address or None
        return f"{self._root}{address}"

    def _urls(self, addresses: Text) -> Text:
        return Text(**{language: self._url(one) for language, one in addresses.model_dump(exclude_none=True).items()})


def _fulfilment(fulfilment: OrderPageFulfilment) -> CustomerOrderFulfilment:
    return CustomerOrderFulfilment(
        state=fulfilment.state,
        reached_on=fulfilment.moment,
        carrier=fulfilment.carrier or None,
        tracking_number=fulfilment.tracking_number or None,
        tracking_url=fulfilment.tracking_url or None,
    )


def _billing(billing: OrderPageBilling) -> CustomerOrderBilling:
    return CustomerOrderBilling(
        company_name=billing.company_name,
        vat_id=billing.vat_id,
        address=list(billing.address),
        country=billing.country,
    )


def _request(request: OrderPageRequest) -> CustomerRefundRequest:
    return CustomerRefundRequest(
        id=request.id,
        kind=request.kind,
        state=request.state,
        requested_on=request.requested_on,
        answered_on=request.answered_on,
        email=request.email,
        reason=request.reason,
        answer=request.answer,
        lines=[CustomerRefundRequestLine(name=name, quantity=quantity) for name, quantity in request.lines],
    )
