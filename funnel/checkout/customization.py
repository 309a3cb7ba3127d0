"""The first step for products: what to buy, and how to receive it."""

from starlette.responses import Response

from funnel.checkout.choices_form import CustomizationForm, apply_button, not_in_cart, read_customization_form
from funnel.checkout.request import CheckoutRequest
from funnel.core.basket_messages import BASKET_PROBLEMS
from funnel.core.flash import Flash
from funnel.core.forms import shown_errors_of
from funnel.core.messages import FIXABLE_LINE_PROBLEMS, LINE_PROBLEMS, error_text
from funnel.core.page_request import FieldError
from resolvers.checkout import basket
from resolvers.checkout import steps as operations
from resolvers.checkout.moving import find_movable_basket, move_basket
from schema.checkout.basket import BasketProblem
from schema.checkout.checkout import CheckoutLine, CheckoutStep
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound, CheckoutChanged, InvalidInput, Problem

STEP = CheckoutStep.CUSTOMIZATION
LINE = "LINE"
"""The error code of a line that another choice could make orderable. The line's problem says which."""


async def show(request: CheckoutRequest) -> Response:
    """Show the step with the stored choice; after an error, with the typed values."""
    flash = await request.take_flash()
    if not flash.fields:
        checkout = await operations.open_checkout(request.context, request.key)
        return _page(request, checkout, flash, left=await _left_basket(request))
    form = read_customization_form(flash.fields)
    return _page(request, await _price(request, form), flash, left=await _left_basket(request))


async def preview(request: CheckoutRequest) -> Response:
    """Price the form without storing it. Returns an HTML fragment for the script."""
    form = read_customization_form(request.form)
    checkout = await _price(request, form)
    shown = shown_errors_of(request.form)
    missing = tuple(problem for problem in _missing(checkout, anyway=False) if problem[0] in shown)
    flash = Flash((*_quantity_errors(form), *missing), request.form)
    return _page(request, checkout, flash, layout="piece.html")


def show_only(request: CheckoutRequest, checkout: Checkout) -> Response:
    """Show the step of an order that is not stored."""
    return _page(request, checkout, Flash())


async def choose(request: CheckoutRequest) -> Response:
    """Store the form and perform the action of the pressed button."""
    form = read_customization_form(request.form)
    if form.mistyped and form.button != "remove" and form.removed_gift is None:
        return await request.redirect_with_errors(STEP, Flash(_quantity_errors(form), request.form))
    items, place = apply_button(form, await operations.open_checkout(request.context, request.key))
    try:
        checkout = await operations.choose_items(request.context, request.key, items, form.delivery_id, form.country)
    except InvalidInput as error:
        return await request.redirect_with_errors(
            STEP, Flash(tuple((_problem_field(problem), problem.code) for problem in error.problems))
        )
    if (elsewhere := await _change_gifts(request, form)) is not None:
        return elsewhere
    if form.button not in {"continue", "anyway"}:
        return request.redirect_to_step(STEP, place)
    problems = _missing(checkout, anyway=form.button == "anyway")
    return (
        await request.redirect_with_errors(STEP, Flash(problems))
        if problems
        else request.redirect_to_step(CheckoutStep.INFORMATION)
    )


async def _change_gifts(request: CheckoutRequest, form: CustomizationForm) -> Response | None:
    """Perform the action of a button of vouchers and gift cards; None if another one was pressed."""
    if form.button == "card":
        return request.redirect(request.gift_url(new=1))
    if form.button == "another":
        return request.redirect(request.start_url)
    if form.removed_gift is not None:
        await basket.remove_line(request.context, request.key, form.removed_gift)
        return request.redirect_to_step(STEP, "gifts")
    if form.button == "take" and request.last_basket is not None:
        try:
            await move_basket(request.context, request.key, request.last_basket)
        except InvalidInput as error:
            return await request.redirect_with_errors(STEP, Flash(tuple(("gifts", p.code) for p in error.problems)))
        except (
            CartNotFound,
            CheckoutChanged,
        ):  # it was ordered, or is being paid, in another tab: the page says what is left
            pass
        return request.redirect_to_step(STEP, "gifts")
    return None


async def _left_basket(request: CheckoutRequest) -> Checkout | None:
    """The basket that can be taken into this order: one that this browser has filled, and does not pay already."""
    return await find_movable_basket(request.context, request.last_basket) if request.last_basket else None


def _problem_field(problem: Problem) -> str:
    """The field at which the error of a choice is shown."""
    return "country" if problem.path == ("country",) else "products"


async def _price(request: CheckoutRequest, form: CustomizationForm) -> Checkout:
    return await operations.price_items(request.context, request.key, form.items, form.delivery_id, form.country)


def _quantity_errors(form: CustomizationForm) -> tuple[tuple[str, str], ...]:
    return tuple((f"line-{at}-quantity", "QUANTITY") for at in form.mistyped)


def _missing(checkout: Checkout, *, anyway: bool) -> tuple[tuple[str, str], ...]:
    """Why the next step is not available: (field id, code).

    With `anyway`, fixable lines are ignored if another line is orderable.
    """
    choosable = [f"line-{at}" for at, line in enumerate(checkout.lines) if _is_fixable(line)]
    good = any(_is_orderable(line) for line in checkout.lines)
    missing: list[tuple[str, str]] = []
    if choosable and not (anyway and good):
        missing += [(place, LINE) for place in choosable]
    elif not good and not checkout.basket_lines:
        missing.append(("products", "NOTHING_TO_ORDER"))
    missing += [
        (f"gift-{at}", line.problem.name if line.problem else "RECEPTION_REQUIRED")
        for at, line in enumerate(checkout.basket_lines)
        if line.problem is not None or line.reception is None
    ]
    if not good and checkout.basket_lines:
        if checkout.delivery is None and not missing:
            missing.append(("gift-0", "DELIVERY_NOT_AVAILABLE"))
    elif checkout.delivery_id is None:
        missing.append(("delivery", "DELIVERY_REQUIRED"))
    elif not any(option.id == checkout.delivery_id and option.is_available for option in checkout.deliveries):
        missing.append(("delivery", "DELIVERY_NOT_AVAILABLE"))
    return tuple(missing)


def _is_orderable(line: CheckoutLine) -> bool:
    return line.problem is None and line.choice.quantity > 0


def _is_fixable(line: CheckoutLine) -> bool:
    return line.problem in FIXABLE_LINE_PROBLEMS and line.choice.quantity > 0


def _page(
    request: CheckoutRequest,
    checkout: Checkout,
    flash: Flash,
    layout: str = "layout.html",
    left: Checkout | None = None,
) -> Response:
    """The page. `left` is a basket that can be taken into this order."""
    errors = [_error(checkout, place, code) for place, code in flash.problems if not _is_gone(checkout, place)]
    to_choose = any(code == LINE for _, code in flash.problems)
    return request.render(
        "customization.html",
        checkout=checkout,
        current=STEP,
        adds_up=checkout.estimate is None and bool(checkout.basket_lines or any(map(_is_orderable, checkout.lines))),
        choosable=FIXABLE_LINE_PROBLEMS,
        country=checkout.country,
        errors=errors,
        flash=flash,
        layout=layout,
        left=left,
        others=not_in_cart(checkout),
        can_leave_out=to_choose and any(_is_orderable(line) for line in checkout.lines),
    )


def _is_gone(checkout: Checkout, place: str) -> bool:
    """True if the line is no longer there: another tab may have changed the order."""
    of, _, at = place.partition("-")
    lines = {"line": len(checkout.lines), "gift": len(checkout.basket_lines)}
    return of in lines and int(at.partition("-")[0]) >= lines[of]


def _error(checkout: Checkout, place: str, code: str) -> FieldError:
    if place.startswith("gift-") and code in BasketProblem.__members__:
        gift = checkout.basket_lines[int(place.removeprefix("gift-"))]
        return FieldError(
            place, BASKET_PROBLEMS[BasketProblem[code]], {}, gift.prototype.name if gift.prototype else None
        )
    if code != LINE:
        return FieldError(place, *error_text(place, code))
    line = checkout.lines[int(place.removeprefix("line-"))]
    assert line.product is not None, "only lines of a known product are fixable"
    assert line.problem is not None
    return FieldError(place, LINE_PROBLEMS[line.problem], {"count": line.available}, line.product.name)
