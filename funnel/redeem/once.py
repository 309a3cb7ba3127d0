"""What a form does is done once, however often its button is pressed."""

import asyncio
from collections.abc import Awaitable, Callable

from funnel.redeem.visit import Staff
from resolvers.once import KEY, Answered, Once, Outcome, Rendered, fingerprint
from schema.errors import IdempotencyInProgress, InvalidInput

TRIES = 50
PAUSE = 0.1
"""Seconds between looks at whether the same form, sent a moment before, is through."""


async def once(staff: Staff, run: Callable[[], Awaitable[object]]) -> None:
    """Run the operation of a form. Sent again, it finds that it was done, and does nothing.

    Raises whatever the operation refuses with, and InvalidInput for a form that no page of ours has sent.
    """
    key = staff.form.get("once", "")
    if not KEY.fullmatch(key):
        raise InvalidInput.at("once", "This form was not sent from a page.")
    said = {name: value for name, value in staff.form.items() if name != "csrf"}
    for left in reversed(range(TRIES)):
        staff.context.once = Once(staff.context, f"redeem:{key}"[:255], await fingerprint(said), _nothing_to_say)
        try:
            await run()
        except Answered:
            return
        except IdempotencyInProgress:
            if not left:
                raise
            await asyncio.sleep(PAUSE)


async def _nothing_to_say(outcome: Outcome) -> Rendered:
    """The page that follows is read anew, so nothing of it is kept."""
    del outcome
    return Rendered(b"")
