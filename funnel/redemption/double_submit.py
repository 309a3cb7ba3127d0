"""Guards forms against double submission."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from funnel.redemption.request import RedemptionRequest
from resolvers.core.idempotency import IdempotentRequest, OperationResult, StoredResponse, fingerprint
from schema.core.errors import IdempotencyInProgress, InvalidInput

FORM_KEY = re.compile(r"[A-Za-z0-9_-]{22}")
"""The format of `RedemptionRequest.new_form_key`."""
TRIES = 50
PAUSE = 0.1
"""Seconds between checks whether a concurrent submission of the same form has finished."""


async def run_once(
    request: RedemptionRequest, respond: Callable[[IdempotentRequest], Awaitable[StoredResponse]], button: str = ""
) -> int:
    """Run a form's operation by its `respond` and return the id of its result.

    A repeated submission does not run it again; another button does.

    Raises the operation's errors, and InvalidInput for a form without a valid key.
    """
    key = request.form.get("once", "")
    if not FORM_KEY.fullmatch(key):
        raise InvalidInput.at("once", "This form was not sent from a page.")
    said = {name: value for name, value in request.form.items() if name != "csrf"}
    for left in reversed(range(TRIES)):
        once = IdempotentRequest(request.context, f"redeem:{key}{button}", await fingerprint(said), _render_id)
        try:
            return int((await respond(once)).body)
        except IdempotencyInProgress:
            if not left:
                raise
            await asyncio.sleep(PAUSE)
    raise AssertionError("the last try has answered or raised")


async def _render_id(outcome: OperationResult) -> StoredResponse:
    """The stored response is only the id: the next page loads the current data."""
    return StoredResponse(str(outcome.id).encode())
