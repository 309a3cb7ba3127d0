"""Fulfilment of a partner's own vouchers and gift cards: line data stored with a payment attempt, and what is issued."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.basket import BasketLine, GiftCardChoice, VoucherChoice
from schema.checkout.checkout import Buyer
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.coupon.coupon import ReceptionMode
from schema.voucher.voucher import VoucherGiftee, VoucherGifter, VoucherState
from store.checkout.purchases import (
    coupon_id,
    full_name,
    gift_fields,
    postal_address,
    sending_moment,
    validity_by,
)
from store.core.localization.sale_texts import GIFT_CARD_NAME, voucher_details
from store.coupon.coupons import CouponRow
from store.coupon.rules import split_proportionally
from store.coupon.validity import validity_end
from store.customer import Person
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.issuing import NewGiftCard, issue_gift_cards
from store.mail.gifts import mail_gift_cards, mail_vouchers
from store.order.orders import OrderRow
from store.payment.attempts import AttemptRow
from store.payment.snapshot import AttemptLine, GiftCardPurchase, PurchasedOption, VoucherPurchase
from store.voucher.issuing import NewVoucher, NewVoucherOption, issue_vouchers
from store.voucher.payment import end_of_validity, zone_of
from store.voucher.vouchers import VoucherRow

NO_VAT = Decimal("0.00")


# ---- stored lines ----------------------------------------------------------------------------------------------------


def attempt_line(
    line: BasketLine,
    off: Decimal,
    coupons: Sequence[CouponRow],
    vat_rates: Mapping[int, Decimal],
    gift_cards: OfferedGiftCards | None,
    usual: ReceptionMode | None,
) -> AttemptLine:
    """The stored form of an ordered line: names, prices and all data for issuing the voucher or gift card.

    `off` is the discount that `coupons` take off the line, `usual` how the order is received.
    """
    if isinstance(line.choice, VoucherChoice):
        return _voucher_line(line, line.choice, off, coupons, vat_rates, usual)
    assert isinstance(line.choice, GiftCardChoice), "lines of networks have their own form"
    assert gift_cards is not None, "a gift card line needs an offer"
    purchase = GiftCardPurchase(
        value=line.value,
        paid=line.total - off,
        coupon_id=coupon_id(coupons),
        validity=validity_by(coupons),
        **gift_fields(line, usual),
        validity_months=gift_cards.validity_months,
        design_id=line.choice.design_id,
    )
    return AttemptLine(
        name=GIFT_CARD_NAME,
        choices=line.design.name if line.design else None,
        quantity=1,
        unit_price=line.total,
        total=line.total,
        discount=off,
        vat_rate=NO_VAT,
        picture_url=line.design.picture_url if line.design else "",
        gift_card=purchase,
    )


def _voucher_line(
    line: BasketLine,
    choice: VoucherChoice,
    off: Decimal,
    coupons: Sequence[CouponRow],
    vat_rates: Mapping[int, Decimal],
    usual: ReceptionMode | None,
) -> AttemptLine:
    assert line.prototype is not None
    prototype = line.prototype
    persons: dict[str, Any] = {
        "adults": choice.adults,
        "children": choice.children,
        "babies": choice.babies,
        "nights": line.nights,
    }
    off_rent, _ = split_proportionally(off, [line.base_price, line.total - line.base_price])
    purchase = VoucherPurchase(
        value=line.value,
        paid=line.total - off,
        coupon_id=coupon_id(coupons),
        validity=validity_by(coupons),
        **gift_fields(line, usual),
        prototype_id=prototype.id,
        **persons,
        options=tuple(PurchasedOption(o.option.id, o.count, o.option.price) for o in line.options),
        rent=line.base_price,
        paid_rent=line.base_price - off_rent,
    )
    return AttemptLine(
        name=prototype.name,
        choices=voucher_details(persons, {o.option.id: (o.option.name, o.count) for o in line.options}),
        quantity=1,
        unit_price=line.total,
        total=line.total,
        discount=off,
        vat_rate=vat_rates[prototype.id],
        picture_url=prototype.pictures[0].path("card") if prototype.pictures else "",
        voucher=purchase,
    )


# ---- issuing ---------------------------------------------------------------------------------------------------------


async def issue_purchases(
    db: AsyncSession, order: OrderRow, attempt: AttemptRow, origin: str, now: dt.datetime
) -> list[VoucherRow | GiftCardRow | None]:
    """Issue the vouchers and gift cards of an attempt and queue their mail, in the transaction of the order.

    Returns one row for each line, None for goods. `origin` is the URL of the shop, stored with each voucher.
    """
    zone = await zone_of(db, attempt.partner_id)
    vouchers: list[NewVoucher] = []
    cards: list[NewGiftCard] = []
    for line in attempt.lines:
        send_on = (
            sending_moment(line.purchase, attempt.reception_of(line.purchase), zone, now) if line.purchase else None
        )
        begins = send_on or now
        if line.voucher is not None:
            until = validity_end(line.voucher.validity, begins, zone)
            vouchers.append(_voucher(line.voucher, order, attempt, origin, until, send_on))
        elif line.gift_card is not None:
            bought = line.gift_card
            until = validity_end(bought.validity, begins, zone) or end_of_validity(begins, bought.validity_months, zone)
            cards.append(_gift_card(bought, order, attempt, until, send_on))
    made_vouchers, made_cards = await issue_vouchers(db, vouchers, now), await issue_gift_cards(db, cards, now)
    await mail_vouchers(db, made_vouchers)
    await mail_gift_cards(db, made_cards)
    of_vouchers, of_cards = iter(made_vouchers), iter(made_cards)
    return [next(of_vouchers) if line.voucher else next(of_cards) if line.gift_card else None for line in attempt.lines]


def _voucher(
    bought: VoucherPurchase,
    order: OrderRow,
    attempt: AttemptRow,
    origin: str,
    until: dt.datetime | None,
    send_on: dt.datetime | None,
) -> NewVoucher:
    giftee, buyer = bought.giftee, attempt.buyer
    row = VoucherRow(
        partner_id=attempt.partner_id,
        voucher_prototype_id=bought.prototype_id,
        state=VoucherState.PAID,
        nb_nights=bought.nights,
        nb_adults=bought.adults,
        nb_children=bought.children,
        nb_babies=bought.babies,
        rent_price_amount=bought.rent,
        total_price_amount=bought.value,
        bought_rent_price_amount=bought.paid_rent,
        purchase_price_amount=bought.paid,
        self_gifted=bought.self_gifted,
        message=bought.message or None,
        to_giftee=bought.to_giftee or full_name(giftee),
        from_gifter=bought.from_gifter or full_name(buyer),
        reception_mode=attempt.reception_of(bought),
        language=attempt.language,
        origin=origin,
        payment_type=_payment_type(attempt),
        coupon_id=bought.coupon_id,
        order_id=order.id,
        expires_on=until,
        send_on=send_on,
        **_gifter(buyer).model_dump(),
        **_giftee(bought, attempt).model_dump(),
    )
    return NewVoucher(row, [NewVoucherOption(option.id, option.count, option.unit_price) for option in bought.options])


def _gift_card(
    bought: GiftCardPurchase, order: OrderRow, attempt: AttemptRow, until: dt.datetime, send_on: dt.datetime | None
) -> NewGiftCard:
    giftee, buyer = bought.giftee, attempt.buyer
    gifter = Person(buyer.first_name, buyer.last_name, buyer.email)
    return NewGiftCard(
        partner_id=attempt.partner_id,
        value=bought.value,
        currency=attempt.currency,
        gifter=gifter,
        giftee=gifter if bought.self_gifted else Person(giftee.first_name, giftee.last_name, giftee.email),
        recipient_address=postal_address(bought, attempt) or "",
        from_gifter=bought.from_gifter,
        message=bought.message,
        reception_mode=attempt.reception_of(bought),
        language=attempt.language,
        expires_on=until,
        send_on=send_on,
        order_id=order.id,
        design_id=bought.design_id,
    )


def _gifter(buyer: Buyer) -> VoucherGifter:
    return VoucherGifter(
        gifter_first_name=buyer.first_name,
        gifter_last_name=buyer.last_name,
        gifter_email=buyer.email,
        gifter_address=" ".join(line for line in (buyer.address_line_1, buyer.address_line_2) if line),
        gifter_postal_code=buyer.postal_code,
        gifter_city=buyer.city,
        gifter_country=buyer.country,
        gifter_mobile_phone=buyer.phone or None,
    )


def _giftee(bought: VoucherPurchase, attempt: AttemptRow) -> VoucherGiftee:
    giftee = bought.giftee
    return VoucherGiftee(
        giftee_first_name=giftee.first_name or None,
        giftee_last_name=giftee.last_name or None,
        giftee_email=giftee.email or None,
        giftee_phone_number=giftee.phone or None,
        recipient_address=postal_address(bought, attempt),
    )


def _payment_type(attempt: AttemptRow) -> str:
    """The payment methods, comma-separated, by their `PaymentSourceKind` names; empty if the total was zero."""
    parts = [("gift_card", attempt.gift_card_amount), ("credit_card", attempt.card_amount)]
    return ",".join(name for name, amount in parts if amount)
