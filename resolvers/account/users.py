"""Users, as those manage them who may: nobody makes or changes a user who may do more than they may themselves."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import strawberry
from pydantic import Field
from sqlmodel import col, select

from resolvers.account.tokens import set_password
from resolvers.core.authentication import permissions_of
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context, Role
from resolvers.core.input_mapping import ById, apply, marketplace_among, owner_among
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from schema.account.user_input import ChangePassword, CreateUser, UpdateUser
from schema.core.errors import AlreadyTaken, InvalidInput
from schema.core.input_errors import Findings
from schema.core.permission import Permission, Rule
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.partner.partner import User, UserRole
from store.account.credentials import hashed, matches
from store.partner.partners import UserRow


@closed_set
class UserSort(ClosedSet):
    """How to order users."""

    USERNAME = "username", "By user name."
    USERNAME_DESCENDING = "-username", "By user name, backwards."
    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@writable_as(User)
class UserFilter(OfPartner):
    """Which users."""

    role: Annotated[UserRole | None, Where("role")] = None
    is_active: Annotated[bool | None, Where("is_active")] = None
    username_contains: Annotated[str | None, Where("username", "contains")] = Field(
        default=None, description="Whose user name holds this, whatever the case and the accents."
    )
    email_contains: Annotated[str | None, Where("email", "contains")] = Field(
        default=None, description="Whose e-mail address holds this, whatever the case and the accents."
    )


users = Listing(User, UserFilter, UserSort, Permission.MANAGE_USER, "The users you see, by user name.")
user = Lookup(User, "id", "user", Permission.MANAGE_USER, "A user by its id.")


@computes(User, "effective_permissions")
async def effective_permissions(context: Context, ids: Sequence[int]) -> Mapping[int, list[Permission]]:
    """What users may do, in the order of the names."""
    async with context.db.sessions() as db:
        rows = (await db.exec(select(UserRow).where(col(UserRow.id).in_(ids)))).all()
    return {row.id: sorted(permissions_of(row)) for row in rows}


@operation(Permission.MANAGE_USER)
async def create_user(call: Call, input: CreateUser) -> User:
    """Make a user, who can log in at once. Nobody can grant what they may not do themselves."""
    findings = Findings()
    with findings.of_one():
        partner_id, marketplace_id = await _belonging(call, input)
    with findings.of_one():
        _check_granted(call, input)
    with findings.of_one():
        await _check_free(call, input.username)
    findings.tell()
    row = UserRow(
        username=input.username,
        email=input.email or (input.username if "@" in input.username else ""),
        first_name=input.first_name,
        role=input.role,
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        permissions=_granted(input.permissions),
        password_hash=await hashed(input.password),
    )
    call.db.add(row)
    await call.db.flush()
    return row


_user = ById(UserRow, "user")


@operation(Permission.MANAGE_USER, exists=_user)
async def update_user(call: Call, input: UpdateUser) -> User:
    """Change a user. Who is made inactive is refused everywhere within five seconds, and so are, with a new password, all
    tokens of the user but that of this request.
    """
    row = await _user.find(call, input.id, lock=True)
    findings = Findings()
    with findings.of_one():
        _check_changeable(call, row, input)
    apply(row, input, skip={"password"})
    with findings.of_one():
        if input.permissions is not None:
            _no_more_than_own(call, row)
    findings.tell()
    if input.password is not None:
        kept = await hashed(input.password.value)
        await set_password(call.db, row, kept, call.services.clock, but=call.caller.token_id)
    call.services.callers.forget(user_id=row.id)
    await call.db.flush()
    return row


@operation(Rule.AUTHENTICATED, transaction=False)
async def change_password(call: Call, input: ChangePassword) -> User:
    """Change your own password. All your tokens but that of this request stop working everywhere within five seconds.

    Wrong tries count as wrong log-ins do, and are followed by pauses.
    """
    sessions, id = call.services.db.sessions, call.caller.user_id
    async with sessions() as db:
        row = await db.get_one(UserRow, id)
    async with call.services.limits.log_ins.attempt(row.username, call.context.address) as attempt:
        attempt.succeeded = await matches(row.password_hash, input.current_password)
    checked, wrong = row.password_hash, "This is not the password that you log in with."
    if not attempt.succeeded:
        raise InvalidInput.at("current_password", wrong)
    password_hash = await hashed(input.new_password)
    async with sessions() as db, db.begin():
        row = await db.get_one(UserRow, id, with_for_update=True)
        if row.password_hash != checked:  # somebody has changed it since
            raise InvalidInput.at("current_password", wrong)
        await set_password(db, row, password_hash, call.services.clock, but=call.caller.token_id)
        await call.keep(db, row)
    call.services.callers.forget(user_id=id)
    return row


def _check_changeable(call: Call, row: UserRow, input: UpdateUser) -> None:
    """Refuse to change who may do more than the caller, and to take one's own access away."""
    if permissions_of(row) - _own(call):
        raise InvalidInput.at("id", "This user may do more than you may.")
    if row.id == call.caller.user_id and (input.permissions is not None or input.is_active == strawberry.Some(False)):
        raise InvalidInput.at("id", "Somebody else has to take your own access away, or change what you may do.")


async def _check_free(call: Call, username: str) -> None:
    """Refuse a name that somebody has; a constraint refuses one that somebody takes meanwhile."""
    taken = select(UserRow.id).where(col(UserRow.username) == username)
    if (await call.db.exec(taken)).first() is not None:
        raise AlreadyTaken("username", what="user name")


def _granted(permissions: Sequence[Permission] | None) -> list[str] | None:
    """What a user may do, as it is kept; None for what the role may do by default."""
    return None if permissions is None else [str(each) for each in permissions]


async def _belonging(call: Call, input: CreateUser) -> tuple[int | None, int | None]:
    """The ids of the partner and of the marketplace that a user is of."""
    findings = Findings()
    with findings.of_one():
        if input.partner_uuid is not None and input.role is not UserRole.PARTNER:
            raise InvalidInput.at("partner_uuid", "Only users with the role PARTNER are of a partner.")
    with findings.of_one():
        if input.marketplace_uuid is not None and input.role is not UserRole.MARKETPLACE:
            raise InvalidInput.at("marketplace_uuid", "Only users with the role MARKETPLACE are of a marketplace.")
    if input.role is UserRole.PARTNER:
        partner = await owner_among(findings, call, input)
        findings.tell()
        return partner.id, None
    with findings.of_one():
        _check_role(call, input.role)
    if input.role is UserRole.MARKETPLACE:
        marketplace = await marketplace_among(findings, call, input)
        findings.tell()
        return None, marketplace.id
    findings.tell()
    return None, None


def _check_role(call: Call, role: UserRole) -> None:
    """Refuse a role that sees more than the caller's."""
    if role not in _roles_below(call):
        raise InvalidInput.at("role", "Your own role does not see that much.")


def _roles_below(call: Call) -> frozenset[UserRole]:
    """The roles that see no more than the caller's."""
    below = {Role.MARKETPLACE: {UserRole.MARKETPLACE}, Role.MASTER: {UserRole.MARKETPLACE, UserRole.MASTER}}
    return frozenset({UserRole.PARTNER, *below.get(call.caller.role, ())})


def _check_granted(call: Call, input: CreateUser) -> None:
    """Refuse to grant more than the caller may do. What a role may do by default counts where the role itself is not refused."""
    if input.permissions is not None or input.role in _roles_below(call):
        _no_more_than_own(call, UserRow(username="", role=input.role, permissions=_granted(input.permissions)))


def _own(call: Call) -> frozenset[Permission]:
    caller = call.caller
    return frozenset(permission for permission in Permission if caller.may(permission))


def _no_more_than_own(call: Call, row: UserRow) -> None:
    beyond = permissions_of(row) - _own(call)
    if beyond:
        told = ", ".join(sorted(beyond))
        raise InvalidInput.at("permissions", f"You may not do this yourself, so you cannot grant it: {told}.")
