"""Reads the receipt of a payment from the database."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.payment import PaymentTransactionStatus, PaymentTransactionType, RefundState
from schema.payment_method import PaymentMethod
from store.core.localization.formats import Formats
from store.document import receipt_words as words
from store.document.contact import reached_at
from store.document.receipt import Receipt, ReceiptLabels, ReceiptRow
from store.document.receipt_words import ReceiptWords
from store.document.sheet import SheetBrand
from store.gift_card.gift_cards import GiftCardRow
from store.order.orders import OrderDiscountRow, OrderProductRow, OrderRow, OrderVariantRow, OrderVatRow
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow
from store.payment.payments import PaymentRow, PaymentSourceRow, PaymentTransactionRow, RefundRow
from store.payment.recording import is_wholly_refunded


@dataclass(frozen=True)
class ReceiptReader:
    """Reads one receipt, in the language of its payment; without one, of the partner."""

    db: AsyncSession
    payment: PaymentRow
    partner: PartnerRow
    time_zone: str
    order: OrderRow | None
    """What was paid for; None for a payment without an order."""

    @property
    def language(self) -> str:
        return self.payment.language or self.partner.language

    @property
    def formats(self) -> Formats:
        return Formats(self.language)

    @property
    def words(self) -> ReceiptWords:
        return ReceiptWords(self.language)

    @property
    def overline(self) -> str:
        """What the document is."""
        return self.words.say(words.RECEIPT)

    @property
    def labels(self) -> ReceiptLabels:
        return self.words.labels

    async def read(self) -> Receipt:
        payment, say = self.payment, self.words.say
        overline, amount = self.overline, self.money(payment.payment_amount)
        wholly_refunded = await is_wholly_refunded(self.db, payment)
        return Receipt(
            language=self.language,
            title=f"{overline} – {self.partner.commercial_name} – {amount}",
            look=SheetBrand.from_brand(brand_of(self.partner)),
            words=self.labels,
            overline=overline,
            amount=amount,
            paid_on=say(words.PAID_ON, date=self.date(await self._paid_on())),
            mark=say(words.REFUNDED) if wholly_refunded else "",
            facts=list(self._facts()),
            payee=list(self._payee()),
            payer=list(self._payer()),
            description=payment.description,
            paid_for=list(self._price()) if self.order is None else await self._order_rows(self.order),
            paid_with=await self._source_rows(),
            refunds=await self._refund_rows(),
            contact=[reached_at(self.partner)],
        )

    def money(self, amount: Decimal) -> str:
        return self.formats.money(amount, self.payment.currency)

    def less(self, amount: Decimal) -> str:
        return self.formats.negative_money(amount, self.payment.currency)

    def date(self, moment: dt.datetime) -> str:
        return self.formats.date(moment, self.time_zone)

    async def _paid_on(self) -> dt.datetime:
        table = PaymentTransactionRow
        query = select(col(table.executed_on)).where(
            col(table.payment_id) == self.payment.id,
            col(table.type) == PaymentTransactionType.PAYIN,
            col(table.executed_on).is_not(None),
        )
        return (await self.db.exec(query.order_by(col(table.executed_on).desc()))).first() or self.payment.created_on

    def _payee(self) -> Iterator[str]:
        partner, say = self.partner, self.words.say
        if partner.name != partner.commercial_name:
            yield partner.name
        yield partner.hq_address_line_1
        yield partner.hq_address_line_2
        yield f"{partner.hq_postal_code} {partner.hq_city}".strip()
        if partner.hq_country_code:
            yield self.formats.country(partner.hq_country_code)
        if partner.siret_number:
            yield say(words.COMPANY_NUMBER, number=partner.siret_number)
        if partner.vat_id:
            yield say(words.VAT_NUMBER, number=partner.vat_id)

    def _payer(self) -> Iterator[str]:
        yield f"{self.payment.customer_first_name} {self.payment.customer_last_name}".strip()
        yield self.payment.customer_email

    def _facts(self) -> Iterator[tuple[str, str]]:
        say = self.words.say
        if self.order is not None:
            yield say(words.ORDER_NUMBER), str(self.order.number)
        yield say(words.PAYMENT_NUMBER), str(self.payment.id)

    def _price(self) -> Iterator[ReceiptRow]:
        """The amounts of a payment without an order."""
        payment, say = self.payment, self.words.say
        if payment.discount_amount:
            yield ReceiptRow(say(words.PRICE), self.money(payment.payment_amount + payment.discount_amount))
            yield ReceiptRow(say(words.DISCOUNT), self.less(payment.discount_amount))
        yield ReceiptRow(say(words.TOTAL), self.money(payment.payment_amount), strong=True)

    async def _order_rows(self, order: OrderRow) -> list[ReceiptRow]:
        """What was ordered, and how its total comes about."""
        say, said = self.words.say, self.formats.translate
        rows = [*await self._product_rows(order), *await self._coupon_rows(order)]
        if order.delivery_amount:
            rows.append(ReceiptRow(say(words.DELIVERY), self.money(order.delivery_amount), said(order.delivery_name)))
        return [*rows, *await self._total_rows(order)]

    async def _total_rows(self, order: OrderRow) -> list[ReceiptRow]:
        """The total, and the VAT in it by rate."""
        vat = " · ".join(
            f"{self.words.vat(row.rate, self.money(row.net_amount))}{self.formats.colon} {self.money(row.vat_amount)}"
            for row in await self.vat_of(order)
        )
        return [ReceiptRow(self.words.say(words.TOTAL), self.money(order.total_amount), vat, strong=True)]

    async def _product_rows(self, order: OrderRow) -> list[ReceiptRow]:
        said = self.formats.translate
        query = (
            select(OrderProductRow, OrderVariantRow)
            .outerjoin(OrderVariantRow, col(OrderVariantRow.id) == col(OrderProductRow.order_variant_id))
            .where(col(OrderProductRow.order_id) == order.id)
            .order_by(col(OrderProductRow.id))
        )
        rows = []
        for line, variant in (await self.db.exec(query)).all():
            details = [said(text) for text in ((variant.name, variant.choices) if variant else ()) if text]
            details += self._price_details(line)
            name = said(line.name) if line.quantity == 1 else f"{line.quantity} × {said(line.name)}"
            rows.append(ReceiptRow(name, self.money(line.total_amount), " · ".join(filter(None, details))))
        return rows

    async def _coupon_rows(self, order: OrderRow) -> list[ReceiptRow]:
        table = OrderDiscountRow
        query = select(table).where(col(table.order_id) == order.id, col(table.discount_amount) > 0)
        return [
            ReceiptRow(self.words.say(words.COUPON, code=row.code), self.less(row.discount_amount))
            for row in (await self.db.exec(query.order_by(col(table.id)))).all()
        ]

    def _price_details(self, line: OrderProductRow) -> list[str]:  # noqa: ARG002 - invoices have some
        """What is said of the price of a line."""
        return []

    async def vat_of(self, order: OrderRow) -> Sequence[OrderVatRow]:
        """The VAT in the total, by rate."""
        query = select(OrderVatRow).where(col(OrderVatRow.order_id) == order.id).order_by(col(OrderVatRow.id))
        return (await self.db.exec(query)).all()

    async def _source_rows(self) -> list[ReceiptRow]:
        query = (
            select(PaymentSourceRow, col(GiftCardRow.code), col(PaymentTransactionRow.method))
            .outerjoin(GiftCardRow, col(GiftCardRow.id) == col(PaymentSourceRow.gift_card_id))
            .outerjoin(
                PaymentTransactionRow,
                (col(PaymentTransactionRow.source_id) == col(PaymentSourceRow.id))
                & (col(PaymentTransactionRow.type) == PaymentTransactionType.PAYIN)
                & (col(PaymentTransactionRow.status) == PaymentTransactionStatus.OK),
            )
            .where(col(PaymentSourceRow.payment_id) == self.payment.id)
            .order_by(col(PaymentSourceRow.id))
        )
        say = self.words.say
        return [
            ReceiptRow(
                say(words.GIFT_CARD_ENDING, end=code[-4:])
                if code
                else say(words.METHODS[method or PaymentMethod.CARD]),
                self.money(source.source_amount),
            )
            for source, code, method in (await self.db.exec(query)).all()
        ]

    async def _refund_rows(self) -> list[ReceiptRow]:
        """The refunds so far, and what is left of the payment."""
        query = select(RefundRow).where(
            col(RefundRow.payment_id) == self.payment.id, col(RefundRow.state) != RefundState.FAILED
        )
        say = self.words.say
        rows = [
            ReceiptRow(
                say(
                    words.REFUND_MADE if refund.state is RefundState.DONE else words.REFUND_UNDER_WAY,
                    date=self.date(refund.created_on),
                ),
                self.less(refund.refund_amount),
            )
            for refund in (await self.db.exec(query.order_by(col(RefundRow.created_on)))).all()
        ]
        if not rows:
            return []
        left = self.payment.payment_amount - self.payment.refunded_amount
        return [*rows, ReceiptRow(say(words.LEFT_PAID), self.money(left), strong=True)]
