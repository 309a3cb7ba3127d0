"""Codes that a network's gift cards and vouchers bring with them."""

from typing import Any

from sqlmodel import select

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.operation import Call
from schema.core.errors import AlreadyTaken, InvalidInput
from store.core.codes import is_mistyped, normalize


async def check_new_code(call: Call, code: str, thing: str, codes: Any) -> None:
    """Raise InvalidInput or AlreadyTaken for a code that a new gift card or voucher cannot have; an empty one is left to be
    drawn. `codes` is the column of the codes as they are matched. A code that is taken counts as a guess.
    """
    if not code:
        return
    if not normalize(code) or "/" in code:
        raise InvalidInput.at("code", "Send a code with letters or digits, without `/`.")
    if is_mistyped(code):
        raise InvalidInput.at("code", "This code is mistyped: its last character does not fit the others.")

    async def is_free() -> bool:
        return (await call.db.exec(select(codes).where(codes == normalize(code)))).first() is None

    if not await throttled_lookup(call.context, thing, is_free):
        raise AlreadyTaken("code", what="code")
