"""The forms about presents on the page of an order: send one again, now, on another day, or to another address."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.core.forms import local_time
from funnel.core.page_request import FieldError
from funnel.order.request import OrderRequest
from funnel.order.texts import GIFT_FIELD_ERRORS
from resolvers.order.by_token import reschedule_gift_by_token, resend_gift_by_token, send_gift_now_by_token
from schema.core.errors import InvalidInput, NotFound, Problem
from schema.order.errors import GiftNotWaiting
from schema.order.token_input import RescheduleGiftByToken, ResendGiftByToken, SendGiftNowByToken

GIFTS, SENT, SAVED, NOT_WAITING = "gifts", "SENT", "SAVED", "GIFT_NOT_WAITING"
"""The place of the messages about gifts, and the codes of what became of one."""
NOTES = frozenset({SENT, SAVED, NOT_WAITING})
PLACES: Mapping[str, str] = {"email": "email", "send_on": "day", "send_at": "time"}
"""The fields of a gift, each with the position of its line, by the names of the operations."""


async def send_again(request: OrderRequest) -> Response:
    """The form that sends a gift to its recipient again, at the same address or at another one."""
    position = _position_of(request)
    place = f"email-{position}"
    typed = request.form.get(place, "")
    try:
        again = ResendGiftByToken(token=request.token, position=position, email=typed)
        await resend_gift_by_token(request.context, again)
    except NotFound:  # it was used or refunded meanwhile: the page shows it
        return request.redirect_to_start()
    except InvalidInput as error:
        return await _tell(request, position, _errors_of(position, error))
    return await _tell(request, position, ((place, SENT),))


async def change_day(request: OrderRequest) -> Response:
    """The form of a gift that waits for its day: with the button `now` it is sent, else its day and its address are changed."""
    position = _position_of(request)
    gift: dict[str, Any] = {
        "token": request.token,
        "position": position,
        "email": request.form.get(f"email-{position}", ""),
    }
    try:
        if "now" in request.form:
            await send_gift_now_by_token(request.context, SendGiftNowByToken(**gift))
            return await _tell(request, position, ((f"email-{position}", SENT),))
        day, time = _moment_of(request, position)
        await reschedule_gift_by_token(request.context, RescheduleGiftByToken(**gift, send_on=day, send_at=time))
    except NotFound:
        return request.redirect_to_start()
    except GiftNotWaiting:
        return await _tell(request, position, ((f"email-{position}", NOT_WAITING),))
    except InvalidInput as error:
        return await _tell(request, position, _errors_of(position, error))
    return await _tell(request, position, ((f"email-{position}", SAVED),))


def gift_error(request: OrderRequest, place: str, code: str) -> FieldError:
    """The error of a field, as the checkout words it for a day."""
    text = GIFT_FIELD_ERRORS.get((place.partition("-")[0], code))
    return request.field_error(place, code) if text is None else FieldError(place, text, {})


def _position_of(request: OrderRequest) -> int:
    return int(request.http_request.path_params["position"])


def _moment_of(request: OrderRequest, position: int) -> tuple[dt.date, dt.time | None]:
    """The day and the time that were typed. Raises InvalidInput for what is none."""
    day, time = (request.form.get(f"{name}-{position}", "").strip() for name in ("day", "time"))
    problems = list[Problem]()
    chosen_day, chosen_time = None, None
    try:
        chosen_day = dt.date.fromisoformat(day)
    except ValueError:
        problems.append(Problem(("send_on",), "REQUIRED", "Choose a day."))
    try:
        chosen_time = local_time(time) if time else None
    except ValueError:
        problems.append(Problem(("send_at",), "INVALID", "Choose a time."))
    if problems or chosen_day is None:
        raise InvalidInput(*problems)
    return chosen_day, chosen_time


def _errors_of(position: int, error: InvalidInput) -> tuple[tuple[str, str], ...]:
    return tuple((f"{PLACES[str(each.path[-1])]}-{position}", each.code) for each in error.problems)


async def _tell(request: OrderRequest, position: int, problems: tuple[tuple[str, str], ...]) -> Response:
    """Redirect to the gift on the page, which shows what became of it, with what was typed."""
    names = [f"{name}-{position}" for name in PLACES.values()]
    typed = {name: request.form[name] for name in names if name in request.form}
    await request.put_flash(GIFTS, Flash(problems, typed))
    return request.redirect(f"{request.start}#email-{position}")
