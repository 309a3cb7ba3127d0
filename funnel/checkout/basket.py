"""The first step of vouchers and gift cards: the form of one of them, or the list of what has been chosen."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from funnel.checkout import basket_form
from funnel.checkout.basket_form import Problems, country_of, pressed, reception_of, stepped
from funnel.checkout.basket_messages import PROBLEMS, asked_of, bag_error
from funnel.checkout.request import Visit
from funnel.checkout.shop_window import current_bag
from funnel.core.flash import Flash
from funnel.core.forms import Form
from funnel.core.messages import Ending
from funnel.core.page_request import FieldError
from resolvers.checkout import basket
from resolvers.checkout.giftee import LENGTHS, WRITTEN
from schema.checkout.basket import (
    BagCheckout,
    BagChoice,
    BagLine,
    BagProblem,
    GiftCardChoice,
    OfferedGiftCards,
    OfferedPrototype,
    VoucherChoice,
)
from schema.checkout.checkout import ShopKind, Step
from schema.core.errors import CartNotFound, InvalidInput, NotFound
from store.catalogue.prices import fewest_nights
from store.core.localization import Formats

STEP = Step.CUSTOMIZATION
CHANGE = "CHANGE"
"""The code of a line whose own form has to be opened to put it right."""
MISSING = {"REQUIRED"}
"""What a preview does not complain of: it may still be chosen."""
FIELDS = {BagProblem.GIFTEE_EMAIL_MISSING: "giftee-email", BagProblem.GIFTEE_ADDRESS_MISSING: "giftee-address_line_1"}
"""Where a line's problem is put right, in its form."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The voucher or gift card whose form is open."""

    line_id: uuid.UUID
    prototype: OfferedPrototype | None
    """The experience; None for a gift card."""
    choice: BagChoice
    mistyped: Problems = ()


async def show(visit: Visit) -> Response:
    """The form of the line or experience that the address names; without one what has been chosen."""
    if visit.cart_id is None:
        return await begin(visit)
    opened_by = _opened_by(visit)
    try:
        bag = await basket.open_bag(visit.context, visit.key)
    except CartNotFound:
        if not {"prototype", "new"} & opened_by.keys():
            raise
        return visit.redirect(visit.below(STEP, **opened_by, cart=uuid.uuid4()))
    flash = await visit.flashes.take(visit.place)
    try:
        opened = await _opened(visit, bag, flash.fields)
    except NotFound:
        return visit.ending(Ending.NOT_SOLD, 404)
    return await _page(visit, bag, opened, flash)


async def begin(visit: Visit) -> Response:
    """Lead to what this browser has chosen already, else to an empty bag."""
    bag = await current_bag(visit)
    return visit.redirect(visit.below(STEP, **_opened_by(visit), cart=bag.key.cart_id))


async def preview(visit: Visit) -> Response:
    """What the form would come to, as a piece of page for the script; nothing of it is kept."""
    bag = await basket.open_bag(visit.context, visit.key)
    opened = await _opened(visit, bag, visit.form)
    return await _page(visit, bag, opened, Flash(fields=visit.form), layout="piece.html")


async def choose(visit: Visit) -> Response:
    """Keep the form, do what its button says."""
    form, button = stepped(visit.form), pressed(visit.form)
    if button.name == "remove":
        if (unwanted := basket_form.uuid_of(button.of)) is not None:
            await basket.remove_line(visit.context, visit.key, unwanted)
        return visit.to(STEP, "lines")
    bag = await basket.open_bag(visit.context, visit.key)
    opened = await _opened(visit, bag, form)
    if opened is not None and button.name in {"more", "less", "update"}:
        return await _again(visit, Flash(fields=form), _opened_by(visit))
    problems: Problems = ()
    if opened is not None:
        problems = await _put(visit, opened)
        if problems:
            return await _again(visit, Flash(problems, form), _opened_by(visit))
    bag, problems = await _received(visit, form)
    if button.name == "another":
        return _another(visit)
    if button.name != "continue":
        return visit.to(STEP)
    problems = problems or _missing(bag, opened)
    if not problems:
        return visit.to(Step.INFORMATION)
    if opened is not None and all(not place.startswith("line-") for place, _ in problems):
        return await _again(visit, Flash(problems, form), {"line": str(opened.line_id)})
    return await visit.refused(STEP, Flash(problems))


# ---- which form is open ------------------------------------------------------------------------------------------------


async def _opened(visit: Visit, bag: BagCheckout, form: Form) -> Opened | None:
    """The form that is open, with what has been typed into it."""
    query = visit.request.query_params
    wanted = basket_form.line_of(form) or basket_form.line_of(query)
    line = next((line for line in bag.bag if line.id == wanted), None)
    if visit.counter.kind is ShopKind.GIFT_CARDS:
        return _gift_card(bag, line, form, wanted, begun="new" in query)
    prototype_id = line.choice.prototype_id if line and isinstance(line.choice, VoucherChoice) else None
    if prototype_id is None and "prototype" in query:
        prototype_id = basket_form.id_of(query["prototype"]) or 0
    if prototype_id is None:
        return None
    prototype = await basket.open_prototype(visit.context, prototype_id)
    if "line" in form:
        return Opened(wanted or uuid.uuid4(), prototype, *basket_form.read_voucher(form, prototype))
    choice = line.choice if line else basket_form.first_choice(prototype)
    return Opened(line.id if line else uuid.uuid4(), prototype, choice)


def _gift_card(
    bag: BagCheckout, line: BagLine | None, form: Form, wanted: uuid.UUID | None, *, begun: bool
) -> Opened | None:
    """The gift card whose form is open: an empty bag begins with one."""
    if "line" in form:
        return Opened(wanted or uuid.uuid4(), None, *basket_form.read_gift_card(form))
    if line is not None:
        return Opened(line.id, None, line.choice)
    if bag.bag and not begun:
        return None
    assert bag.gift_cards is not None, "a shop that sells none opens no bag"
    suggested = bag.gift_cards.suggested or (bag.gift_cards.minimum,)
    return Opened(uuid.uuid4(), None, GiftCardChoice(suggested[len(suggested) // 2]))


# ---- keeping it --------------------------------------------------------------------------------------------------------


async def _put(visit: Visit, opened: Opened) -> Problems:
    """Put the open line into the bag; answers what is wrong with it."""
    if opened.mistyped:
        return opened.mistyped
    try:
        await basket.put_line(visit.context, visit.key, opened.line_id, opened.choice)
    except InvalidInput as error:
        return places(error)
    return ()


async def _received(visit: Visit, form: Form) -> tuple[BagCheckout, Problems]:
    """Keep how it is to be received; answers what is wrong with that."""
    wanted = reception_of(form)
    if wanted is None:
        return await basket.open_bag(visit.context, visit.key), ()
    try:
        return await basket.choose_reception(visit.context, visit.key, *wanted, country_of(form)), ()
    except InvalidInput as error:
        return await basket.open_bag(visit.context, visit.key), places(error)


def places(error: InvalidInput) -> Problems:
    """What an operation refuses, as ids of fields and codes: the first of each field."""
    found: dict[str, str] = {}
    for problem in error.problems:
        found.setdefault(_place(problem.path), problem.code)
    return tuple(found.items())


def _place(path: Sequence[object]) -> str:
    within = {"options": "option", "categories": "category", "giftee": "giftee"}
    first = str(path[0]) if path else ""
    if first == "reception":
        return "delivery"
    return f"{within[first]}-{path[1]}" if first in within and len(path) > 1 else first


def _missing(bag: BagCheckout, opened: Opened | None) -> Problems:
    """Why the next step can't be opened: places and codes."""
    found = [
        (FIELDS[line.problem], line.problem.name)
        if opened is not None and line.id == opened.line_id and line.problem in FIELDS
        else (f"line-{at}", CHANGE)
        for at, line in enumerate(bag.bag)
        if line.problem is not None
    ]
    if not bag.bag:
        found.append(("lines", "NOTHING_IN_BAG"))
    elif bag.reception is None:
        found.append(("delivery", "DELIVERY_REQUIRED"))
    return tuple(found)


async def _again(visit: Visit, flash: Flash, query: Mapping[str, str]) -> Response:
    """Lead back to the form that is open, which then shows what was typed and what was wrong."""
    await visit.flashes.leave(visit.place, flash)
    return visit.redirect(visit.below(STEP, **query))


def _opened_by(visit: Visit) -> Mapping[str, str]:
    """What of the address says which form is open."""
    return {name: value for name, value in visit.request.query_params.items() if name in {"prototype", "line", "new"}}


def _another(visit: Visit) -> Response:
    """Lead to where one more is chosen."""
    if visit.counter.kind is ShopKind.GIFT_CARDS:
        return visit.redirect(visit.below(STEP, new=1))
    return visit.redirect(visit.url(visit.counter.window))


# ---- showing it --------------------------------------------------------------------------------------------------------


async def _page(
    visit: Visit, bag: BagCheckout, opened: Opened | None, flash: Flash, layout: str = "layout.html"
) -> Response:
    shown, wrong = await _priced(visit, bag, opened, flash.fields) if opened or flash.fields else (bag, ())
    problems = flash.problems or tuple(problem for problem in wrong if flash.fields and problem[1] not in MISSING)
    offered: OfferedPrototype | OfferedGiftCards | None = opened.prototype if opened else None
    offered = offered or bag.gift_cards
    formats = Formats(visit.language)
    errors = [
        _error(shown, place, code, formats, offered)
        for place, code in problems
        if code != CHANGE or (opened is None and _stands(shown, place))
    ]
    categories = offered.categories if isinstance(offered, OfferedPrototype) else ()
    line = next((line for line in shown.bag if opened and line.id == opened.line_id), None)
    return visit.page(
        "bag.html",
        checkout=shown,
        country=flash.fields.get("country", shown.country),
        current=STEP,
        errors=errors,
        limits=LENGTHS | WRITTEN,
        asked=asked_of(opened.prototype) if opened and opened.prototype else (),
        fewest_nights=fewest_nights(opened.prototype) if opened and opened.prototype else 0,
        layout=layout,
        line=line,
        opened=opened,
        opened_by=_opened_by(visit),
        reception=flash.fields.get("reception", _chosen(shown)),
        values=flash.fields
        if "line" in flash.fields
        else basket_form.typed_as(opened.choice, categories)
        if opened
        else {},
    )


async def _priced(visit: Visit, bag: BagCheckout, opened: Opened | None, form: Form) -> tuple[BagCheckout, Problems]:
    """The bag with the open line as it is typed, and what is wrong with that; what can't be priced is left out."""
    if opened is not None and opened.mistyped:
        return bag, opened.mistyped
    line_id, choice = (opened.line_id, opened.choice) if opened else (None, None)
    reception, country = reception_of(form), country_of(form)
    try:
        return await basket.price_line(visit.context, visit.key, line_id, choice, reception, country), ()
    except InvalidInput as error:
        return bag, places(error)


def _chosen(bag: BagCheckout) -> str:
    """The way to receive it that was chosen, as its field has it."""
    chosen = bag.reception
    if chosen is None:
        return ""
    return chosen.mode if chosen.delivery_id is None else f"{chosen.mode}-{chosen.delivery_id}"


def _stands(bag: BagCheckout, place: str) -> bool:
    """Whether a line still has a problem: the bag may have changed in another tab."""
    at = int(place.removeprefix("line-"))
    return at < len(bag.bag) and bag.bag[at].problem is not None


def _error(
    bag: BagCheckout, place: str, code: str, formats: Formats, offered: OfferedPrototype | OfferedGiftCards | None
) -> FieldError:
    if code == CHANGE:
        line = bag.bag[int(place.removeprefix("line-"))]
        assert line.problem is not None, "only lines with a problem are to be changed"
        return FieldError(place, PROBLEMS[line.problem], {}, line.prototype.name if line.prototype else None)
    return FieldError(place, *bag_error(place, code, formats, bag.currency, offered))
