"""What users prove before something important: their password, and a code of their second factor."""

from resolvers.core.operation import Call
from schema.core.errors import InvalidInput, WrongCredentials
from store.account.credentials import verify_password
from store.account.second_factor import lock_user, use_otp
from store.account.users import UserRow

WRONG_PASSWORD = "This is not the password that you log in with."  # noqa: S105 - a message
WRONG_OTP = "This code is not right, or was used already. Wait for the next one, and check the clock of your device."


async def verify_own_password(call: Call, password: str, field: str) -> UserRow:
    """The caller's row, as it was when the password was found right. Raises InvalidInput at the field.

    A wrong one counts as a failed log-in, and is followed by the same pauses.
    """
    async with call.services.db.sessions() as db:
        row = await db.get_one(UserRow, call.caller.user_id)
    async with call.services.limits.log_ins.attempt(row.username, call.context.address) as attempt:
        attempt.succeeded = await verify_password(row.password_hash, password)
    if not attempt.succeeded:
        raise InvalidInput.of_proof(field, WRONG_PASSWORD)
    return row


async def verify_self(call: Call, password: str, otp: str, field: str) -> UserRow:
    """The caller's row, as it was when the password, and the code of a second factor if there is one, were found right.
    Raises InvalidInput at the field of the password, or at `otp`. Uses the code up.
    """
    row = await verify_own_password(call, password, field)
    if row.has_second_factor:
        await use_own_second_factor(call, otp)
    return row


async def use_second_factor(call: Call, user: UserRow, otp: str) -> None:
    """Use up a code of a user whose password was right. Raises WrongCredentials for a wrong one, which is followed by
    growing pauses.
    """
    async with call.services.limits.log_ins.otp_attempt(user.id, user.username) as attempt:
        async with call.services.db.sessions() as db, db.begin():
            locked = await lock_user(db, user.id)
            attempt.succeeded = await use_otp(db, call.services.settings, locked, otp, call.services.clock.now())
        if not attempt.succeeded:
            raise WrongCredentials


async def use_own_second_factor(call: Call, otp: str) -> None:
    """Use up a code of the caller. Raises InvalidInput for a wrong one."""
    async with call.services.db.sessions() as db:
        row = await db.get_one(UserRow, call.caller.user_id)
    try:
        await use_second_factor(call, row, otp)
    except WrongCredentials:
        raise InvalidInput.of_proof("otp", WRONG_OTP) from None
