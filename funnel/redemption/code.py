"""The page about a code, and the field for one."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption.bookings import offered
from funnel.redemption.request import ROOT, Staff
from funnel.redemption.texts import CARD_STATES, DONE, MOVES, STATES, UNDOES, verdict_of_card, verdict_of_voucher
from resolvers.redemption import RedeemableVoucher, redeemable
from schema.core.errors import NotFound
from schema.voucher.voucher import VoucherState
from store.core.codes import mistyped


async def show(staff: Staff) -> Response:
    """What the code is good for; without one, the field."""
    if not staff.code:
        return _field(staff, *_without_a_code(staff.request.query_params.get("code")))
    try:
        found = await redeemable(staff.context, staff.code)
    except NotFound:
        return _field(staff, 404, "MISTYPED" if mistyped(staff.code) else "UNKNOWN")
    flash = await staff.left()
    if isinstance(found, RedeemableVoucher):
        return _voucher(staff, found, flash)
    return staff.page(
        "redeem/gift_card.html",
        found=found,
        card=found.card,
        verdict=verdict_of_card(found),
        states=CARD_STATES,
        flash=flash,
        last=next((hold for hold in found.taken if str(hold.id) == flash.fields.get("hold")), None),
    )


def _without_a_code(given: str | None) -> tuple[int, str]:
    """The status, and what to say, where no code was given."""
    if given is None:
        return 200, ""
    return 400, "UNKNOWN" if given.strip() else "REQUIRED"


def _field(staff: Staff, status: int, code: str) -> Response:
    typed = staff.request.query_params.get("code", "")[:200]
    flash = Flash((("code", code),) if code else (), {"code": typed})
    return staff.with_camera(staff.page("redeem/start.html", status, flash=flash, path=ROOT))


def _voucher(staff: Staff, found: RedeemableVoucher, flash: Flash) -> Response:
    wanted = staff.request.query_params.get("to", "")
    final = wanted if wanted in found.moves and must_confirm(found, VoucherState(wanted)) else ""
    done = flash.fields.get("to") == found.voucher.state.value
    return staff.page(
        "redeem/voucher.html",
        found=found,
        voucher=found.voucher,
        verdict=verdict_of_voucher(found),
        final=final,
        flash=flash,
        offs=offered(found.rentals, found.voucher, just_noted=done and bool(flash.fields.get("noted"))),
        done=done,
        must_confirm=must_confirm,
        states=STATES,
        moves=MOVES,
        undoes=UNDOES,
        said=DONE,
    )


def must_confirm(found: RedeemableVoucher, state: VoucherState) -> bool:
    """Whether a move is asked about once more, because whoever makes it could not take it back."""
    return state is VoucherState.USED and not found.undoes
