"""Reads the invoice of an order from the database: the receipt of a company that has bought."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.document import receipt_words as words
from store.document.receipt import Receipt, ReceiptLabels, ReceiptRow
from store.document.receipt_source import ReceiptReader
from store.order.orders import OrderProductRow, OrderRow, billing_lines
from store.partner.partners import PartnerRow
from store.payment.payments import PaymentRow


async def read_receipt(db: AsyncSession, payment: PaymentRow, partner: PartnerRow, time_zone: str) -> Receipt:
    """The receipt of a payment; an invoice if it is for the order of a company."""
    order = None if payment.order_id is None else await db.get_one(OrderRow, payment.order_id)
    is_invoice = order is not None and order.billing_company_name is not None
    reader = OrderInvoiceReader if is_invoice else ReceiptReader
    return await reader(db, payment, partner, time_zone, order).read()


@dataclass(frozen=True)
class OrderInvoiceReader(ReceiptReader):
    """Reads the invoice of an order that a company has bought. Its number is that of the order: these have no gaps."""

    @property
    def overline(self) -> str:
        return self.words.say(words.INVOICE)

    @property
    def labels(self) -> ReceiptLabels:
        return self.words.invoice_labels

    async def read(self) -> Receipt:
        receipt = await super().read()
        assert self.order is not None
        query = select(OrderProductRow).where(col(OrderProductRow.order_id) == self.order.id)
        if any(line.is_prepaid for line in (await self.db.exec(query)).all()):
            note = self.words.say(words.NO_VAT_YET)
            receipt = replace(receipt, words=replace(receipt.words, note=note))
        return receipt

    def _facts(self) -> Iterator[tuple[str, str]]:
        assert self.order is not None
        say = self.words.say
        yield say(words.INVOICE_NUMBER), str(self.order.number)
        yield say(words.INVOICE_DATE), self.date(self.order.created_on)
        yield say(words.PAYMENT_NUMBER), str(self.payment.id)

    def _payer(self) -> Iterator[str]:
        assert self.order is not None
        order = self.order
        yield order.billing_company_name or ""
        yield from billing_lines(order)
        if order.billing_country:
            yield self.formats.country(order.billing_country)
        if order.billing_vat_id:
            yield self.words.say(words.VAT_NUMBER, number=order.billing_vat_id)
        yield f"{order.buyer_first_name} {order.buyer_last_name}".strip()

    def _price_details(self, line: OrderProductRow) -> list[str]:
        details = [] if line.quantity == 1 else [f"{line.quantity} × {self.money(line.unit_price_amount)}"]
        if not line.is_prepaid:
            details.append(self.words.say(words.VAT_AT, rate=self.formats.percent(line.vat_rate)))
        return details

    async def _total_rows(self, order: OrderRow) -> list[ReceiptRow]:
        say, rates = self.words.say, await self.vat_of(order)
        net = order.total_amount - sum(row.vat_amount for row in rates)
        rows = [ReceiptRow(say(words.NET_TOTAL), self.money(net))]
        for row in rates:
            rate, base = self.formats.percent(row.rate), self.money(row.net_amount)
            rows.append(ReceiptRow(say(words.VAT_ON, rate=rate, net=base), self.money(row.vat_amount)))
        return [*rows, ReceiptRow(say(words.TOTAL), self.money(order.total_amount), strong=True)]
