"""User management by users: nobody can create or change a user who has more permissions than they have themselves."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import strawberry
from pydantic import Field
from sqlmodel import col, select

from resolvers.account.notices import queue_notice
from resolvers.account.tokens import set_password
from resolvers.account.verification import WRONG_PASSWORD, verify_own_password
from resolvers.core.authentication import permissions_of
from resolvers.core.caller import Role
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, apply, collect_marketplace, collect_owner
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.account.change import AccountChange
from schema.account.user import User, UserRole
from schema.account.user_input import ChangePassword, CreateUser, UpdateUser, UserFields
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import AlreadyTaken, InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.permission import AccessRule, Permission
from store.account.credentials import hash_password
from store.account.links import end_links
from store.account.second_factor import lock_user
from store.account.users import UserRow


@graphql_enum
class UserSort(DescribedEnum):
    """Sort order of users."""

    USERNAME = "username", "By user name, from A to Z."
    USERNAME_DESCENDING = "-username", "By user name, from Z to A."
    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@graphql_input_for(User)
class UserFilter(OfPartner):
    """Filter for users."""

    role: Annotated[UserRole | None, Where("role")] = None
    is_active: Annotated[bool | None, Where("is_active")] = None
    username_contains: Annotated[str | None, Where("username", "contains")] = Field(
        default=None, description="Only users whose user name contains this, ignoring case and accents."
    )
    email_contains: Annotated[str | None, Where("email", "contains")] = Field(
        default=None, description="Only users whose e-mail address contains this, ignoring case and accents."
    )


users = Listing(User, UserFilter, UserSort, Permission.MANAGE_USER, "The users visible to you, by user name.")
user = Lookup(User, "id", "user", Permission.MANAGE_USER, "A user by its id.")


@computes(User, "effective_permissions")
async def effective_permissions(context: Context, ids: Sequence[int]) -> Mapping[int, list[Permission]]:
    """The permissions of users, sorted by name."""
    async with context.db.read_sessions() as db:
        rows = (await db.exec(select(UserRow).where(col(UserRow.id).in_(ids)))).all()
    return {row.id: sorted(permissions_of(row)) for row in rows}


@computes(User, "has_password")
async def has_password(context: Context, ids: Sequence[int]) -> Mapping[int, bool]:
    """Whether users have a password."""
    query = select(UserRow.id, col(UserRow.password_hash) != "").where(col(UserRow.id).in_(ids))
    async with context.db.read_sessions() as db:
        return dict((await db.exec(query)).all())


@operation(Permission.MANAGE_USER)
async def create_user(call: Call, input: CreateUser) -> User:
    """Create a user, who can log in at once. You can only grant permissions that you have."""
    row = await new_user(call, input)
    row.password_hash = await hash_password(input.password)
    call.db.add(row)
    await call.db.flush()
    return row


async def new_user(call: Call, input: UserFields) -> UserRow:
    """A user as it is to be created, without a password. Raises InvalidInput with all that is wrong."""
    findings = ProblemCollector()
    with findings.collect():
        partner_id, marketplace_id = await _owner_ids(call, input)
    with findings.collect():
        _check_initial_permissions(call, input)
    with findings.collect():
        await _check_free(call, input.login_name)
    findings.raise_problems()
    return UserRow(
        username=input.login_name,
        email=input.mail_address,
        first_name=input.first_name,
        role=input.role,
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        permissions=_stored_permissions(input.permissions),
    )


user_by_id = ById(UserRow, "user")


@operation(Permission.MANAGE_USER, exists=user_by_id)
async def update_user(call: Call, input: UpdateUser) -> User:
    """Update a user. A deactivated user is refused everywhere within five seconds. A new password revokes all tokens of
    the user, except the token of this request, and deletes the user's passkeys.
    """
    row = await user_by_id.find(call, input.id, lock=True)
    findings = ProblemCollector()
    with findings.collect():
        _check_changeable(call, row, input)
    former_email = row.email
    apply(row, input, skip={"password"})
    with findings.collect():
        if input.permissions is not None:
            _check_grantable(call, row)
    findings.raise_problems()
    is_moved = row.email.casefold() != former_email.casefold()
    if input.password is not None:
        password_hash = await hash_password(input.password.value)
        kept_token, clock = call.caller.token_id, call.services.clock
        change = AccountChange.EMAIL_AND_PASSWORD if is_moved else AccountChange.PASSWORD
        await set_password(
            call.db, row, password_hash, clock, call, except_token_id=kept_token, change=change, to=former_email
        )
    elif is_moved:
        await queue_notice(call.db, row, AccountChange.EMAIL, call, to=former_email)
    if row.email != former_email:  # links that were sent to the former address
        await end_links(call.db, row.id, call.services.clock.now())
    call.services.authenticator.invalidate(user_id=row.id)
    await call.db.flush()
    return row


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def change_password(call: Call, input: ChangePassword) -> User:
    """Change your own password. All your tokens except the token of this request stop working everywhere within five
    seconds.

    A wrong current password counts as a failed log-in, and is followed by the same pauses.
    """
    checked = await verify_own_password(call, input.current_password, "current_password")
    password_hash = await hash_password(input.new_password)
    async with call.services.db.sessions() as db, db.begin():
        row = await lock_user(db, checked.id)
        if row.password_hash != checked.password_hash:  # changed concurrently
            raise InvalidInput.at("current_password", WRONG_PASSWORD)
        kept_token, clock = call.caller.token_id, call.services.clock
        await set_password(db, row, password_hash, clock, call, except_token_id=kept_token, keep_passkeys=True)
        await call.store_response(db, row)
    call.services.authenticator.invalidate(user_id=row.id)
    return row


def _check_changeable(call: Call, row: UserRow, input: UpdateUser) -> None:
    """Raise InvalidInput if the user has permissions that the caller lacks, or if callers would deactivate themselves
    or change their own permissions.
    """
    check_not_above(call, row)
    if row.id == call.caller.user_id and (input.permissions is not None or input.is_active == strawberry.Some(False)):
        raise InvalidInput.at("id", "You cannot deactivate yourself or change your own permissions.")


def check_not_above(call: Call, row: UserRow) -> None:
    """Raise InvalidInput if the user has permissions that the caller lacks."""
    if permissions_of(row) - _own_permissions(call):
        raise InvalidInput.at("id", "This user has permissions that you do not have.")


async def _check_free(call: Call, username: str) -> None:
    """Raise AlreadyTaken if the user name is taken; a unique constraint catches concurrent creation."""
    taken = select(UserRow.id).where(col(UserRow.username) == username)
    if (await call.db.exec(taken)).first() is not None:
        raise AlreadyTaken("username", what="user name")


def _stored_permissions(permissions: Sequence[Permission] | None) -> list[str] | None:
    """Permissions as stored; None for the defaults of the role."""
    return None if permissions is None else [str(each) for each in permissions]


async def _owner_ids(call: Call, input: UserFields) -> tuple[int | None, int | None]:
    """The partner id and the marketplace id of a new user. Raises InvalidInput if they do not fit the role."""
    findings = ProblemCollector()
    with findings.collect():
        if input.partner_uuid is not None and input.role is not UserRole.PARTNER:
            raise InvalidInput.at("partner_uuid", "Only users with the role PARTNER belong to a partner.")
    with findings.collect():
        if input.marketplace_uuid is not None and input.role is not UserRole.MARKETPLACE:
            raise InvalidInput.at("marketplace_uuid", "Only users with the role MARKETPLACE belong to a marketplace.")
    if input.role is UserRole.PARTNER:
        partner = await collect_owner(findings, call, input)
        findings.raise_problems()
        return partner.id, None
    with findings.collect():
        _check_role(call, input.role)
    if input.role is UserRole.MARKETPLACE:
        marketplace = await collect_marketplace(findings, call, input)
        findings.raise_problems()
        return None, marketplace.id
    findings.raise_problems()
    return None, None


def _check_role(call: Call, role: UserRole) -> None:
    if role not in _roles_below(call):
        raise InvalidInput.at("role", "You cannot assign a role that sees more than your own.")


def _roles_below(call: Call) -> frozenset[UserRole]:
    """The roles that see at most as much as the caller's role."""
    below = {Role.MARKETPLACE: {UserRole.MARKETPLACE}, Role.MASTER: {UserRole.MARKETPLACE, UserRole.MASTER}}
    return frozenset({UserRole.PARTNER, *below.get(call.caller.role, ())})


def _check_initial_permissions(call: Call, input: UserFields) -> None:
    """Raise InvalidInput if the new user would have permissions that the caller lacks. The role's defaults are checked
    only if the role itself is allowed, so that one mistake is not reported twice.
    """
    if input.permissions is not None or input.role in _roles_below(call):
        _check_grantable(
            call, UserRow(username="", role=input.role, permissions=_stored_permissions(input.permissions))
        )


def _own_permissions(call: Call) -> frozenset[Permission]:
    caller = call.caller
    return frozenset(permission for permission in Permission if caller.may(permission))


def _check_grantable(call: Call, row: UserRow) -> None:
    beyond = permissions_of(row) - _own_permissions(call)
    if beyond:
        names = ", ".join(sorted(beyond))
        raise InvalidInput.at(
            "permissions",
            TemplatedMessage("You can only grant permissions that you have. You do not have: {names}.", names=names),
        )
