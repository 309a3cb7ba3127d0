"""The first step of a basket: the form of one line, or the list of lines."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.responses import Response

from funnel.checkout import basket_form
from funnel.checkout.basket_form import (
    EMAIL,
    Problems,
    apply_quantity_button,
    country_of,
    is_reception_unchanged,
    pressed_button,
    reception_of,
)
from funnel.checkout.basket_problems import CHANGE, missing_of, problem_fields
from funnel.checkout.current_basket import current_basket
from funnel.checkout.network_form import NETWORK_CARD, chosen_design, opened_choice
from funnel.checkout.request import CheckoutRequest
from funnel.checkout.storefronts import PRODUCTS
from funnel.core.basket_messages import BASKET_PROBLEMS, Offered, basket_error_text, number_fields_of
from funnel.core.email_hints import is_hint_due, with_suggestion
from funnel.core.experience_links import experience_path, permanent_redirect
from funnel.core.flash import Flash
from funnel.core.forms import Form, shown_errors_of
from funnel.core.messages import ErrorPage
from funnel.core.page_request import FieldError
from resolvers.catalogue.experience_page import find_experience_slug
from resolvers.checkout import basket
from resolvers.checkout.default_choice import default_choice
from resolvers.checkout.giftee import LENGTHS, TEXT_LENGTHS
from resolvers.checkout.network_shop import open_box
from resolvers.checkout.preview import keep_gift_draft
from schema.checkout.basket import (
    BasketChoice,
    BasketLine,
    BoxChoice,
    GiftCardChoice,
    OfferedPrototype,
    VoucherChoice,
)
from schema.checkout.checkout import CheckoutKind, CheckoutStep
from schema.checkout.network_offer import OfferedBox
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound, GiftCardsNotSold, InvalidInput, NotFound
from schema.coupon.coupon import ReceptionMode
from schema.validation.mail_domains import suggested_email
from store.core.localization.formats import Formats

STEP = CheckoutStep.CUSTOMIZATION
BEGINNINGS = {"prototype", "new", "box", "design", NETWORK_CARD}
"""Query parameters that begin a new line."""
PART, PERSONAL = "part", "personal"
"""The query parameter of the form's part, and its value for the second one. The first part is what is chosen."""
MISSING = {"REQUIRED"}
"""Error codes that a preview does not show: the customer may still fill in the field."""


@dataclass(frozen=True, slots=True)
class OpenLineForm:
    """The line whose form is open."""

    line_id: uuid.UUID
    prototype: OfferedPrototype | None
    """The voucher prototype; None for anything else."""
    choice: BasketChoice
    problems: Problems = ()
    box: OfferedBox | None = None
    """The box of the network; None for anything else."""
    is_personal: bool = False
    """Whether the second part of the form is open: whom it is for, and how it is received."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A basket as it is stored, and with the open line as typed."""

    before: Checkout
    shown: Checkout
    wrong: Problems = ()
    draft: str = ""


async def show(request: CheckoutRequest) -> Response:
    """Show the form of the line or prototype in the query; without one, the basket."""
    if request.cart_id is None:
        return await begin(request)
    opened_by = _form_query(request)
    try:
        view = await basket.open_basket(request.context, request.key)
    except CartNotFound:
        if not BEGINNINGS & opened_by.keys() or request.storefront is PRODUCTS:
            raise
        return request.redirect(request.storefront_url(STEP, **opened_by, cart=uuid.uuid4()))
    flash = await request.take_flash()
    try:
        opened = await _open_form(request, view, flash.fields)
    except NotFound:
        return request.render_error(ErrorPage.NOT_SOLD, 404)
    if opened is None and request.storefront is PRODUCTS:
        return request.redirect_to_step(STEP)
    return await _page(request, view, opened, flash)


async def begin(request: CheckoutRequest) -> Response:
    """Redirect to the current basket of this browser, or to a new one. An experience is begun on its own page."""
    query = request.http_request.query_params
    if "prototype" in query:
        return await _redirect_to_experience(request, query["prototype"])
    opened_by = _form_query(request)
    if request.last_cart_id is None and request.last_cart is None and not opened_by:
        return request.redirect(request.section_link(request.sections[0]).url)
    view = await current_basket(request)
    return request.redirect(request.order_url(view.key, of_gift=bool(opened_by), **opened_by))


async def begin_gift_card(request: CheckoutRequest) -> Response:
    """Redirect to the form of a gift card, in this browser's basket or a new one, with the design that the query names."""
    view = await current_basket(request)
    if view.gift_cards is None:
        raise GiftCardsNotSold
    query = request.http_request.query_params
    opened_by = {"design": query["design"]} if "design" in query else {"new": "1"}
    return request.redirect(request.order_url(view.key, of_gift=True, **opened_by))


async def _redirect_to_experience(request: CheckoutRequest, prototype_id: str) -> Response:
    """Redirect permanently to the page of an experience."""
    try:
        slug = await find_experience_slug(request.context, basket_form.parse_id(prototype_id) or 0)
    except NotFound:
        return request.render_error(ErrorPage.NOT_SOLD, 404)
    return permanent_redirect(experience_path(slug))


async def preview(request: CheckoutRequest) -> Response:
    """Price the form without storing it. Returns an HTML fragment for the script."""
    view = await basket.open_basket(request.context, request.key)
    opened = await _open_form(request, view, request.form)
    return await _page(request, view, opened, Flash(fields=request.form), layout="piece.html")


def show_only(request: CheckoutRequest, checkout: Checkout) -> Response:
    """Show the form of the only line of a basket that is not stored."""
    (line,) = checkout.basket_lines
    opened = OpenLineForm(line.id, line.prototype, line.choice, box=line.box)
    return _render(request, Priced(checkout, checkout), opened, Flash())


async def choose(request: CheckoutRequest) -> Response:
    """Store the form and perform the action of the pressed button."""
    form, button = apply_quantity_button(with_suggestion(request.form, EMAIL)), pressed_button(request.form)
    if button.name == "remove":
        if (unwanted := basket_form.parse_uuid(button.of)) is not None:
            await basket.remove_line(request.context, request.key, unwanted)
        return request.redirect_to_step(STEP, "lines")
    view = await basket.open_basket(request.context, request.key)
    opened = await _open_form(request, view, form)
    if button.name in {"more", "less", "update"}:
        return await _redirect_to_form(request, Flash(fields=form), _form_query(request))
    problems = await _put_line(request, opened) if opened is not None else ()
    if problems or (opened is not None and _is_hint_due(request, form)):
        return await _redirect_to_form(request, Flash(problems, form), _form_query(request))
    if opened is not None and not opened.is_personal:
        return request.redirect(request.gift_url(line=opened.line_id, part=PERSONAL))
    return await _leave(request, opened, button.name)


async def _leave(request: CheckoutRequest, opened: OpenLineForm | None, button: str) -> Response:
    """Store the reception, and go where the button leads: to another line, to the next step, or to the lines."""
    form = request.form
    view, problems = await _put_reception(request, opened.line_id if opened else None)
    if button == "card" or (button == "another" and opened and isinstance(opened.choice, GiftCardChoice)):
        return request.redirect(request.gift_url(new=1))
    if button == "another":
        return request.redirect(request.start_url)
    if button != "continue":
        return request.redirect_to_step(STEP)
    problems = problems or missing_of(view, opened.line_id if opened else None)
    if not problems:
        return request.redirect_to_step(STEP if request.storefront is PRODUCTS else CheckoutStep.INFORMATION)
    if opened is not None and all(not place.startswith("line-") for place, _ in problems):
        return await _redirect_to_form(request, Flash(problems, form), {"line": str(opened.line_id), PART: PERSONAL})
    return await request.redirect_with_errors(STEP, Flash(problems))


# ---- the open form ---------------------------------------------------------------------------------------------------


async def _open_form(request: CheckoutRequest, checkout: Checkout, form: Form) -> OpenLineForm | None:
    """The form that is open, with its typed values."""
    query = request.http_request.query_params
    line_id = basket_form.line_id_of(form) or basket_form.line_id_of(query)
    line = next((line for line in checkout.basket_lines if line.id == line_id), None)
    choice = _opened_choice(request, checkout, line)
    if choice is None:
        return None
    prototype, box = None, None
    if isinstance(choice, VoucherChoice):
        prototype = await basket.open_prototype(request.context, choice.prototype_id)
        choice = choice if line else default_choice(prototype)
    elif isinstance(choice, BoxChoice):
        box = await open_box(request.context, choice.box_id)
    is_personal = query.get(PART) == PERSONAL and line is not None
    problems: Problems = ()
    if "line" in form and is_personal:
        choice, problems = basket_form.read_gift(form, choice)
    elif "line" in form:
        choice, problems = basket_form.read_choice(form, choice, prototype)
    return OpenLineForm(line_id or uuid.uuid4(), prototype, choice, problems, box, is_personal)


def _opened_choice(request: CheckoutRequest, checkout: Checkout, line: BasketLine | None) -> BasketChoice | None:
    """The choice whose form is open, before what is typed: that of a line, or a new one; None for the list of lines."""
    query = request.http_request.query_params
    is_of_network = line.choice.is_of_network if line is not None else bool({"box", NETWORK_CARD} & query.keys())
    if is_of_network or request.storefront.kind is CheckoutKind.NETWORK:
        return opened_choice(checkout, line, query)
    is_card = isinstance(line.choice, GiftCardChoice) if line is not None else bool({"new", "design"} & query.keys())
    if is_card and checkout.gift_cards is None:
        raise GiftCardsNotSold
    if line is not None:
        return line.choice
    if "prototype" in query:
        return VoucherChoice(basket_form.parse_id(query["prototype"]) or 0)
    if checkout.gift_cards is None or not is_card:
        return None
    return GiftCardChoice(checkout.gift_cards.usual_value, design_id=chosen_design(checkout.gift_cards, query))


# ---- storing the form ------------------------------------------------------------------------------------------------


async def _put_line(request: CheckoutRequest, opened: OpenLineForm) -> Problems:
    """Put the open line into the basket. Returns its errors."""
    if opened.problems:
        return opened.problems
    try:
        await basket.put_line(request.context, request.key, opened.line_id, opened.choice)
    except InvalidInput as error:
        return problem_fields(error)
    return ()


def _is_hint_due(request: CheckoutRequest, form: Form) -> bool:
    """Whether the giftee's address looks mistyped, and the page has not asked about it yet."""
    reception = reception_of(form)
    is_mailed = reception is not None and reception[0] is ReceptionMode.GIFTEE_EMAIL
    return is_mailed and form.get("for") != "self" and is_hint_due(form, EMAIL, request.shop.country)


async def _put_reception(request: CheckoutRequest, line_id: uuid.UUID | None) -> tuple[Checkout, Problems]:
    """Store the chosen reception of a line, or of all. Returns the basket and the errors."""
    form = request.form
    reception, country = reception_of(form), country_of(form)
    if reception is None or (line_id is None and is_reception_unchanged(form)):
        return await basket.open_basket(request.context, request.key), ()
    try:
        return await basket.choose_reception(request.context, request.key, *reception, country, line_id), ()
    except InvalidInput as error:
        return await basket.open_basket(request.context, request.key), problem_fields(error)


async def _redirect_to_form(request: CheckoutRequest, flash: Flash, query: Mapping[str, str]) -> Response:
    """Redirect to the open form, with its typed values and errors."""
    await request.flashes.put(request.flash_key, flash)
    return request.redirect(request.gift_url(**query))


def _form_query(request: CheckoutRequest) -> Mapping[str, str]:
    """The query parameters that determine which form is open."""
    return {
        name: value for name, value in request.http_request.query_params.items() if name in {*BEGINNINGS, "line", PART}
    }


# ---- rendering -------------------------------------------------------------------------------------------------------


async def _page(
    request: CheckoutRequest,
    checkout: Checkout,
    opened: OpenLineForm | None,
    flash: Flash,
    layout: str = "layout.html",
) -> Response:
    shown, wrong = await _price(request, checkout, opened, flash.fields) if opened or flash.fields else (checkout, ())
    draft = await _draft(request, opened, flash.fields) if not wrong else ""
    return _render(request, Priced(checkout, shown, wrong, draft), opened, flash, layout)


def _render(
    request: CheckoutRequest, priced: Priced, opened: OpenLineForm | None, flash: Flash, layout: str = "layout.html"
) -> Response:
    shown, wrong = priced.shown, priced.wrong
    line_id = opened.line_id if opened else None
    problems = flash.problems or _shown_problems(flash.fields, wrong, missing_of(shown, line_id))
    offered: Offered | None = opened.prototype if opened else None
    offered = offered or priced.before.gift_cards or priced.before.network_cards
    formats = Formats(request.language)
    errors = [
        _error(shown, place, code, formats, offered, flash.fields.get("giftee-country", ""))
        for place, code in problems
        if code != CHANGE or (opened is None and _still_has_problem(shown, place))
    ]
    line = next((line for line in shown.basket_lines if line.id == line_id), None)
    return request.render(
        "basket.html",
        checkout=shown,
        country=flash.fields.get("country", shown.country),
        current=STEP,
        draft=priced.draft,
        errors=errors,
        limits=LENGTHS | TEXT_LENGTHS,
        asked=number_fields_of(opened.prototype) if opened and opened.prototype else (),
        fewest_nights=opened.prototype.fewest_nights if opened and opened.prototype else 0,
        layout=layout,
        line=line,
        opened=opened,
        opened_by=_form_query(request),
        reception=flash.fields.get("reception", basket_form.reception_value(shown)),
        reception_before=basket_form.reception_value(priced.before),
        suggestion=suggested_email(flash.fields.get(EMAIL, ""), request.shop.country),
        values=_values(opened, flash.fields),
    )


def _values(opened: OpenLineForm | None, typed: Form) -> Mapping[str, str]:
    """What stands in the fields of the open form: what is typed, or the saved choice."""
    if opened is None or "line" in typed:
        return typed
    return basket_form.form_values_of(opened.choice, opened.prototype.categories if opened.prototype else ())


async def _draft(request: CheckoutRequest, opened: OpenLineForm | None, form: Form) -> str:
    """The name of the draft that the preview shows; empty where there is none."""
    if opened is None or not opened.is_personal:
        return ""
    reception = reception_of(form)
    choice = replace(opened.choice, reception=reception[0]) if reception else opened.choice
    return await keep_gift_draft(request.context, request.key, choice)


async def _price(
    request: CheckoutRequest, checkout: Checkout, opened: OpenLineForm | None, form: Form
) -> tuple[Checkout, Problems]:
    """The basket with the open line as typed, and the line's errors. A line that cannot be priced is left out."""
    if opened is not None and opened.problems:
        return checkout, opened.problems
    line_id, choice = (opened.line_id, opened.choice) if opened else (None, None)
    reception, country = reception_of(form), country_of(form)
    try:
        return await basket.price_line(request.context, request.key, line_id, choice, reception, country), ()
    except InvalidInput as error:
        return checkout, problem_fields(error)


def _shown_problems(form: Form, wrong: Problems, missing: Problems) -> Problems:
    """The errors to show while the form is filled in: of what is typed wrong, and of what the page complains of already."""
    if not form:
        return ()
    shown = shown_errors_of(form)
    found = {place: code for place, code in wrong if place in shown or code not in MISSING}
    found |= {place: code for place, code in missing if place in shown and place not in found}
    return tuple(found.items())


def _still_has_problem(checkout: Checkout, place: str) -> bool:
    """True if the line still has a problem: another tab may have changed the basket."""
    at = int(place.removeprefix("line-"))
    return at < len(checkout.basket_lines) and checkout.basket_lines[at].problem is not None


def _error(
    checkout: Checkout,
    place: str,
    code: str,
    formats: Formats,
    offered: Offered | None,
    country: str,
) -> FieldError:
    if code == CHANGE:
        line = checkout.basket_lines[int(place.removeprefix("line-"))]
        assert line.problem is not None, "CHANGE is only set for lines with a problem"
        return FieldError(place, BASKET_PROBLEMS[line.problem], {}, line.prototype.name if line.prototype else None)
    return FieldError(place, *basket_error_text(place, code, formats, checkout.currency, offered, country))
