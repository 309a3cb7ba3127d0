"""Actions of staff on a code. Each redirects to the code's page, which shows the result."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption import bookings
from funnel.redemption.acting import ALL, NOT_OURS, act, require_code, typed_amount, typed_id, wrong_amount
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
    StateChanged,
)
from schema.gift_card.input import ReverseGiftCardCapture, SpendGiftCard
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState

STATES = frozenset(VoucherState)


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
    changed = (StateChanged, InvalidTransition, FrozenByDispute), Flash((("voucher", "CHANGED"),))
    fields = {"to": to, "from": seen, "noted": "1" if rental else ""}
    try:
        return await act(
            request,
            lambda once: update_voucher.respond(request.context, once, moved),
            [changed],
            button=to,
            done=lambda _: Flash(fields=fields),
        )
    except InvalidInput as error:
        if any(problem.path[:1] == ("rental",) for problem in error.problems):
            return await request.redirect_with_flash(Flash((("starts_on", "TOO_MANY_BOOKINGS"),), typed), to=to)
        raise


async def spend(request: RedemptionRequest) -> Response:
    """Debit an amount from a gift card."""
    require_code(request)
    typed, amount = typed_amount(request)
    if request.form.get("ask") == ALL:
        return await request.redirect_with_flash(Flash(fields={"reference": typed["reference"]}), to=ALL)
    if amount is None:
        return await request.redirect_with_flash(wrong_amount(typed))
    spent = SpendGiftCard(code=request.code, amount=amount, reference=typed["reference"])
    refusals = [
        ((InsufficientBalance,), Flash((("amount", "INSUFFICIENT"),), typed)),
        ((GiftCardNotSpendable, FrozenByDispute), Flash((("card", "CHANGED"),))),
    ]
    return await act(request, lambda once: spend_gift_card.respond(request.context, once, spent), refusals)


async def reverse_spending(request: RedemptionRequest) -> Response:
    """Reverse a debit of a gift card."""
    reversal = ReverseGiftCardCapture(hold_id=typed_id(request, "hold"))
    too_late = (HoldOver, GiftCardNotSpendable), Flash((("card", "TOO_LATE"),))
    return await act(
        request, lambda once: reverse_gift_card_capture.respond(request.context, once, reversal), [too_late]
    )
