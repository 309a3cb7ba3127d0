"""The payment page: what is to be paid, the button, the redirect to the payment provider, and the way back."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from funnel.core.card_wallets import CardWallet, allow_card_wallets, card_wallets, read_token, tell_script
from funnel.core.flash import Flash
from funnel.core.payment_methods import chosen_method
from funnel.core.polling_page import schedule_poll, should_poll
from funnel.paying.request import PayingRequest
from funnel.paying.texts import DECLINED, FAILURES, MESSAGES, START_FAILURES
from resolvers.payment.apple_pay import open_apple_pay_session
from resolvers.payment.page import page as operations
from schema.checkout.checkout import PaymentAttemptStatus
from schema.core.errors import AppError
from schema.payment.errors import PaymentEnded
from schema.payment.page import PaymentPageState as State
from schema.payment_method import CardToken

BUTTON, LEAVING, RETURN = "button", "leaving", "return"
TOKEN, APPLE_PAY = "token", "apple-pay"
OUTCOMES = {
    State.PAID: PaymentAttemptStatus.COMPLETED,
    State.CHECKING: PaymentAttemptStatus.WAITING,
    State.AT_PROVIDER: PaymentAttemptStatus.WAITING,
}
"""How a payment by token has ended, if it has not failed."""


async def show(request: PayingRequest) -> Response:
    """The linked page. It changes nothing and calls no provider, so link scanners may open it."""
    page = request.page
    if page.state in MESSAGES:
        return request.render("paying/ended.html", page=page, told=MESSAGES[page.state])
    if page.state is State.CHECKING:
        return _waiting_page(request)
    notes = [START_FAILURES[code] for _, code in (await request.take_flash(BUTTON)).problems]
    if not notes and page.state is State.DECLINED:
        notes = [FAILURES.get(page.failure_reason, DECLINED)]
    wallets = _wallets(request)
    response = request.render(
        "paying/page.html",
        page=page,
        notes=notes,
        leaving=request.path(LEAVING),
        again=request.path(RETURN),
        wallets=wallets,
        token_url=request.path(TOKEN),
        apple_url=request.path(APPLE_PAY),
    )
    return allow_card_wallets(response, wallets)


def _wallets(request: PayingRequest) -> Sequence[CardWallet]:
    """The buttons of Apple Pay and Google Pay, while no other try is open."""
    page = request.page
    if page.provider_url:
        return ()
    return card_wallets(
        request.services.settings,
        page.token_methods,
        shop_name=page.brand.name,
        country=page.seller_country,
        currency=page.currency,
        amount=page.card_amount,
    )


async def pay(request: PayingRequest) -> Response:
    """The button: begin to pay, or continue. A repeated submission begins nothing else."""
    try:
        url = await _begin(request)
    except PaymentEnded:  # it was paid, or has ended meanwhile: the page shows it
        return request.redirect_to_start()
    except AppError as error:
        if error.code() not in START_FAILURES:
            raise
        return await request.redirect_with_error(BUTTON, error.code())
    return request.redirect(request.path(LEAVING if url else RETURN))


async def pay_by_token(request: PayingRequest) -> Response:
    """Charge the card of a token that the browser handed over. Answers the script that sent it."""
    card = read_token(request.http_request, request.form)
    try:
        if await _begin(request, card):
            return tell_script(request.path(LEAVING), PaymentAttemptStatus.WAITING)
    except PaymentEnded:  # it was paid in another tab, or has ended meanwhile
        return await _tell_outcome(request, request.start)
    except AppError as error:
        if error.code() not in START_FAILURES:
            raise
        await request.put_flash(BUTTON, Flash(((BUTTON, error.code()),)))
        return tell_script(request.start)
    return await _tell_outcome(request, request.path(RETURN))


async def _tell_outcome(request: PayingRequest, url: str) -> Response:
    """The answer to the script: how the payment has ended, and the page that follows."""
    page = await operations.payment_page(request.context, request.token)
    return tell_script(url, OUTCOMES.get(page.state))


async def _begin(request: PayingRequest, card: CardToken | None = None) -> str:
    """Where to go on at the provider; empty if the outcome is known already."""
    url = request.services.settings.public_url + request.path(RETURN)
    method = chosen_method(request.form)
    return await operations.pay_by_link(request.context, request.token, url, request.language, method, card)


async def open_apple_pay(request: PayingRequest) -> Response:
    """The session that the browser needs before it shows the sheet of Apple Pay."""
    host = urlsplit(request.origin).netloc
    session = await open_apple_pay_session(request.context, request.form.get("url", ""), host)
    return JSONResponse(session, headers={"Cache-Control": "no-store"})


async def redirect_to_provider(request: PayingRequest) -> Response:
    """Redirect to the provider's page, while a try is open there."""
    url = request.page.provider_url
    if not url.startswith(("https://", "http://")):
        return request.redirect_to_start()
    response = request.render("leaving.html", provider_url=url)
    response.headers["Refresh"] = f"0; url={url}"
    return response


async def return_from_provider(request: PayingRequest) -> Response:
    """The return URL of the provider. It asks the provider for the outcome of an open try."""
    await request.check_form_limit()
    request.page = await operations.return_to_payment_page(request.context, request.token)
    if request.page.state in {State.AT_PROVIDER, State.CHECKING}:
        return _waiting_page(request)
    return request.redirect_to_start()


def _waiting_page(request: PayingRequest) -> Response:
    """The outcome is not known yet. The page looks again by itself for a while."""
    again, automatic = request.path(RETURN), should_poll(request.http_request)
    response = request.render(
        "paying/waiting.html",
        page=request.page,
        again=again,
        automatic=automatic,
        leaving=request.path(LEAVING) if request.page.provider_url else "",
    )
    return schedule_poll(response, request.http_request, again)
