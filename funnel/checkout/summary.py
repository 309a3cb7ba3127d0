"""The last step: a redirect to the page of the order, or to the shop's own return URL."""

from starlette.responses import Response

from funnel.checkout.request import CheckoutRequest
from resolvers.checkout import steps as operations
from resolvers.payment.checkout import payment
from schema.checkout.checkout import PaymentAttemptStatus
from schema.core.errors import NotFound


async def show(request: CheckoutRequest) -> Response:
    """Redirect to the page of the order. Without an order, redirect to the current step of the checkout."""
    try:
        outcome = await payment.payment_outcome(request.context, request.key)
    except NotFound:
        return request.redirect_to_step((await operations.open_checkout(request.context, request.key)).furthest_step)
    if outcome.status is not PaymentAttemptStatus.COMPLETED:
        return request.redirect(request.return_path(outcome.attempt_id))
    return request.redirect(outcome.return_url or outcome.order_path)
