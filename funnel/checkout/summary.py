"""The last step: the order, or the way back to the shop that wanted its customer back."""

from starlette.responses import Response

from funnel.checkout.request import Visit
from resolvers.checkout import steps as operations
from resolvers.payment import payment
from schema.checkout.checkout import AttemptStatus, Step
from schema.core.errors import NotFound

STEP = Step.SUMMARY


async def show(visit: Visit) -> Response:
    """Thank the customer; before there is an order, lead to where the checkout stands."""
    try:
        outcome = await payment.payment_outcome(visit.context, visit.key)
    except NotFound:
        return visit.to((await operations.open_checkout(visit.context, visit.key)).reached)
    if outcome.status is not AttemptStatus.COMPLETED:
        return visit.redirect(visit.return_path(outcome.attempt_id))
    if outcome.return_url:
        return visit.redirect(outcome.return_url)
    return visit.page("summary.html", current=STEP, outcome=outcome)
