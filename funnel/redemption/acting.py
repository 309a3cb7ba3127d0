"""What the forms of staff share: what they read, and how they run an operation and lead back to the page of the code."""

import re
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption.double_submit import run_once
from funnel.redemption.request import RedemptionRequest
from resolvers.core.idempotency import IdempotentRequest, StoredResponse
from schema.core.errors import AppError, InvalidInput, NotFound

LONGEST_REFERENCE = 80
NOT_OURS = "This form was not sent from a page."
AMOUNT = re.compile(r"[0-9]{1,9}([.,][0-9]{1,2})?")
ID = re.compile("[1-9][0-9]{0,8}")
DONE = "done"
"""The name under which the page is told the id of what was just recorded or cancelled."""

Refusals = Sequence[tuple[tuple[type[AppError], ...], Flash]]
"""What the page shows for errors of an operation."""


def _flash_of_done(id: int) -> Flash:
    return Flash(fields={DONE: str(id)})


async def act(
    request: RedemptionRequest,
    respond: Callable[[IdempotentRequest], Awaitable[StoredResponse]],
    refusals: Refusals,
    *,
    button: str = "",
    done: Callable[[int], Flash] = _flash_of_done,
) -> Response:
    """Run the operation of a form once, and lead back to the page of the code, which shows what was done or refused. `done`
    is what the page is told of the id of the result. Other errors are raised.
    """
    try:
        id = await run_once(request, respond, button)
    except NotFound:
        return request.redirect(request.code_url())
    except AppError as error:
        for kinds, flash in refusals:
            if isinstance(error, kinds):
                return await request.redirect_with_flash(flash)
        raise
    return await request.redirect_with_flash(done(id))


def require_code(request: RedemptionRequest) -> None:
    """Raise InvalidInput if the form contains no code, as all our forms do."""
    if not request.code:
        raise InvalidInput.at("code", NOT_OURS)


def typed_id(request: RedemptionRequest, name: str) -> int:
    """The id in a hidden field. Raises InvalidInput if it is none."""
    typed = request.form.get(name, "")
    if not ID.fullmatch(typed):
        raise InvalidInput.at(name, NOT_OURS)
    return int(typed)


def typed_reference(request: RedemptionRequest) -> str:
    """The typed reference, on one line."""
    return " ".join(request.form.get("reference", "").split())[:LONGEST_REFERENCE]


ALL = "all"
"""The answer to how much of a gift card is taken, before it is asked once more."""


def asks_for_all(request: RedemptionRequest) -> bool:
    """True if the page asks whether all that is left is taken."""
    return request.http_request.query_params.get("to") == ALL


def typed_amount(request: RedemptionRequest) -> tuple[dict[str, str], Decimal | None]:
    """The typed amount and reference, and the amount; None if it cannot be read."""
    typed = {
        "amount": request.form.get("amount", "").strip()[:LONGEST_REFERENCE],
        "reference": typed_reference(request),
    }
    return typed, parse_amount(typed["amount"])


def wrong_amount(typed: dict[str, str]) -> Flash:
    """What the page is told of an amount that cannot be read."""
    return Flash((("amount", "INVALID" if typed["amount"] else "REQUIRED"),), typed)


def parse_amount(typed: str) -> Decimal | None:
    """The typed amount; None if it is invalid. Accepts a comma or a point, spaces and currency symbols."""
    bare = re.sub(r"[\s€$£]|EUR|CHF", "", typed, flags=re.IGNORECASE)
    if not AMOUNT.fullmatch(bare):
        return None
    amount = Decimal(bare.replace(",", "."))
    return amount if amount > 0 else None
