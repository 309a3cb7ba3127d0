"""What a form does is done once, however often its button is pressed."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from funnel.redemption.request import Staff
from resolvers.core.idempotency import Answered, Once, Outcome, Rendered, fingerprint
from schema.core.errors import IdempotencyInProgress, InvalidInput

MADE = re.compile(r"[A-Za-z0-9_-]{22}")
"""What `Staff.once` makes."""
TRIES = 50
PAUSE = 0.1
"""Seconds between looks at whether the same form, sent a moment before, is through."""


async def once(staff: Staff, run: Callable[[], Awaitable[object]], button: str = "") -> int:
    """Run the operation of a form, and answer the id of what it was about. Sent again, it is not run again; by another of its
    buttons it is something else.

    Raises whatever the operation refuses with, and InvalidInput for a form that no page of ours has sent.
    """
    key = staff.form.get("once", "")
    if not MADE.fullmatch(key):
        raise InvalidInput.at("once", "This form was not sent from a page.")
    said = {name: value for name, value in staff.form.items() if name != "csrf"}
    for left in reversed(range(TRIES)):
        staff.context.once = Once(staff.context, f"redeem:{key}{button}", await fingerprint(said), _id)
        try:
            await run()
        except Answered as answered:
            return int(answered.answer.body)
        except IdempotencyInProgress:
            if not left:
                raise
            await asyncio.sleep(PAUSE)
    raise AssertionError("the last try has answered or raised")


async def _id(outcome: Outcome) -> Rendered:
    """What is kept of an outcome: the page that follows is read anew."""
    return Rendered(str(outcome.id).encode())
