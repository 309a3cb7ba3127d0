"""What staff do with a code: each leads back to the page about it, which tells what came of it."""

import re
from decimal import Decimal, InvalidOperation

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption import bookings
from funnel.redemption.double_submit import once
from funnel.redemption.request import Staff
from resolvers.gift_card.spending import reverse_gift_card_capture, spend_gift_card
from resolvers.voucher.updates import update_voucher
from schema.core.errors import (
    GiftCardNotSpendable,
    HoldOver,
    InsufficientBalance,
    InvalidInput,
    InvalidTransition,
    NotFound,
    StateChanged,
)
from schema.gift_card.spending_input import ReverseGiftCardCapture, SpendGiftCard
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState

STATES = frozenset(VoucherState)
LONGEST_REFERENCE = 80
NOT_OURS = "This form was not sent from a page."
AMOUNT = re.compile(r"[0-9]{1,9}([.,][0-9]{1,2})?")


async def move_voucher(staff: Staff) -> Response:
    """Move a voucher from where it was seen; or ask first, with what was typed kept, where the button says so."""
    check_code(staff)
    to, asked, seen = (staff.form.get(name, "") for name in ("to", "ask", "from"))
    if (asked or to) not in STATES or seen not in STATES:
        raise InvalidInput.at("to", NOT_OURS)
    typed = bookings.typed_in(staff.form)
    if asked:
        return await staff.leave(Flash(fields=typed), to=asked)
    rental, wrong = bookings.read(typed)
    if wrong:
        return await staff.leave(Flash(wrong, typed), to=to)
    moved = UpdateVoucher(
        code=staff.code,
        state=VoucherState(to),
        from_state=VoucherState(seen),
        rental=rental,
        rental_ids_off=bookings.to_take_off(staff.form),
    )
    try:
        await once(staff, lambda: update_voucher(staff.context, moved), to)
    except InvalidInput as error:
        if any(problem.path[:1] == ("rental",) for problem in error.problems):
            return await staff.leave(Flash((("starts_on", "TOO_MANY_BOOKINGS"),), typed), to=to)
        raise
    except (StateChanged, InvalidTransition):
        return await staff.leave(Flash((("voucher", "CHANGED"),)))
    except NotFound:
        return staff.redirect(staff.to_code())
    return await staff.leave(Flash(fields={"to": to, "from": seen, "noted": "1" if rental else ""}))


async def take(staff: Staff) -> Response:
    """Take an amount off a gift card."""
    check_code(staff)
    typed = {name: staff.form.get(name, "").strip()[:LONGEST_REFERENCE] for name in ("amount", "reference")}
    amount = amount_in(typed["amount"])
    if amount is None:
        return await staff.leave(Flash((("amount", "REQUIRED" if not typed["amount"] else "INVALID"),), typed))
    spent = SpendGiftCard(code=staff.code, amount=amount, reference=typed["reference"])
    try:
        hold_id = await once(staff, lambda: spend_gift_card(staff.context, spent))
    except InsufficientBalance:
        return await staff.leave(Flash((("amount", "INSUFFICIENT"),), typed))
    except GiftCardNotSpendable:
        return await staff.leave(Flash((("card", "CHANGED"),)))
    except NotFound:
        return staff.redirect(staff.to_code())
    return await staff.leave(Flash(fields={"hold": str(hold_id)}))


async def put_back(staff: Staff) -> Response:
    """Put back on a gift card what was taken off it."""
    hold = staff.form.get("hold", "")
    if not re.fullmatch("[1-9][0-9]{0,8}", hold):
        raise InvalidInput.at("hold", NOT_OURS)
    try:
        await once(staff, lambda: reverse_gift_card_capture(staff.context, ReverseGiftCardCapture(hold_id=int(hold))))
    except (HoldOver, GiftCardNotSpendable):
        return await staff.leave(Flash((("card", "TOO_LATE"),)))
    except NotFound:
        return staff.redirect(staff.to_code())
    return await staff.leave(Flash(fields={"hold": hold}))


def check_code(staff: Staff) -> None:
    """InvalidInput for a form about no code: each page of ours that sends one is about a code."""
    if not staff.code:
        raise InvalidInput.at("code", NOT_OURS)


def amount_in(typed: str) -> Decimal | None:
    """An amount as it is typed, with a comma or a point, blanks and a sign of a currency aside; None for what is none."""
    bare = re.sub(r"[\s€$£]|EUR|CHF", "", typed, flags=re.IGNORECASE)
    if not AMOUNT.fullmatch(bare):
        return None
    try:
        amount = Decimal(bare.replace(",", "."))
    except InvalidOperation:
        return None
    return amount if amount > 0 else None
