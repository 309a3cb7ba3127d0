"""The first step: what to buy, and how to receive it."""

from starlette.responses import Response

from funnel.checkout.choices_form import Wanted, not_in_cart, pressed, read_choices
from funnel.checkout.request import Visit
from funnel.core.flash import Flash
from funnel.core.messages import CHOOSABLE, LINE_PROBLEMS, error_text
from funnel.core.page_request import FieldError
from resolvers.checkout import steps as operations
from schema.checkout.checkout import Checkout, CheckoutLine, Step
from schema.core.errors import InvalidInput, Problem

STEP = Step.CUSTOMIZATION
LINE = "LINE"
"""The code of a line that could be ordered if something else were chosen; the line itself says what."""


async def show(visit: Visit) -> Response:
    """The step as it stands, or, after a refusal, as it was typed."""
    flash = await visit.flashes.take(visit.place)
    if not flash.fields:
        return _page(visit, await operations.open_checkout(visit.context, visit.key), flash)
    wanted = read_choices(flash.fields)
    return _page(visit, await _priced(visit, wanted), flash)


async def preview(visit: Visit) -> Response:
    """What the form would come to, as a piece of page for the script; nothing is kept."""
    wanted = read_choices(visit.form)
    return _page(visit, await _priced(visit, wanted), Flash(_mistyped(wanted), visit.form), layout="piece.html")


async def choose(visit: Visit) -> Response:
    """Keep the form, do what its button says."""
    wanted = read_choices(visit.form)
    if wanted.mistyped and wanted.button != "remove":
        return await visit.refused(STEP, Flash(_mistyped(wanted), visit.form))
    items, place = pressed(wanted, await operations.open_checkout(visit.context, visit.key))
    try:
        checkout = await operations.choose_items(visit.context, visit.key, items, wanted.delivery_id, wanted.country)
    except InvalidInput as error:
        return await visit.refused(STEP, Flash(tuple((_place(problem), problem.code) for problem in error.problems)))
    if wanted.button not in {"continue", "anyway"}:
        return visit.to(STEP, place)
    problems = _missing(checkout, anyway=wanted.button == "anyway")
    return await visit.refused(STEP, Flash(problems)) if problems else visit.to(Step.INFORMATION)


def _place(problem: Problem) -> str:
    """Where it is told that a choice cannot be kept."""
    return "country" if problem.path == ("country",) else "products"


async def _priced(visit: Visit, wanted: Wanted) -> Checkout:
    return await operations.price_items(visit.context, visit.key, wanted.items, wanted.delivery_id, wanted.country)


def _mistyped(wanted: Wanted) -> tuple[tuple[str, str], ...]:
    return tuple((f"line-{at}-quantity", "QUANTITY") for at in wanted.mistyped)


def _missing(checkout: Checkout, *, anyway: bool) -> tuple[tuple[str, str], ...]:
    """Why the next step can't be opened: places and codes. With `anyway`, what could still be put right is left out."""
    choosable = [f"line-{at}" for at, line in enumerate(checkout.lines) if _to_choose(line)]
    good = any(_good(line) for line in checkout.lines)
    found: list[tuple[str, str]] = []
    if choosable and not (anyway and good):
        found += [(place, LINE) for place in choosable]
    elif not good:
        found.append(("products", "NOTHING_TO_ORDER"))
    if checkout.delivery_id is None:
        found.append(("delivery", "DELIVERY_REQUIRED"))
    elif not any(option.id == checkout.delivery_id and option.is_available for option in checkout.deliveries):
        found.append(("delivery", "DELIVERY_NOT_AVAILABLE"))
    return tuple(found)


def _good(line: CheckoutLine) -> bool:
    return line.problem is None and line.choice.quantity > 0


def _to_choose(line: CheckoutLine) -> bool:
    return line.problem in CHOOSABLE and line.choice.quantity > 0


def _page(visit: Visit, checkout: Checkout, flash: Flash, layout: str = "layout.html") -> Response:
    errors = [_error(checkout, place, code) for place, code in flash.problems]
    to_choose = any(code == LINE for _, code in flash.problems)
    return visit.page(
        "customization.html",
        checkout=checkout,
        current=STEP,
        adds_up=checkout.expected is None and any(_good(line) for line in checkout.lines),
        choosable=CHOOSABLE,
        country=checkout.country,
        errors=errors,
        flash=flash,
        layout=layout,
        others=not_in_cart(checkout),
        can_leave_out=to_choose and any(_good(line) for line in checkout.lines),
    )


def _error(checkout: Checkout, place: str, code: str) -> FieldError:
    if code != LINE:
        return FieldError(place, *error_text(place, code))
    line = checkout.lines[int(place.removeprefix("line-"))]
    assert line.product is not None, "only lines of a known product can be put right"
    assert line.problem is not None
    return FieldError(place, LINE_PROBLEMS[line.problem], {"count": line.available}, line.product.name)
