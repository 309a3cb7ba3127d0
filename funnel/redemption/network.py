"""Network gift cards and network vouchers: their pages, and the actions of staff, each of which leads back to the page."""

import re
from collections.abc import Awaitable, Callable

from pydantic import ValidationError
from starlette.responses import Response

from funnel.checkout.basket_form import parse_id
from funnel.core.flash import Flash
from funnel.redemption.actions import LONGEST_REFERENCE, NOT_OURS, parse_amount, require_code
from funnel.redemption.double_submit import run_once
from funnel.redemption.network_texts import (
    NETWORK_CARD_STATES,
    NETWORK_VOUCHER_STATES,
    verdict_of_network_card,
    verdict_of_network_voucher,
)
from funnel.redemption.request import RedemptionRequest
from resolvers.core.idempotency import IdempotentRequest, StoredResponse
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.network.redemption import RedeemableNetworkCard, RedeemableNetworkVoucher
from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
from schema.core.errors import FrozenByDispute, InsufficientBalance, InvalidInput, NotFound, PartnerInactive
from schema.network.errors import (
    Deactivated,
    Expired,
    LiveMoneyRefused,
    NotSplittable,
    NotUsable,
    NotYetValid,
    NoUsageLeft,
    PartnerNotLinked,
    PartnerWithoutOffer,
    TooLongAfterFirstUsage,
    UsageInPayout,
    UsageOfPayment,
)
from schema.network.gift_card_input import CancelNetworkGiftCardUsage, UseNetworkGiftCard
from schema.network.voucher_input import CancelNetworkVoucherUsage, UseNetworkVoucher

REFUSALS = (
    FrozenByDispute,
    NotUsable,
    Expired,
    Deactivated,
    NotYetValid,
    NotSplittable,
    NoUsageLeft,
    TooLongAfterFirstUsage,
    PartnerNotLinked,
    PartnerInactive,
    PartnerWithoutOffer,
    LiveMoneyRefused,
)
"""What the page says as soon as it is loaded again: something has changed since staff have seen it."""


def show_card(request: RedemptionRequest, redeemable: RedeemableNetworkCard, flash: Flash) -> Response:
    """Show what is left of a network gift card, and the usages here."""
    return request.render(
        "redemption/network_gift_card.html",
        found=redeemable,
        card=redeemable.card,
        verdict=verdict_of_network_card(redeemable),
        states=NETWORK_CARD_STATES,
        flash=flash,
        last=_last(redeemable, flash),
    )


def show_voucher(request: RedemptionRequest, redeemable: RedeemableNetworkVoucher, flash: Flash) -> Response:
    """Show what a network voucher is of, the offers of this partner for it, and the usages here."""
    return request.render(
        "redemption/network_voucher.html",
        found=redeemable,
        voucher=redeemable.voucher,
        verdict=verdict_of_network_voucher(redeemable),
        states=NETWORK_VOUCHER_STATES,
        flash=flash,
        last=_last(redeemable, flash),
    )


async def use_card(request: RedemptionRequest) -> Response:
    """Take an amount of a network gift card for this partner."""
    require_code(request)
    typed = {"amount": request.form.get("amount", "").strip()[:LONGEST_REFERENCE], "reference": _reference(request)}
    amount = parse_amount(typed["amount"])
    if amount is None:
        return await request.redirect_with_flash(
            Flash((("amount", "REQUIRED" if not typed["amount"] else "INVALID"),), typed)
        )
    try:
        used = UseNetworkGiftCard(
            code=request.code, value=amount, partner_id=request.shop.partner_id, reservation_id=typed["reference"]
        )
    except ValidationError:
        return await request.redirect_with_flash(Flash((("amount", "INVALID"),), typed))
    try:
        usage_id = await run_once(request, lambda once: use_network_gift_card.respond(request.context, once, used))
    except InsufficientBalance:
        return await request.redirect_with_flash(Flash((("amount", "INSUFFICIENT"),), typed))
    except REFUSALS:
        return await request.redirect_with_flash(Flash((("card", "CHANGED"),)))
    except NotFound:
        return request.redirect(request.code_url())
    return await request.redirect_with_flash(Flash(fields={"usage": str(usage_id)}))


async def cancel_card_usage(request: RedemptionRequest) -> Response:
    """Put back what a usage took of a network gift card."""
    cancelled = CancelNetworkGiftCardUsage(id=_usage_id(request))
    return await _cancel(
        request, "card", lambda once: cancel_network_gift_card_usage.respond(request.context, once, cancelled)
    )


async def use_voucher(request: RedemptionRequest) -> Response:
    """Use a network voucher once, with an offer of this partner."""
    require_code(request)
    typed = {"offer": request.form.get("offer", ""), "reference": _reference(request)}
    used = UseNetworkVoucher(
        code=request.code,
        partner_id=request.shop.partner_id,
        offer_id=parse_id(typed["offer"]),
        reservation_id=typed["reference"],
    )
    try:
        usage_id = await run_once(request, lambda once: use_network_voucher.respond(request.context, once, used))
    except InvalidInput as error:
        if any(problem.path[:1] == ("offer_id",) for problem in error.problems):
            code = "REQUIRED" if used.offer_id is None else "GONE"
            return await request.redirect_with_flash(Flash((("offer", code),), typed))
        raise
    except REFUSALS:
        return await request.redirect_with_flash(Flash((("voucher", "CHANGED"),)))
    except NotFound:
        return request.redirect(request.code_url())
    return await request.redirect_with_flash(Flash(fields={"usage": str(usage_id)}))


async def cancel_voucher_usage(request: RedemptionRequest) -> Response:
    """Undo a usage of a network voucher."""
    cancelled = CancelNetworkVoucherUsage(id=_usage_id(request))
    return await _cancel(
        request, "voucher", lambda once: cancel_network_voucher_usage.respond(request.context, once, cancelled)
    )


async def _cancel(
    request: RedemptionRequest, place: str, respond: Callable[[IdempotentRequest], Awaitable[StoredResponse]]
) -> Response:
    """Cancel a usage by its operation. `place` is where the page shows a refusal."""
    try:
        usage_id = await run_once(request, respond)
    except UsageInPayout:
        return await request.redirect_with_flash(Flash(((place, "PAID_OUT"),)))
    except (NotUsable, UsageOfPayment):
        return await request.redirect_with_flash(Flash(((place, "CHANGED"),)))
    except NotFound:
        return request.redirect(request.code_url())
    return await request.redirect_with_flash(Flash(fields={"usage": str(usage_id)}))


def _usage_id(request: RedemptionRequest) -> int:
    require_code(request)
    typed = request.form.get("usage", "")
    if not re.fullmatch("[1-9][0-9]{0,8}", typed):
        raise InvalidInput.at("usage", NOT_OURS)
    return int(typed)


def _reference(request: RedemptionRequest) -> str:
    """The typed reference, on one line."""
    return " ".join(request.form.get("reference", "").split())[:LONGEST_REFERENCE]


def _last(redeemable: RedeemableNetworkCard | RedeemableNetworkVoucher, flash: Flash) -> object:
    """The usage that was just recorded or cancelled; None if there is none."""
    return next((usage for usage in redeemable.usages if str(usage.id) == flash.fields.get("usage")), None)
