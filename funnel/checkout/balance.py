"""The page of a shop that tells what is left of a voucher or gift card."""

from collections.abc import Mapping

from starlette.responses import Response

from funnel.checkout.request import CheckoutRequest
from funnel.core.messages import N_
from resolvers.order.balance import find_balance
from schema.core.errors import NotFound, TooManyRequests
from schema.order.balance import LONGEST_CODE, CodeBalance
from schema.order.page import IssuedState as State
from store.core.codes import is_mistyped

VERDICTS: Mapping[State, tuple[str, str]] = {
    State.USABLE: (N_("It can be used"), "good"),
    State.NOT_BEGUN: (N_("It can be used from %(date)s on"), "info"),
    State.PAUSED: (N_("It cannot be used at the moment. The shop can tell you why."), "warning"),
    State.USED: (N_("It has been used"), "info"),
    State.EXPIRED: (N_("It has expired"), "warning"),
    State.WITHDRAWN: (N_("It was refunded or cancelled, and can no longer be used"), "warning"),
}
"""What is said about each state, and the tone."""


async def show(request: CheckoutRequest) -> Response:
    """The form."""
    return _page(request)


async def submit(request: CheckoutRequest) -> Response:
    """The answer to a code. It is part of this response and stored nowhere: the code is in no address."""
    code = request.form.get("code", "").strip()[:LONGEST_CODE]
    if not code:
        return _page(request, 422, problem="REQUIRED")
    try:
        balance = await find_balance(request.context, code)
    except NotFound:
        return _page(request, 422, problem="MISTYPED_CODE" if is_mistyped(code) else "UNKNOWN_CODE", typed=code)
    except TooManyRequests as error:
        response = _page(request, error.status, problem="TOO_MANY_REQUESTS", typed=code)
        response.headers["Retry-After"] = str(error.retry_after)
        return response
    return _page(request, balance=balance)


def _page(
    request: CheckoutRequest,
    status: int = 200,
    *,
    problem: str = "",
    typed: str = "",
    balance: CodeBalance | None = None,
) -> Response:
    verdict, tone = VERDICTS[balance.state] if balance is not None else ("", "")
    return request.render(
        "balance.html",
        status,
        errors=[request.field_error("code", problem)] if problem else [],
        flash=None,
        typed=typed,
        balance=balance,
        verdict=verdict,
        tone=tone,
        limit=LONGEST_CODE,
    )
