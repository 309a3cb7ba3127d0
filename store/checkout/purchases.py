"""What purchases have in common: the coupon that a line was bought with, and to whom it goes."""

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from schema.checkout.basket import BasketLine, Gift
from schema.checkout.contact import Contact
from schema.coupon.coupon import ReceptionMode
from store.coupon.coupons import CouponRow
from store.payment.attempts import AttemptRow
from store.payment.snapshot import Purchase


def gift_fields(line: BasketLine, usual: ReceptionMode | None) -> Mapping[str, Any]:
    """For whom a line is, with what words, when it is sent, and how it is received, as arguments of a purchase. `usual` is
    how the order is received.
    """
    gift = {field.name: getattr(line.choice, field.name) for field in dataclasses.fields(Gift)}
    return gift | {"reception": line.reception if line.reception is not usual else None}


def sending_moment(
    bought: Gift, reception: ReceptionMode | None, zone: ZoneInfo, now: dt.datetime
) -> dt.datetime | None:
    """When a purchase is e-mailed to its giftee; None for at once, and for what is not e-mailed to a giftee."""
    moment = bought.sending_moment(zone)
    is_mailed = reception is ReceptionMode.GIFTEE_EMAIL and not bought.self_gifted
    return moment if is_mailed and moment is not None and moment > now else None


def coupon_id(coupons: Sequence[CouponRow]) -> int | None:
    """The coupon that is stored with what was bought."""
    return coupons[0].id if coupons else None


def validity_by(coupons: Sequence[CouponRow]) -> str:
    """The period of validity that coupons grant; empty for the usual one."""
    return next((coupon.new_validity_period for coupon in coupons if coupon.new_validity_period), "")


def postal_address(bought: Purchase, attempt: AttemptRow) -> str | None:
    """The postal address, one part a line; None for reception modes without post."""
    mode, buyer, giftee = attempt.reception_of(bought), attempt.buyer, bought.giftee
    to: Contact
    if mode is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY:
        to, name = giftee, full_name(giftee)
    elif mode is ReceptionMode.EXPEDITION:
        to, name = buyer, buyer.recipient_name or full_name(buyer)
    else:
        return None
    place = f"{to.postal_code} {to.city}".strip()
    return "\n".join(line for line in (name, to.address_line_1, to.address_line_2, place, to.country) if line)


def full_name(person: Contact) -> str:
    """First and last name, as far as they are known."""
    return f"{person.first_name} {person.last_name}".strip()
