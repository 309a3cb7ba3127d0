"""The third step: the total, coupon and gift card codes, and the redirect to the payment provider and back."""

import re
from collections.abc import Sequence
from decimal import Decimal

from starlette.responses import JSONResponse, Response

from funnel.checkout.information import needs_buyer_address
from funnel.checkout.request import CheckoutRequest
from funnel.core.card_wallets import CardWallet, allow_card_wallets, card_wallets, read_token, tell_script
from funnel.core.flash import Flash
from funnel.core.messages import NOTICES, REFUSALS, ErrorPage
from funnel.core.payment_methods import chosen_method
from funnel.core.polling_page import schedule_poll, should_poll
from resolvers.checkout import steps as operations
from resolvers.payment.apple_pay import open_apple_pay_session
from resolvers.payment.checkout import payment
from schema.checkout.checkout import AgreedTotals, CheckoutStep, PaymentAttemptStatus
from schema.checkout.outcome import PaymentResult
from schema.checkout.view import Checkout
from schema.core.errors import AppError, CartNotFound, InvalidInput, NotFound, PartnerInactive, TooManyRequests
from schema.payment_method import CardToken, PaymentMethod

STEP = CheckoutStep.PAYMENT
REDIRECT_PAGE = "payment/leaving"
REFUSAL_FIELD = "main"
"""The field id of the reason why a payment could not start.

A step that redirects to an earlier one shows it among its errors.
"""
LONGEST_CODE = 100
MOST_DOCUMENTS, LONGEST_ID = 20, 18
AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,4})?")


async def show(request: CheckoutRequest) -> Response:
    """Show everything that will be paid."""
    checkout = await operations.open_checkout(request.context, request.key)
    if back := request.redirect_if_unreached(checkout, STEP):
        return back
    flash = await request.take_flash()
    refusal = next((REFUSALS[code] for place, code in flash.problems if place == REFUSAL_FIELD), None)
    shown = Flash(tuple(problem for problem in flash.problems if problem[0] != REFUSAL_FIELD), flash.fields)
    wallets = _wallets(request, checkout)
    page = request.render(
        "payment.html",
        checkout=checkout,
        current=STEP,
        delivery=checkout.delivery,
        flash=shown,
        home=needs_buyer_address(checkout),
        refusal=refusal,
        wallets=wallets,
    )
    return allow_card_wallets(page, wallets)


def _wallets(request: CheckoutRequest, checkout: Checkout) -> Sequence[CardWallet]:
    """The buttons of Apple Pay and Google Pay. There are none while nothing is left to pay by card."""
    if checkout.is_closed or not checkout.totals.by_card:
        return ()
    return card_wallets(
        request.services.settings,
        checkout.token_methods,
        shop_name=checkout.brand.name,
        country=checkout.seller_country,
        currency=checkout.currency,
        amount=checkout.totals.by_card,
    )


async def start(request: CheckoutRequest) -> Response:
    """Start the payment of the displayed totals. A repeated submission starts no second payment."""
    url, _ = await _start(request, chosen_method(request.form))
    return request.redirect(url)


async def start_by_token(request: CheckoutRequest) -> Response:
    """Charge the card of a token that the browser handed over. Answers the script that sent it."""
    method = chosen_method(request.form)
    token = read_token(request.http_request, request.form)
    try:
        return tell_script(*await _start(request, method, token))
    except CartNotFound:  # it is ordered already, unless this raises NotFound
        outcome = await payment.payment_outcome(request.context, request.key)
        return tell_script(request.return_path(outcome.attempt_id), outcome.status)


async def _start(
    request: CheckoutRequest, method: PaymentMethod | None, token: CardToken | None = None
) -> tuple[str, PaymentAttemptStatus | None]:
    """The page that follows, and what has become of the payment; None if none was started."""
    agreed = _agreed(request)
    base = request.origin + request.return_base
    try:
        started = await payment.start_payment(
            request.context, request.key, agreed, request.language, base, method, token
        )
    except PartnerInactive:  # show the step: a payment that was already started can be finished there
        return request.step_url(STEP), None
    except AppError as error:
        if error.code() not in REFUSALS:
            raise
        await request.flashes.put(request.flash_key, Flash(((REFUSAL_FIELD, error.code()),)))
        return request.step_url(STEP), None
    if started.status is PaymentAttemptStatus.COMPLETED:
        return request.step_url(CheckoutStep.SUMMARY), started.status
    if started.status is PaymentAttemptStatus.WAITING and started.redirect_url:
        return request.storefront_url(REDIRECT_PAGE), started.status
    return request.return_path(started.attempt_id), started.status


async def open_apple_pay(request: CheckoutRequest) -> Response:
    """The session that the browser needs before it shows the sheet of Apple Pay."""
    url = request.form.get("url", "")
    session = await open_apple_pay_session(request.context, url, request.shop.host)
    return JSONResponse(session, headers={"Cache-Control": "no-store"})


def _agreed(request: CheckoutRequest) -> AgreedTotals:
    """What the form says that the customer has seen. Invalid values never match the checkout."""
    total, by_card = (_parse_amount(request.form.get(name, "")) for name in ("total", "by_card"))
    documents = tuple(_parse_id(id) for id in request.form.get("documents", "").split()[:MOST_DOCUMENTS])
    return AgreedTotals(total, by_card, documents)


def _parse_id(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID else -1


def _parse_amount(text: str) -> Decimal:
    """An amount of the form; -1 if it is invalid, so that it never matches the total."""
    return Decimal(text) if AMOUNT.fullmatch(text) else Decimal(-1)


async def redirect_to_provider(request: CheckoutRequest) -> Response:
    """Redirect to the provider's page if this browser's payment is still open."""
    checkout = await operations.open_checkout(request.context, request.key)
    if checkout.pending_payment_url is None or not checkout.pending_payment_url.startswith(("https://", "http://")):
        return request.redirect_to_step(STEP)
    response = request.render(
        "leaving.html", checkout=checkout, current=STEP, provider_url=checkout.pending_payment_url
    )
    response.headers["Refresh"] = f"0; url={checkout.pending_payment_url}"
    return response


async def return_from_provider(request: CheckoutRequest) -> Response:
    """The return URL of the provider: show the result of the payment."""
    attempt_id = request.http_request.path_params["attempt_id"]
    try:
        outcome = await payment.settle_payment(request.context, request.session_id, attempt_id)
    except NotFound:
        return request.render_error(ErrorPage.OTHER_BROWSER, 404)
    if outcome.status is PaymentAttemptStatus.COMPLETED:
        return request.redirect_to_step(CheckoutStep.SUMMARY)
    if outcome.status is PaymentAttemptStatus.WAITING:
        return _waiting_page(request, outcome)
    assert outcome.notice is not None, "only completed and waiting payments have no notice"
    return request.render(
        "outcome.html", current=STEP, notice=outcome.notice, outcome=outcome, told=NOTICES[outcome.notice]
    )


def _waiting_page(request: CheckoutRequest, outcome: PaymentResult) -> Response:
    path = request.return_path(outcome.attempt_id)
    automatic = should_poll(request.http_request)
    response = request.render("waiting.html", again=path, automatic=automatic, current=STEP, outcome=outcome)
    return schedule_poll(response, request.http_request, path)


async def cancel(request: CheckoutRequest) -> Response:
    """Cancel an open payment, so that the order can be changed."""
    checkout = await payment.cancel_payment(request.context, request.key)
    next_step = CheckoutStep.CUSTOMIZATION if request.form.get("next") == CheckoutStep.CUSTOMIZATION else STEP
    return request.redirect_if_unreached(checkout, next_step) or request.redirect_to_step(next_step)


async def change_codes(request: CheckoutRequest) -> Response:
    """Apply the typed coupon or gift card code, or remove one."""
    if unwanted := request.form.get("remove"):
        await operations.remove_code(request.context, request.key, unwanted[:LONGEST_CODE])
        return request.redirect_to_step(STEP, "codes")
    code = request.form.get("code", "").strip()[:LONGEST_CODE]
    if not code:
        return await request.redirect_with_errors(STEP, Flash((("code", "REQUIRED"),)), "code")
    try:
        await operations.apply_code(request.context, request.key, code)
    except InvalidInput as error:
        return await request.redirect_with_errors(STEP, Flash.of(error.problems, {"code": code}), "code")
    except TooManyRequests as error:
        return await request.redirect_with_errors(STEP, Flash((("code", error.code()),), {"code": code}), "code")
    return request.redirect_to_step(STEP, "codes")
