"""The second step: who buys, and where it goes."""

import dataclasses

from starlette.responses import Response

from funnel.checkout.request import Visit
from funnel.core.flash import Flash
from resolvers.checkout import steps as operations
from resolvers.checkout.buyer import LENGTHS
from schema.checkout.basket import BagCheckout
from schema.checkout.checkout import Buyer, Checkout, DeliveryOption, Step
from schema.core.errors import InvalidInput, Problem
from schema.delivery import DeliveryKind

STEP = Step.INFORMATION
PERSON = ("first_name", "last_name", "email", "phone")
PARCEL = ("recipient_name", "address_line_1", "address_line_2", "postal_code", "city", "country")
FIELDS = (*PERSON, *PARCEL, "message")
"""In the order of the page."""
LONGEST_TYPED = 2000
"""Of what is kept of a field to show it again; what fits is for the operation to say."""


async def show(visit: Visit) -> Response:
    """The step with what is known of the buyer, or, after a refusal, as it was typed."""
    checkout = await operations.open_checkout(visit.context, visit.key)
    if back := visit.sent_back(checkout, STEP):
        return back
    flash = await visit.flashes.take(visit.place)
    delivery = chosen_delivery(checkout)
    buyer = checkout.buyer or Buyer()
    shown = {name: flash.fields.get(name, getattr(buyer, name)) for name in LENGTHS}
    shown["country"] = shown["country"] or checkout.country or visit.shop.country
    return visit.page(
        "information.html",
        checkout=checkout,
        current=STEP,
        delivery=delivery,
        flash=flash,
        home=goes_home(checkout),
        asks_for_message=not visit.counter.has_window,
        limits=LENGTHS,
        values=shown,
    )


async def identify(visit: Visit) -> Response:
    """Keep who buys; fields that this page does not show stay as they were."""
    checkout = await operations.open_checkout(visit.context, visit.key)
    if back := visit.sent_back(checkout, STEP):
        return back
    typed = {name: visit.form[name][:LONGEST_TYPED] for name in LENGTHS if name in visit.form}
    buyer = dataclasses.replace(checkout.buyer or Buyer(), **typed)
    try:
        await operations.identify_buyer(visit.context, visit.key, buyer)
    except InvalidInput as error:
        return await visit.refused(STEP, Flash.of(sorted(error.problems, key=_place), typed))
    return visit.to(Step.PAYMENT)


def chosen_delivery(checkout: Checkout) -> DeliveryOption | None:
    """The delivery that was chosen."""
    return next((option for option in checkout.deliveries if option.id == checkout.delivery_id), None)


def goes_home(checkout: Checkout) -> bool:
    """Whether it is sent to an address that the buyer gives."""
    if isinstance(checkout, BagCheckout):
        return checkout.reception is not None and checkout.reception.needs_buyer_address
    delivery = chosen_delivery(checkout)
    return delivery is not None and delivery.kind is DeliveryKind.HOME_DELIVERY


def _place(problem: Problem) -> int:
    return FIELDS.index(str(problem.path[0]))
