"""What purchases have in common: the coupon that a line was bought with, and to whom it goes."""

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from schema.checkout.basket import Gift, Giftee
from schema.checkout.checkout import Contact
from schema.coupon.coupon import ReceptionMode
from store.coupon.coupons import CouponRow
from store.payment.attempts import AttemptRow


def gift_fields(choice: Gift) -> Mapping[str, Any]:
    """For whom a choice is, with what words, and when it is sent, as arguments of a purchase."""
    return {field.name: getattr(choice, field.name) for field in dataclasses.fields(Gift)}


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


def reception_of(attempt: AttemptRow) -> ReceptionMode:
    """How what was bought reaches its recipient."""
    assert attempt.delivery.reception is not None, "a basket has a reception"
    return attempt.delivery.reception


def postal_address(giftee: Giftee, attempt: AttemptRow) -> str | None:
    """The postal address, one part a line; None for reception modes without post."""
    mode, buyer = reception_of(attempt), attempt.buyer
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
