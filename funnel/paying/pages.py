"""The payment page: what is to be paid, the button, the redirect to the payment provider, and the way back."""

from starlette.responses import Response

from funnel.core.payment_methods import chosen_method
from funnel.core.polling_page import schedule_poll, should_poll
from funnel.paying.request import PayingRequest
from funnel.paying.texts import DECLINED, FAILURES, MESSAGES, START_FAILURES
from resolvers.payment.page import page as operations
from schema.core.errors import AppError
from schema.payment.errors import PaymentEnded
from schema.payment.page import PaymentPageState as State

BUTTON, LEAVING, RETURN = "button", "leaving", "return"


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
    return request.render(
        "paying/page.html", page=page, notes=notes, leaving=request.path(LEAVING), again=request.path(RETURN)
    )


async def pay(request: PayingRequest) -> Response:
    """The button: begin to pay, or continue. A repeated submission begins nothing else."""
    try:
        url = await operations.pay_by_link(
            request.context,
            request.token,
            request.context.services.settings.public_url + request.path(RETURN),
            request.language,
            chosen_method(request.form),
        )
    except PaymentEnded:  # it was paid, or has ended meanwhile: the page shows it
        return request.redirect_to_start()
    except AppError as error:
        if error.code() not in START_FAILURES:
            raise
        return await request.redirect_with_error(BUTTON, error.code())
    return request.redirect(request.path(LEAVING if url else RETURN))


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
