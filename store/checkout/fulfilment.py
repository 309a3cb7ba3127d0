"""Fulfilment of baskets: line data stored with a payment attempt, and vouchers and gift cards issued from them."""

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.basket import BasketLine, GiftCardChoice, Giftee, OfferedGiftCards, VoucherChoice
from schema.coupon.coupon import ReceptionMode
from schema.voucher.voucher import VoucherGiftee, VoucherGifter, VoucherState
from store.core.sale_texts import GIFT_CARD_NAME, voucher_details
from store.coupon.coupons import CouponRow
from store.coupon.rules import split_proportionally
from store.coupon.validity import validity_end
from store.customer import Person
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.issuing import NewGiftCard, issue_gift_cards
from store.mail.gifts import mail_gift_cards, mail_vouchers
from store.order.orders import OrderRow
from store.payment import AttemptRow
from store.voucher.issuing import NewVoucher, NewVoucherOption, issue_vouchers
from store.voucher.payment import end_of_validity, zone_of
from store.voucher.vouchers import VoucherRow

NO_VAT = "0.00"
DEFAULT_VALIDITY_MONTHS = 12
"""Validity of gift cards whose attempt has no `validity_months`: it was stored before partners could set it."""
ADDRESS_LINES = ("address_line_1", "address_line_2")


# ---- stored lines ----------------------------------------------------------------------------------------------------


def attempt_line(
    line: BasketLine,
    off: Decimal,
    coupons: Sequence[CouponRow],
    vat_rates: Mapping[int, Decimal],
    gift_cards: OfferedGiftCards | None,
) -> dict[str, Any]:
    """The stored form of an ordered line: names, prices and all data for issuing the voucher or gift card.

    `off` is the discount that `coupons` take off the line.
    """
    choice = line.choice
    data = {
        "value": str(line.value),
        "paid": str(line.total - off),
        "self_gifted": choice.self_gifted,
        "giftee": dataclasses.asdict(choice.giftee),
        "message": choice.message,
        "coupon_id": coupons[0].id if coupons else None,
        "validity": next((c.new_validity_period for c in coupons if c.new_validity_period), ""),
    }
    common = {
        "product_id": None,
        "variant_id": None,
        "variant": None,
        "quantity": 1,
        "unit_price": str(line.total),
        "total": str(line.total),
    }
    if isinstance(choice, GiftCardChoice):
        assert gift_cards is not None, "a gift card line needs an offer"
        name, sold = (
            GIFT_CARD_NAME.model_dump(exclude_none=True),
            {**data, "validity_months": gift_cards.validity_months},
        )
        return {**common, "name": name, "choices": None, "vat_rate": NO_VAT, "picture_url": "", "gift_card": sold}
    return {**common, **_voucher_data(line, choice, off, vat_rates, data)}


def _voucher_data(
    line: BasketLine, choice: VoucherChoice, off: Decimal, vat_rates: Mapping[int, Decimal], data: Mapping[str, Any]
) -> dict[str, Any]:
    assert line.prototype is not None
    prototype, nights = line.prototype, line.nights
    persons = {"adults": choice.adults, "children": choice.children, "babies": choice.babies}
    options = [{"id": o.option.id, "count": o.count, "unit_price": str(o.option.price)} for o in line.options]
    off_rent, _ = split_proportionally(off, [line.base_price, line.total - line.base_price])
    return {
        "name": prototype.name.model_dump(exclude_none=True),
        "choices": voucher_details(
            {**persons, "nights": nights}, {o.option.id: (o.option.name, o.count) for o in line.options}
        ),
        "vat_rate": str(vat_rates[prototype.id]),
        "picture_url": prototype.pictures[0].path("card") if prototype.pictures else "",
        "voucher": {
            **data,
            "prototype_id": prototype.id,
            **persons,
            "nights": nights,
            "options": options,
            "rent": str(line.base_price),
            "paid_rent": str(line.base_price - off_rent),
            "to_giftee": choice.to_giftee,
            "from_gifter": choice.from_gifter,
        },
    }


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
        if data := line.get("voucher"):
            until = validity_end(data["validity"], now, zone)
            vouchers.append(_voucher(data, order, attempt, origin, until))
        elif data := line.get("gift_card"):
            months = data.get("validity_months", DEFAULT_VALIDITY_MONTHS)
            until = validity_end(data["validity"], now, zone) or end_of_validity(now, months, zone)
            cards.append(_gift_card(data, order, attempt, until))
    made_vouchers, made_cards = await issue_vouchers(db, vouchers, now), await issue_gift_cards(db, cards, now)
    await mail_vouchers(db, made_vouchers)
    await mail_gift_cards(db, made_cards)
    of_vouchers, of_cards = iter(made_vouchers), iter(made_cards)
    return [
        next(of_vouchers) if line.get("voucher") else next(of_cards) if line.get("gift_card") else None
        for line in attempt.lines
    ]


def _voucher(
    data: Mapping[str, Any], order: OrderRow, attempt: AttemptRow, origin: str, until: dt.datetime | None
) -> NewVoucher:
    giftee, buyer = Giftee(**data["giftee"]), attempt.buyer
    options = [NewVoucherOption(o["id"], o["count"], Decimal(o["unit_price"])) for o in data["options"]]
    row = VoucherRow(
        partner_id=attempt.partner_id,
        voucher_prototype_id=data["prototype_id"],
        state=VoucherState.PAID,
        nb_nights=data["nights"],
        nb_adults=data["adults"],
        nb_children=data["children"],
        nb_babies=data["babies"],
        rent_price_amount=Decimal(data["rent"]),
        total_price_amount=Decimal(data["value"]),
        bought_rent_price_amount=Decimal(data["paid_rent"]),
        purchase_price_amount=Decimal(data["paid"]),
        self_gifted=data["self_gifted"],
        message=data["message"] or None,
        to_giftee=data["to_giftee"] or _full_name(giftee.first_name, giftee.last_name),
        from_gifter=data["from_gifter"] or _full_name(buyer["first_name"], buyer["last_name"]),
        reception_mode=reception_of(attempt),
        language=attempt.language,
        origin=origin,
        payment_type=_payment_type(attempt),
        coupon_id=data["coupon_id"],
        order_id=order.id,
        expires_on=until,
        **_gifter(buyer).model_dump(),
        **_giftee(giftee, attempt).model_dump(),
    )
    return NewVoucher(row, options)


def _gift_card(data: Mapping[str, Any], order: OrderRow, attempt: AttemptRow, until: dt.datetime) -> NewGiftCard:
    giftee, buyer = Giftee(**data["giftee"]), attempt.buyer
    gifter = Person(buyer["first_name"], buyer["last_name"], buyer["email"])
    return NewGiftCard(
        partner_id=attempt.partner_id,
        value=Decimal(data["value"]),
        currency=attempt.currency,
        gifter=gifter,
        giftee=gifter if data["self_gifted"] else Person(giftee.first_name, giftee.last_name, giftee.email),
        recipient_address=_postal_address(giftee, attempt) or "",
        message=data["message"],
        reception_mode=reception_of(attempt),
        language=attempt.language,
        expires_on=until,
        order_id=order.id,
    )


def reception_of(attempt: AttemptRow) -> ReceptionMode:
    return ReceptionMode(attempt.delivery["reception"])


def _gifter(buyer: Mapping[str, str]) -> VoucherGifter:
    return VoucherGifter(
        gifter_first_name=buyer["first_name"],
        gifter_last_name=buyer["last_name"],
        gifter_email=buyer["email"],
        gifter_address=" ".join(buyer[name] for name in ADDRESS_LINES if buyer[name]),
        gifter_postal_code=buyer["postal_code"],
        gifter_city=buyer["city"],
        gifter_country=buyer["country"],
        gifter_mobile_phone=buyer["phone"] or None,
    )


def _giftee(giftee: Giftee, attempt: AttemptRow) -> VoucherGiftee:
    return VoucherGiftee(
        giftee_first_name=giftee.first_name or None,
        giftee_last_name=giftee.last_name or None,
        giftee_email=giftee.email or None,
        giftee_phone_number=giftee.phone or None,
        recipient_address=_postal_address(giftee, attempt),
    )


def _postal_address(giftee: Giftee, attempt: AttemptRow) -> str | None:
    """The postal address, one part a line; None for reception modes without post."""
    mode, buyer = reception_of(attempt), attempt.buyer
    if mode is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY:
        to: Mapping[str, str] = dataclasses.asdict(giftee)
        name = _full_name(giftee.first_name, giftee.last_name)
    elif mode is ReceptionMode.EXPEDITION:
        to, name = buyer, buyer["recipient_name"] or _full_name(buyer["first_name"], buyer["last_name"])
    else:
        return None
    place = f"{to['postal_code']} {to['city']}".strip()
    return "\n".join(line for line in (name, *(to[each] for each in ADDRESS_LINES), place, to["country"]) if line)


def _full_name(first: str, last: str) -> str:
    return f"{first} {last}".strip()


def _payment_type(attempt: AttemptRow) -> str:
    """The payment methods, comma-separated, by their `PaymentMethod` names; empty if the total was zero."""
    parts = [("gift_card", attempt.gift_card_amount), ("credit_card", attempt.card_amount)]
    return ",".join(name for name, amount in parts if amount)
