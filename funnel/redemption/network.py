"""Network gift cards and network vouchers: their pages, and the actions of staff, each of which leads back to the page."""

from pydantic import ValidationError
from starlette.responses import Response

from funnel.checkout.basket_form import parse_id
from funnel.core.flash import Flash
from funnel.redemption.acting import (
    ALL,
    DONE,
    Refusals,
    act,
    asks_for_all,
    require_code,
    typed_amount,
    typed_id,
    typed_reference,
    wrong_amount,
)
from funnel.redemption.network_texts import (
    NETWORK_CARD_STATES,
    NETWORK_VOUCHER_STATES,
    verdict_of_network_card,
    verdict_of_network_voucher,
)
from funnel.redemption.request import RedemptionRequest
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.network.redemption import RedeemableNetworkCard, RedeemableNetworkVoucher
from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
from schema.core.errors import FrozenByDispute, InsufficientBalance, InvalidInput, PartnerInactive
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
        asks_for_all=asks_for_all(request) and redeemable.card.is_splittable,
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
    typed, amount = typed_amount(request)
    if request.form.get("ask") == ALL:
        return await request.redirect_with_flash(Flash(fields={"reference": typed["reference"]}), to=ALL)
    if amount is None:
        return await request.redirect_with_flash(wrong_amount(typed))
    try:
        used = UseNetworkGiftCard(
            code=request.code, value=amount, partner_id=request.shop.partner_id, reservation_id=typed["reference"]
        )
    except ValidationError:
        return await request.redirect_with_flash(Flash((("amount", "INVALID"),), typed))
    refusals = [
        ((InsufficientBalance,), Flash((("amount", "INSUFFICIENT"),), typed)),
        (REFUSALS, Flash((("card", "CHANGED"),))),
    ]
    return await act(request, lambda once: use_network_gift_card.respond(request.context, once, used), refusals)


async def cancel_card_usage(request: RedemptionRequest) -> Response:
    """Put back what a usage took of a network gift card."""
    cancelled = CancelNetworkGiftCardUsage(id=typed_id(request, "usage"))
    return await act(
        request,
        lambda once: cancel_network_gift_card_usage.respond(request.context, once, cancelled),
        _refusals_to_cancel("card"),
    )


async def use_voucher(request: RedemptionRequest) -> Response:
    """Use a network voucher once, with an offer of this partner."""
    require_code(request)
    typed = {"offer": request.form.get("offer", ""), "reference": typed_reference(request)}
    used = UseNetworkVoucher(
        code=request.code,
        partner_id=request.shop.partner_id,
        offer_id=parse_id(typed["offer"]),
        reservation_id=typed["reference"],
    )
    changed = REFUSALS, Flash((("voucher", "CHANGED"),))
    try:
        return await act(request, lambda once: use_network_voucher.respond(request.context, once, used), [changed])
    except InvalidInput as error:
        if any(problem.path[:1] == ("offer_id",) for problem in error.problems):
            code = "REQUIRED" if used.offer_id is None else "GONE"
            return await request.redirect_with_flash(Flash((("offer", code),), typed))
        raise


async def cancel_voucher_usage(request: RedemptionRequest) -> Response:
    """Undo a usage of a network voucher."""
    cancelled = CancelNetworkVoucherUsage(id=typed_id(request, "usage"))
    return await act(
        request,
        lambda once: cancel_network_voucher_usage.respond(request.context, once, cancelled),
        _refusals_to_cancel("voucher"),
    )


def _refusals_to_cancel(place: str) -> Refusals:
    """What the page shows at `place` if a usage cannot be cancelled any more."""
    return [
        ((UsageInPayout,), Flash(((place, "PAID_OUT"),))),
        ((NotUsable, UsageOfPayment), Flash(((place, "CHANGED"),))),
    ]


def _last(redeemable: RedeemableNetworkCard | RedeemableNetworkVoucher, flash: Flash) -> object:
    """The usage that was just recorded or cancelled; None if there is none."""
    return next((usage for usage in redeemable.usages if str(usage.id) == flash.fields.get(DONE)), None)
