"""Messages that tell users that the credentials of their log-in have changed."""

import hashlib
from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call
from schema.account.change import AccountChange, ChangeActor
from schema.mail import MailKind
from store.account.staff import STAFF_LANGUAGE
from store.account.users import UserRow
from store.core.clock import clock
from store.mail.link_content import AccountChangeContent
from store.mail.outbox import enqueue_mail
from store.partner.partners import MarketplaceRow, partner_with_time_zone


@dataclass(frozen=True, slots=True)
class Workplace:
    """Whom a user works for: the name of the partner or the marketplace, its language and its IANA time zone. For a user of
    the installation the name is empty.
    """

    name: str = ""
    language: str = STAFF_LANGUAGE
    time_zone: str = "UTC"


async def workplace_of(db: AsyncSession, user: UserRow) -> Workplace:
    """Whom a user works for."""
    if user.partner_id is not None:
        partner, time_zone = await partner_with_time_zone(db, user.partner_id)
        return Workplace(partner.commercial_name, partner.language, time_zone)
    if user.marketplace_id is not None:
        marketplace = await db.get_one(MarketplaceRow, user.marketplace_id)
        return Workplace(marketplace.name, time_zone=marketplace.time_zone)
    return Workplace()


async def queue_notice(
    db: AsyncSession,
    user: UserRow,
    change: AccountChange,
    by: Call | ChangeActor,
    *,
    name: str = "",
    deletes_passkeys: bool = False,
    to: str | None = None,
) -> None:
    """Queue the mail about a change, in the transaction of the change; nothing for a user without an e-mail address, or
    without a password: the address may be one that was invited by mistake.

    `by` is the call of the operation, or who else has made the change. `name` is that of the passkey or the API token. `to`
    is the address that the user had before the change, if it may be another one now. Raises TooManyRequests if users have
    changed too much of others: at most 500 times an hour, and 20 times for one address.
    """
    recipient = user.email if to is None else to
    if not recipient or not user.password_hash:
        return
    if isinstance(by, Call) and by.caller.user_id != user.id:
        await _count(by, recipient)
    workplace, (actor, username) = await workplace_of(db, user), await _actor(db, user, by)
    about = AccountChangeContent(
        first_name=user.first_name,
        username=user.username,
        organisation=workplace.name,
        change=change,
        name=name,
        deletes_passkeys=deletes_passkeys,
        changed_on=clock.now(),
        time_zone=workplace.time_zone,
        actor=actor,
        actor_username=username,
    )
    await _enqueue(db, user, recipient, workplace.language, about)


async def _enqueue(db: AsyncSession, user: UserRow, recipient: str, language: str, about: AccountChangeContent) -> None:
    await enqueue_mail(
        db,
        MailKind.ACCOUNT_CHANGED,
        to=recipient,
        language=language,
        partner_id=user.partner_id,
        marketplace_id=user.marketplace_id,
        about=about.model_dump(),
    )


async def _actor(db: AsyncSession, user: UserRow, by: Call | ChangeActor) -> tuple[ChangeActor, str]:
    """Who has made a change, and the user name of another user."""
    if isinstance(by, ChangeActor):
        return by, ""
    if by.caller.user_id == user.id:
        return ChangeActor.SELF, ""
    return ChangeActor.USER, (await db.get_one(UserRow, by.caller.user_id)).username


async def _count(call: Call, recipient: str) -> None:
    """Count a mail by who causes it and by its address. Raises TooManyRequests beyond their limits."""
    if call.dry_run:
        return
    await call.services.limits.notices.check(call.caller.user_id)
    await call.services.limits.notice_addresses.check(limit_key(recipient.casefold()))


def limit_key(text: str) -> str:
    """A key of a limit that does not tell the text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
