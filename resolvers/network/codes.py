"""Codes that a network's gift cards and vouchers bring with them."""

from typing import Any

from sqlmodel import select

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.operation import Call
from schema.core.errors import AlreadyTaken, InvalidInput
from schema.core.message_names import TemplatedMessage
from store.core.codes import is_mistyped, normalize

SHORTEST_CODE = 3
"""Of an own code, in letters and digits."""


def check_code_form(code: str) -> None:
    """Raise InvalidInput for a code that a new gift card or voucher cannot have; an empty one is left to be drawn."""
    if not code:
        return
    if len(normalize(code)) < SHORTEST_CODE or "/" in code:
        raise InvalidInput.at(
            "code",
            TemplatedMessage("Send a code with at least {least} letters or digits, without `/`.", least=SHORTEST_CODE),
        )
    if is_mistyped(code):
        raise InvalidInput.at("code", "This code is mistyped: its last character does not fit the others.")


async def check_new_code(call: Call, code: str, thing: str, codes: Any) -> None:
    """Raise AlreadyTaken for the code of an input without other problems, so that nothing else answers who tries codes.
    `codes` is the column of the codes as they are matched. A code that is taken counts as a guess.
    """

    async def is_free() -> bool:
        return (await call.db.exec(select(codes).where(codes == normalize(code)))).first() is None

    if code and not await throttled_lookup(call.context, thing, is_free):
        raise AlreadyTaken("code", what="code")
