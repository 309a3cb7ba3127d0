"""Log-in of staff on the venue page and in the back office: a token in a cookie, which expires by itself and can be
revoked like any token.
"""

import dataclasses
import datetime as dt
import hashlib
import secrets
from dataclasses import dataclass

import orjson
from sqlalchemy import update
from sqlmodel import col, select

from resolvers.account.passkeys import obtain_token_with_passkey
from resolvers.account.tokens import complete_obtaining, obtain_token, revoke_token
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.services import Services
from schema.account.passkey import ObtainTokenWithPasskey
from schema.account.token import IssuedToken, ObtainToken, RevokeToken
from schema.account.user import TokenKind
from schema.core.errors import SecondFactorRequired, Unauthenticated, WrongCredentials
from store.account.users import TokenRow, UserRow
from store.partner.partners import MarketplaceRow, PartnerRow

LOGIN_LIFETIME = dt.timedelta(hours=12)
"""Lifetime of a log-in after its last use."""
RENEW_AFTER = dt.timedelta(minutes=10)
"""Age at which a log-in is renewed, so that not every page view writes to the database."""
TICKET_LIFETIME = dt.timedelta(minutes=10)
"""How long the code of a second factor can be entered after the password."""


@dataclass(frozen=True, slots=True)
class StaffSite:
    """Where staff log in. With a partner, only users who may see that partner get in."""

    label: str
    """The label of the tokens."""
    partner_id: int | None = None
    marketplace_id: int | None = None

    def admits(self, caller: Caller) -> bool:
        """Whether a user gets in."""
        return self.partner_id is None or caller.sees(self.partner_id, self.marketplace_id)

    def limit(self, caller: Caller) -> Caller:
        """The user, limited to the rows of the partner, if there is one, with the user's own permissions."""
        if self.partner_id is None:
            return caller
        return dataclasses.replace(
            caller, role=Role.PARTNER, partner_id=self.partner_id, marketplace_id=self.marketplace_id
        )


BACK_OFFICE = StaffSite("Back office")


def venue_site(partner_id: int, marketplace_id: int) -> StaffSite:
    """The venue page of a partner."""
    return StaffSite("Redeem page", partner_id, marketplace_id)


@dataclass(frozen=True, slots=True)
class LogInStep:
    """How far a log-in has come: a token, or else a ticket with which the code of the second factor is sent."""

    token: str = ""
    ticket: str = ""


async def log_in(context: Context, username: str, password: str, site: StaffSite) -> LogInStep:
    """Log in a user, or find that a code is needed besides. Raises `WrongCredentials`, also for a user whom the site does
    not admit.

    Uses the operation `obtain_token`, with its pauses after failures. Secrets are in the return value only.
    """
    given = ObtainToken(username=username, password=password, label=site.label, hours=_hours())
    try:
        issued = await obtain_token(context, given)
    except SecondFactorRequired as needed:
        await _check_admitted(context.services, needed.user_id, site)
        return LogInStep(ticket=await _keep_ticket(context.services, needed))
    return LogInStep(token=await _admit(context, issued, site))


async def log_in_with_code(context: Context, ticket: str, otp: str, site: StaffSite) -> str:
    """Complete a log-in with a code of the second factor; returns the token.

    Raises Unauthenticated if the ticket has expired or was used, or the password has changed: the user begins again. Raises `WrongCredentials` for a
    wrong code, which can be corrected with the same ticket, and for a user whom the site does not admit.
    """
    key = _ticket_key(ticket)
    kept = await context.services.kv.get(key)
    if kept is None:
        raise Unauthenticated
    user_id, proof = orjson.loads(kept.value)
    issued = await complete_obtaining(context, user_id, proof, otp, site.label, _hours())
    token = await _admit(context, issued, site)
    await context.services.kv.delete(key)
    return token


async def log_in_with_passkey(context: Context, credential: str, site: StaffSite) -> str:
    """Log in a user with the browser's answer about a passkey; returns the token. Raises `WrongCredentials`, also for a user
    whom the site does not admit. A second factor is not asked for.
    """
    given = ObtainTokenWithPasskey(credential=credential, label=site.label, hours=_hours())
    return await _admit(context, await obtain_token_with_passkey(context, given), site)


async def log_out(context: Context) -> None:
    """Revoke the caller's token."""
    await revoke_token(context, RevokeToken())


async def authenticate_staff(services: Services, secret: str, site: StaffSite) -> Caller:
    """The logged-in user, as `StaffSite.limit` has it.

    Raises Unauthenticated if the log-in has ended, or if the user is inactive or is not admitted.
    """
    caller = await services.authenticator.authenticate(secret)
    if not site.admits(caller):
        raise Unauthenticated
    await _renew(services, caller)
    return site.limit(caller)


async def display_name_of(services: Services, caller: Caller) -> str:
    """The user's first name, else the user name."""
    async with services.db.sessions() as db:
        user = (await db.exec(select(UserRow).where(col(UserRow.id) == caller.user_id))).one()
    return user.first_name or user.username


async def tenant_name_of(services: Services, caller: Caller) -> str:
    """The name of the partner or the marketplace that the user works for; empty for users of the platform."""
    async with services.db.read_sessions() as db:
        if caller.role is Role.PARTNER and caller.partner_id is not None:
            return (await db.get_one(PartnerRow, caller.partner_id)).commercial_name
        if caller.role is Role.MARKETPLACE and caller.marketplace_id is not None:
            return (await db.get_one(MarketplaceRow, caller.marketplace_id)).name
    return ""


async def _check_admitted(services: Services, user_id: int, site: StaffSite) -> None:
    """Raise WrongCredentials if the site does not admit a user who has no token yet."""
    async with services.db.sessions() as db:
        user = await db.get_one(UserRow, user_id)
    role = Role(user.role)
    if not site.admits(Caller(role, frozenset(), partner_id=user.partner_id, marketplace_id=user.marketplace_id)):
        raise WrongCredentials


async def _admit(context: Context, issued: IssuedToken, site: StaffSite) -> str:
    """The new token. If the site does not admit its user, it is revoked and WrongCredentials raised."""
    caller = await context.services.authenticator.authenticate(issued.token)
    if not site.admits(caller):
        await log_out(dataclasses.replace(context, caller=caller))
        raise WrongCredentials
    return issued.token


async def _keep_ticket(services: Services, proven: SecondFactorRequired) -> str:
    """A ticket for a user whose password was right. Only its digest is stored."""
    ticket = secrets.token_urlsafe(32)
    value = orjson.dumps([proven.user_id, proven.proof])
    await services.kv.write(_ticket_key(ticket), value, TICKET_LIFETIME)
    return ticket


def _ticket_key(ticket: str) -> str:
    return f"coffret:log-in:ticket:{hashlib.sha256(ticket.encode(errors='surrogatepass')).hexdigest()}"


def _hours() -> int:
    return int(LOGIN_LIFETIME.total_seconds()) // 3600


async def _renew(services: Services, caller: Caller) -> None:
    """Extend a log-in to its full lifetime. Other tokens keep their expiry."""
    until = services.clock.now() + LOGIN_LIFETIME
    ours = col(TokenRow.id) == caller.token_id, col(TokenRow.kind) == TokenKind.LOG_IN
    due = col(TokenRow.expires_on) < until - RENEW_AFTER
    async with services.db.sessions() as db, db.begin():
        await db.exec(update(TokenRow).where(*ours, due).values(expires_on=until))
