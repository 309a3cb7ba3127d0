"""From the lines of a bag to what an attempt keeps of them, and from there to vouchers and gift cards."""

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.basket import BagLine, GiftCardChoice, Giftee, OfferedGiftCards, VoucherChoice
from schema.coupon.coupon import ReceptionMode
from schema.voucher.voucher import VoucherGiftee, VoucherGifter
from store.coupon.coupons import CouponRow
from store.coupon.rules import in_proportion
from store.coupon.validity import validity_end
from store.customer import Person
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.issuing import NewGiftCard, issue_gift_cards
from store.mail.gifts import tell_of_gift_cards, tell_of_vouchers
from store.order.orders import OrderRow
from store.order.texts import GIFT_CARD, details
from store.payment import AttemptRow
from store.voucher.activation import end_of_validity, zone_of
from store.voucher.issuing import ChosenOption, NewVoucher, issue_vouchers
from store.voucher.vouchers import VoucherRow

NO_VAT = "0.00"
FORMER_VALIDITY = 12
"""How many months gift cards were valid whose payment began before partners decided it: it does not say."""
ADDRESS_LINES = ("address_line_1", "address_line_2")


# ---- what an attempt keeps --------------------------------------------------------------------------------------------


def attempt_line(
    line: BagLine,
    off: Decimal,
    coupons: Sequence[CouponRow],
    vat_rates: Mapping[int, Decimal],
    gift_cards: OfferedGiftCards | None,
) -> dict[str, Any]:
    """A line as it is bought, with its names and prices, and all that what it becomes is made from.

    `off` is what `coupons` take off it.
    """
    choice = line.choice
    given = {
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
        assert gift_cards is not None, "what is not sold is not bought"
        name, sold = GIFT_CARD.model_dump(exclude_none=True), {**given, "validity_months": gift_cards.validity_months}
        return {**common, "name": name, "choices": None, "vat_rate": NO_VAT, "picture_url": "", "gift_card": sold}
    return {**common, **_experience(line, choice, off, vat_rates, given)}


def _experience(
    line: BagLine, choice: VoucherChoice, off: Decimal, vat_rates: Mapping[int, Decimal], given: Mapping[str, Any]
) -> dict[str, Any]:
    assert line.prototype is not None
    prototype, nights = line.prototype, line.nights
    persons = {"adults": choice.adults, "children": choice.children, "babies": choice.babies}
    options = [{"id": o.option.id, "count": o.count, "unit_price": str(o.option.price)} for o in line.options]
    off_rent, _ = in_proportion(off, [line.rent, line.total - line.rent])
    return {
        "name": prototype.name.model_dump(exclude_none=True),
        "choices": details(
            {**persons, "nights": nights}, {o.option.id: (o.option.name, o.count) for o in line.options}
        ),
        "vat_rate": str(vat_rates[prototype.id]),
        "picture_url": prototype.pictures[0].path("card") if prototype.pictures else "",
        "voucher": {
            **given,
            "prototype_id": prototype.id,
            **persons,
            "nights": nights,
            "options": options,
            "rent": str(line.rent),
            "paid_rent": str(line.rent - off_rent),
            "to_giftee": choice.to_giftee,
            "from_gifter": choice.from_gifter,
        },
    }


# ---- what it becomes --------------------------------------------------------------------------------------------------


async def issue_all(
    db: AsyncSession, order: OrderRow, attempt: AttemptRow, origin: str, now: dt.datetime
) -> list[VoucherRow | GiftCardRow | None]:
    """Make the vouchers and gift cards of an attempt, and tell who gets them, in the transaction of its order.

    One for each line, None for goods.
    `origin` is where they were sold, for whoever reads a voucher.
    """
    zone = await zone_of(db, attempt.partner_id)
    vouchers: list[NewVoucher] = []
    cards: list[NewGiftCard] = []
    for line in attempt.lines:
        if given := line.get("voucher"):
            until = validity_end(given["validity"], now, zone)
            vouchers.append(_voucher(given, order, attempt, origin, until))
        elif given := line.get("gift_card"):
            months = given.get("validity_months", FORMER_VALIDITY)
            until = validity_end(given["validity"], now, zone) or end_of_validity(now, months, zone)
            cards.append(_gift_card(given, order, attempt, until))
    made_vouchers, made_cards = await issue_vouchers(db, vouchers, now), await issue_gift_cards(db, cards, now)
    await tell_of_vouchers(db, made_vouchers)
    await tell_of_gift_cards(db, made_cards)
    of_vouchers, of_cards = iter(made_vouchers), iter(made_cards)
    return [
        next(of_vouchers) if line.get("voucher") else next(of_cards) if line.get("gift_card") else None
        for line in attempt.lines
    ]


def _voucher(
    given: Mapping[str, Any], order: OrderRow, attempt: AttemptRow, origin: str, until: dt.datetime | None
) -> NewVoucher:
    giftee, buyer = Giftee(**given["giftee"]), attempt.buyer
    options = [ChosenOption(o["id"], o["count"], Decimal(o["unit_price"])) for o in given["options"]]
    return NewVoucher(
        partner_id=attempt.partner_id,
        prototype_id=given["prototype_id"],
        options=options,
        nb_nights=given["nights"],
        nb_adults=given["adults"],
        nb_children=given["children"],
        nb_babies=given["babies"],
        rent_price=Decimal(given["rent"]),
        total_price=Decimal(given["value"]),
        bought_rent_price=Decimal(given["paid_rent"]),
        purchase_price=Decimal(given["paid"]),
        gifter=_gifter(buyer),
        giftee=_giftee(giftee, attempt),
        self_gifted=given["self_gifted"],
        message=given["message"] or None,
        to_giftee=given["to_giftee"] or _full_name(giftee.first_name, giftee.last_name),
        from_gifter=given["from_gifter"] or _full_name(buyer["first_name"], buyer["last_name"]),
        reception_mode=reception_of(attempt),
        language=attempt.language,
        origin=origin,
        payment_type=_paid_with(attempt),
        coupon_id=given["coupon_id"],
        order_id=order.id,
        expires_on=until,
    )


def _gift_card(given: Mapping[str, Any], order: OrderRow, attempt: AttemptRow, until: dt.datetime) -> NewGiftCard:
    giftee, buyer = Giftee(**given["giftee"]), attempt.buyer
    gifter = Person(buyer["first_name"], buyer["last_name"], buyer["email"])
    return NewGiftCard(
        partner_id=attempt.partner_id,
        value=Decimal(given["value"]),
        currency=attempt.currency,
        gifter=gifter,
        giftee=gifter if given["self_gifted"] else Person(giftee.first_name, giftee.last_name, giftee.email),
        recipient_address=_posted_to(giftee, attempt) or "",
        message=given["message"],
        reception_mode=reception_of(attempt),
        language=attempt.language,
        expires_on=until,
        order_id=order.id,
    )


def reception_of(attempt: AttemptRow) -> ReceptionMode:
    """How the vouchers and gift cards of an attempt reach their recipients."""
    return ReceptionMode(attempt.delivery["reception"])


def _gifter(buyer: Mapping[str, str]) -> VoucherGifter:
    return VoucherGifter(
        first_name=buyer["first_name"],
        last_name=buyer["last_name"],
        email=buyer["email"],
        address=" ".join(buyer[name] for name in ADDRESS_LINES if buyer[name]),
        postal_code=buyer["postal_code"],
        city=buyer["city"],
        country=buyer["country"],
        mobile_phone=buyer["phone"] or None,
    )


def _giftee(giftee: Giftee, attempt: AttemptRow) -> VoucherGiftee:
    return VoucherGiftee(
        first_name=giftee.first_name or None,
        last_name=giftee.last_name or None,
        email=giftee.email or None,
        phone_number=giftee.phone or None,
        address=_posted_to(giftee, attempt),
    )


def _posted_to(giftee: Giftee, attempt: AttemptRow) -> str | None:
    """Where it goes by post, in lines; None where it goes another way."""
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


def _paid_with(attempt: AttemptRow) -> str:
    """Where the money came from, as `PaymentMethod` names it; empty where there was none to pay."""
    parts = [("gift_card", attempt.gift_card_amount), ("credit_card", attempt.card_amount)]
    return ",".join(name for name, amount in parts if amount)
