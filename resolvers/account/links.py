"""Links in mail with which users choose a password: forgotten passwords, and invitations."""

import asyncio
import time
from typing import Annotated

import strawberry
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.account.notices import limit_key, workplace_of
from resolvers.account.tokens import set_password
from resolvers.account.users import new_user, user_by_id
from resolvers.core.operation import Call, operation
from resolvers.core.services import Services
from schema.account.change import ChangeActor
from schema.account.link import (
    IN_THE_LINK,
    AccountLink,
    AccountLinkKind,
    PasswordResetRequest,
    RequestPasswordReset,
    ResendInvitation,
    ResetPassword,
)
from schema.account.user import User
from schema.account.user_input import InviteUser
from schema.core.errors import InvalidInput, InvitationOver, LinkOver
from schema.core.permission import AccessRule, Permission
from schema.mail import MailKind
from store.account.credentials import hash_password, normal_username
from store.account.links import (
    LIFETIMES,
    AccountLinkRow,
    add_link,
    delete_expired_links,
    find_link,
    invited_user,
    lock_users_called,
)
from store.account.second_factor import lock_user
from store.account.users import UserRow
from store.core.client_network import client_network_of
from store.mail.link_content import AccountLinkContent
from store.mail.outbox import enqueue_mail

RESPONSE_SECONDS = 0.3
"""A request for a link is answered after this time, so that its duration does not tell whether the user exists."""
MOST_USERS = 5
"""How many users of one e-mail address get a link."""
KINDS = {
    AccountLinkKind.PASSWORD_RESET: MailKind.PASSWORD_RESET,
    AccountLinkKind.INVITATION: MailKind.USER_INVITATION,
}


@operation(AccessRule.PUBLIC, transaction=False)
async def request_password_reset(call: Call, input: RequestPasswordReset) -> PasswordResetRequest:
    """Send the user with this name or e-mail address a link to choose a new password. It works once, for an hour. The
    answer is the same whether there is such a user or not. Whoever has never chosen a password needs an invitation.
    """
    began, name = time.monotonic(), normal_username(input.username)
    limits = call.services.limits
    await limits.password_reset_addresses.check(client_network_of(call.context.address))
    await limits.password_resets.check(limit_key(name))
    async with call.services.db.sessions() as db, db.begin():
        for user in await lock_users_called(db, name, MOST_USERS):
            await _send_link(db, call, user, AccountLinkKind.PASSWORD_RESET, input.language)
            call.add_audit_subject(user)
    await asyncio.sleep(max(0.0, RESPONSE_SECONDS - (time.monotonic() - began)))
    return PasswordResetRequest(minutes=int(LIFETIMES[AccountLinkKind.PASSWORD_RESET].total_seconds()) // 60)


@operation(AccessRule.PUBLIC)
async def account_link(call: Call, token: Annotated[str, strawberry.argument(description=IN_THE_LINK)]) -> AccountLink:
    """The link of a message to choose a password, by its token. Raises `LINK_OVER` if it was used or has expired."""
    found = await find_link(call.db, call.services.settings, token, call.services.clock.now())
    if found is None:
        raise LinkOver
    return _published(*found)


@operation(AccessRule.PUBLIC, transaction=False)
async def reset_password(call: Call, input: ResetPassword) -> AccountLink:
    """Choose a password with a link from a message. All log-ins and API tokens of the user stop working within five seconds,
    the passkeys are deleted, and all links end. A second factor stays on.
    """
    settings, clock = call.services.settings, call.services.clock
    async with call.services.db.sessions() as db:
        if await find_link(db, settings, input.token, clock.now()) is None:
            raise LinkOver
    password_hash = await hash_password(input.new_password)
    async with call.services.db.sessions() as db, db.begin():
        unlocked = await find_link(db, settings, input.token, clock.now())
        if unlocked is not None:
            await lock_user(db, unlocked[1].id)
        found = unlocked and await find_link(db, settings, input.token, clock.now())
        if found is None:  # used concurrently
            raise LinkOver
        link, user = found
        await set_password(db, user, password_hash, clock, ChangeActor.LINK)
    call.services.authenticator.invalidate(user_id=user.id)
    call.add_audit_subject(user)
    return _published(link, user)


@operation(Permission.MANAGE_USER)
async def invite_user(call: Call, input: InviteUser) -> User:
    """Create a user without a password, and send a link to choose one. It works once, for seven days; `resendInvitation`
    sends another. You can only grant permissions that you have. A user sends a hundred invitations an hour at most, and five of
    them reach one address.
    """
    row = await new_user(call, input)
    if not row.email:
        raise InvalidInput.at("email", "An e-mail address is needed to invite somebody.")
    await _count_invitation(call, row)
    call.db.add(row)
    await call.db.flush()
    await _send_link(call.db, call, row, AccountLinkKind.INVITATION, input.language)
    return row


@operation(Permission.MANAGE_USER, exists=user_by_id)
async def resend_invitation(call: Call, input: ResendInvitation) -> User:
    """Send another invitation to a user who has not chosen a password yet."""
    row = await user_by_id.find(call, input.id, lock=True)
    if row.password_hash or not row.is_active:
        raise InvitationOver
    if not row.email:
        raise InvalidInput.at("id", "This user has no e-mail address.")
    await _count_invitation(call, row)
    call.add_audit_subject(row)
    await _send_link(call.db, call, row, AccountLinkKind.INVITATION, input.language)
    return row


async def _count_invitation(call: Call, user: UserRow) -> None:
    """Count an invitation by its sender and by its address. Raises TooManyRequests beyond their limits."""
    if call.dry_run:
        return
    limits = call.services.limits
    await limits.invitations.check(call.caller.user_id)
    await limits.invitation_addresses.check(limit_key(user.email.casefold()))


async def needs_invitation(services: Services, token: str) -> bool:
    """Whether a link that has ended was an invitation of a user who still has no password, and so needs another one."""
    async with services.db.sessions() as db:
        user = await invited_user(db, services.settings, token)
    return user is not None and not user.password_hash


async def prune(services: Services) -> int:
    """Delete links that expired 30 days ago; returns their number."""
    async with services.db.sessions() as db, db.begin():
        return await delete_expired_links(db, services.clock.now())


async def _send_link(db: AsyncSession, call: Call, user: UserRow, kind: AccountLinkKind, language: str) -> None:
    link = await add_link(db, user, kind, call.services.clock.now())
    about = AccountLinkContent(
        link=link.uuid,
        first_name=user.first_name,
        username=user.username,
        organisation=(await workplace_of(db, user)).name,
    )
    await enqueue_mail(
        db,
        KINDS[kind],
        to=user.email,
        language=language,
        partner_id=user.partner_id,
        marketplace_id=user.marketplace_id,
        about=about.model_dump(),
    )


def _published(link: AccountLinkRow, user: UserRow) -> AccountLink:
    return AccountLink(kind=link.kind, username=user.username, first_name=user.first_name, expires_on=link.expires_on)
