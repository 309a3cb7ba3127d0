"""The page of a code, and the field to enter one."""

import re
from zoneinfo import ZoneInfo

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption import acting, network
from funnel.redemption.bookings import removable_bookings
from funnel.redemption.request import ROOT, RedemptionRequest
from funnel.redemption.texts import CARD_STATES, DONE, MOVES, STATES, UNDOES, verdict_of_card, verdict_of_voucher
from resolvers.network.redemption import RedeemableNetworkCard, RedeemableNetworkVoucher
from resolvers.redemption.codes import RedeemableCard, RedeemableVoucher, find_redeemable
from resolvers.redemption.uses import todays_uses
from schema.core.errors import NotFound
from schema.voucher.voucher import VoucherState
from store.core.codes import is_mistyped

ENTRY_ID = re.compile(r"[1-9][0-9]{0,17}")
"""The id of an entry of the audit log."""


async def show(request: RedemptionRequest) -> Response:
    """Show what the code is valid for; without a code, the field."""
    if not request.code:
        status, problem = _problem_without_code(request.http_request.query_params.get("code"))
        return _code_page(request, status, problem) if problem else await _start_page(request)
    try:
        redeemable = await find_redeemable(request.context, request.code)
    except NotFound:
        return _code_page(request, 404, "MISTYPED" if is_mistyped(request.code) else "UNKNOWN")
    flash = await request.take_flash()
    match redeemable:
        case RedeemableVoucher():
            return _voucher_page(request, redeemable, flash)
        case RedeemableCard():
            return _card_page(request, redeemable, flash)
        case RedeemableNetworkCard():
            return network.show_card(request, redeemable, flash)
        case RedeemableNetworkVoucher():
            return network.show_voucher(request, redeemable, flash)


def _problem_without_code(text: str | None) -> tuple[int, str]:
    """The HTTP status and the error code of a missing or unreadable code."""
    if text is None:
        return 200, ""
    return 400, "UNKNOWN" if text.strip() else "REQUIRED"


async def _start_page(request: RedemptionRequest) -> Response:
    """The field, and what was used today; with `before` what was used before that."""
    before = request.http_request.query_params.get("before", "")
    before_id = int(before) if ENTRY_ID.fullmatch(before) else None
    today = await todays_uses(request.context, ZoneInfo(request.shop.time_zone), before_id)
    page = request.render(
        "redemption/start.html",
        flash=await request.take_flash(),
        path=ROOT,
        today=today,
        is_earlier=before_id is not None,
        states=STATES,
    )
    return request.with_camera(page)


def _code_page(request: RedemptionRequest, status: int, code: str) -> Response:
    """The field with what is wrong with the typed code."""
    typed = request.http_request.query_params.get("code", "")[:200]
    flash = Flash((("code", code),), {"code": typed})
    return request.with_camera(request.render("redemption/start.html", status, flash=flash, path=ROOT, today=None))


def _voucher_page(request: RedemptionRequest, voucher: RedeemableVoucher, flash: Flash) -> Response:
    target = request.http_request.query_params.get("to", "")
    final = target if target in voucher.moves and must_confirm(voucher, VoucherState(target)) else ""
    done = flash.fields.get("to") == voucher.voucher.state.value
    return request.render(
        "redemption/voucher.html",
        found=voucher,
        voucher=voucher.voucher,
        verdict=verdict_of_voucher(voucher),
        final=final,
        flash=flash,
        offs=removable_bookings(voucher.rentals, voucher.voucher, just_noted=done and bool(flash.fields.get("noted"))),
        done=done,
        must_confirm=must_confirm,
        states=STATES,
        moves=MOVES,
        undoes=UNDOES,
        said=DONE,
    )


def _card_page(request: RedemptionRequest, card: RedeemableCard, flash: Flash) -> Response:
    return request.render(
        "redemption/gift_card.html",
        found=card,
        card=card.card,
        verdict=verdict_of_card(card),
        states=CARD_STATES,
        flash=flash,
        asks_for_all=acting.asks_for_all(request),
        last=next((hold for hold in card.payments if str(hold.id) == flash.fields.get(acting.DONE)), None),
    )


def must_confirm(voucher: RedeemableVoucher, state: VoucherState) -> bool:
    """True if the change needs a confirmation, because the caller cannot undo it."""
    return state is VoucherState.USED and not voucher.undo_states
