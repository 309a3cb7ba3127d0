"""The third step: what exactly is paid, codes, and the way to the payment provider and back."""

import re
from decimal import Decimal

from starlette.responses import Response

from funnel.checkout.information import chosen_delivery, goes_home
from funnel.checkout.request import Visit
from funnel.core.flash import Flash
from funnel.core.messages import NOTICES, REFUSALS, Ending
from funnel.core.polling_page import look_again, looks_again
from resolvers.checkout import steps as operations
from resolvers.payment import payment
from schema.checkout.checkout import Agreed, AttemptStatus, Step
from schema.checkout.outcome import Outcome
from schema.core.errors import AppError, InvalidInput, NotFound, PartnerInactive, TooManyRequests

STEP = Step.PAYMENT
LEAVING = "payment/leaving"
PLACE = "main"
"""Where it is told why a payment could not begin; another step, where that leads back to one, tells it among what is wrong."""
LONGEST_CODE = 100
AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,4})?")


async def show(visit: Visit) -> Response:
    """Everything that will be paid."""
    checkout = await operations.open_checkout(visit.context, visit.key)
    if back := visit.sent_back(checkout, STEP):
        return back
    flash = await visit.flashes.take(visit.place)
    refusal = next((REFUSALS[code] for place, code in flash.problems if place == PLACE), None)
    shown = Flash(tuple(problem for problem in flash.problems if problem[0] != PLACE), flash.fields)
    return visit.page(
        "payment.html",
        checkout=checkout,
        current=STEP,
        delivery=chosen_delivery(checkout),
        flash=shown,
        home=goes_home(checkout),
        refusal=refusal,
    )


async def start(visit: Visit) -> Response:
    """Begin to pay what the page showed; pressed twice it is begun once."""
    agreed = Agreed(_amount(visit.form.get("total", "")), _amount(visit.form.get("by_card", "")))
    base = visit.origin + visit.return_base
    try:
        started = await payment.start_payment(visit.context, visit.key, agreed, visit.language, base)
    except PartnerInactive:  # a payment that was begun before can be finished there
        return visit.to(STEP)
    except AppError as error:
        if error.code() not in REFUSALS:
            raise
        return await visit.refused(STEP, Flash(((PLACE, error.code()),)))
    if started.status is AttemptStatus.COMPLETED:
        return visit.to(Step.SUMMARY)
    return visit.redirect(visit.below(LEAVING) if started.redirect_url else visit.return_path(started.attempt_id))


def _amount(given: str) -> Decimal:
    """An amount as the page wrote it; one that nobody agrees to when it is none."""
    return Decimal(given) if AMOUNT.fullmatch(given) else Decimal(-1)


async def leave(visit: Visit) -> Response:
    """Lead on to the provider's page, where the payment of this browser is still open."""
    checkout = await operations.open_checkout(visit.context, visit.key)
    if checkout.pending_url is None or not checkout.pending_url.startswith(("https://", "http://")):
        return visit.to(STEP)
    response = visit.page("leaving.html", checkout=checkout, current=STEP, provider_url=checkout.pending_url)
    response.headers["Refresh"] = f"0; url={checkout.pending_url}"
    return response


async def come_back(visit: Visit) -> Response:
    """Where the provider sends customers to, whatever happened: tell what did."""
    attempt_id = visit.request.path_params["attempt_id"]
    try:
        outcome = await payment.settle_payment(visit.context, visit.session_id, attempt_id)
    except NotFound:
        return visit.ending(Ending.OTHER_BROWSER, 404)
    if outcome.status is AttemptStatus.COMPLETED:
        return visit.to(Step.SUMMARY)
    if outcome.status is AttemptStatus.WAITING:
        return _waiting(visit, outcome)
    assert outcome.notice is not None, "a payment that did not become an order says why"
    return visit.page(
        "outcome.html", current=STEP, notice=outcome.notice, outcome=outcome, told=NOTICES[outcome.notice]
    )


def _waiting(visit: Visit, outcome: Outcome) -> Response:
    path = visit.return_path(outcome.attempt_id)
    automatic = looks_again(visit.request)
    response = visit.page("waiting.html", again=path, automatic=automatic, current=STEP, outcome=outcome)
    return look_again(response, visit.request, path)


async def cancel(visit: Visit) -> Response:
    """Give an open payment up, to change the order."""
    checkout = await payment.cancel_payment(visit.context, visit.key)
    wanted = Step.CUSTOMIZATION if visit.form.get("next") == Step.CUSTOMIZATION else STEP
    return visit.sent_back(checkout, wanted) or visit.to(wanted)


async def change_codes(visit: Visit) -> Response:
    """Add the coupon or gift card that was typed, or take one off."""
    if unwanted := visit.form.get("remove"):
        await operations.remove_code(visit.context, visit.key, unwanted[:LONGEST_CODE])
        return visit.to(STEP, "codes")
    code = visit.form.get("code", "").strip()[:LONGEST_CODE]
    if not code:
        return await visit.refused(STEP, Flash((("code", "REQUIRED"),)))
    try:
        await operations.apply_code(visit.context, visit.key, code)
    except InvalidInput as error:
        return await visit.refused(STEP, Flash.of(error.problems, {"code": code}))
    except TooManyRequests as error:
        return await visit.refused(STEP, Flash((("code", error.code()),), {"code": code}))
    return visit.to(STEP, "codes")
