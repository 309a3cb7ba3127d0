"""Actions of staff on a code. Each redirects to the code's page, which shows the result."""

import re
from decimal import Decimal, InvalidOperation

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption import bookings
from funnel.redemption.double_submit import run_once
from funnel.redemption.request import RedemptionRequest
from resolvers.gift_card.spending import reverse_gift_card_capture, spend_gift_card
from resolvers.voucher.updates import update_voucher
from schema.core.errors import (
    FrozenByDispute,
    GiftCardNotSpendable,
    HoldOver,
    InsufficientBalance,
    InvalidInput,
    InvalidTransition,
    NotFound,
    StateChanged,
)
from schema.gift_card.input import ReverseGiftCardCapture, SpendGiftCard
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState

STATES = frozenset(VoucherState)
LONGEST_REFERENCE = 80
NOT_OURS = "This form was not sent from a page."
AMOUNT = re.compile(r"[0-9]{1,9}([.,][0-9]{1,2})?")


async def change_voucher_state(request: RedemptionRequest) -> Response:
    """Change a voucher's state from the displayed one.

    With `ask`, show a confirmation first and keep the typed values.
    """
    require_code(request)
    to, asked, seen = (request.form.get(name, "") for name in ("to", "ask", "from"))
    if (asked or to) not in STATES or seen not in STATES:
        raise InvalidInput.at("to", NOT_OURS)
    typed = bookings.typed_fields(request.form)
    if asked:
        return await request.redirect_with_flash(Flash(fields=typed), to=asked)
    rental, wrong = bookings.parse_booking(typed)
    if wrong:
        return await request.redirect_with_flash(Flash(wrong, typed), to=to)
    moved = UpdateVoucher(
        code=request.code,
        state=VoucherState(to),
        from_state=VoucherState(seen),
        rental=rental,
        remove_rental_ids=bookings.bookings_to_remove(request.form),
    )
    try:
        await run_once(request, lambda once: update_voucher.respond(request.context, once, moved), to)
    except InvalidInput as error:
        if any(problem.path[:1] == ("rental",) for problem in error.problems):
            return await request.redirect_with_flash(Flash((("starts_on", "TOO_MANY_BOOKINGS"),), typed), to=to)
        raise
    except (StateChanged, InvalidTransition, FrozenByDispute):
        return await request.redirect_with_flash(Flash((("voucher", "CHANGED"),)))
    except NotFound:
        return request.redirect(request.code_url())
    return await request.redirect_with_flash(Flash(fields={"to": to, "from": seen, "noted": "1" if rental else ""}))


async def spend(request: RedemptionRequest) -> Response:
    """Debit an amount from a gift card."""
    require_code(request)
    typed = {name: request.form.get(name, "").strip()[:LONGEST_REFERENCE] for name in ("amount", "reference")}
    amount = parse_amount(typed["amount"])
    if amount is None:
        return await request.redirect_with_flash(
            Flash((("amount", "REQUIRED" if not typed["amount"] else "INVALID"),), typed)
        )
    spent = SpendGiftCard(code=request.code, amount=amount, reference=typed["reference"])
    try:
        hold_id = await run_once(request, lambda once: spend_gift_card.respond(request.context, once, spent))
    except InsufficientBalance:
        return await request.redirect_with_flash(Flash((("amount", "INSUFFICIENT"),), typed))
    except (GiftCardNotSpendable, FrozenByDispute):
        return await request.redirect_with_flash(Flash((("card", "CHANGED"),)))
    except NotFound:
        return request.redirect(request.code_url())
    return await request.redirect_with_flash(Flash(fields={"hold": str(hold_id)}))


async def reverse_spending(request: RedemptionRequest) -> Response:
    """Reverse a debit of a gift card."""
    hold = request.form.get("hold", "")
    if not re.fullmatch("[1-9][0-9]{0,8}", hold):
        raise InvalidInput.at("hold", NOT_OURS)
    reversal = ReverseGiftCardCapture(hold_id=int(hold))
    try:
        await run_once(request, lambda once: reverse_gift_card_capture.respond(request.context, once, reversal))
    except (HoldOver, GiftCardNotSpendable):
        return await request.redirect_with_flash(Flash((("card", "TOO_LATE"),)))
    except NotFound:
        return request.redirect(request.code_url())
    return await request.redirect_with_flash(Flash(fields={"hold": hold}))


def require_code(request: RedemptionRequest) -> None:
    """Raise InvalidInput if the form contains no code, as all our forms do."""
    if not request.code:
        raise InvalidInput.at("code", NOT_OURS)


def parse_amount(typed: str) -> Decimal | None:
    """The typed amount; None if it is invalid. Accepts a comma or a point, spaces and currency symbols."""
    bare = re.sub(r"[\s€$£]|EUR|CHF", "", typed, flags=re.IGNORECASE)
    if not AMOUNT.fullmatch(bare):
        return None
    try:
        amount = Decimal(bare.replace(",", "."))
    except InvalidOperation:
        return None
    return amount if amount > 0 else None
