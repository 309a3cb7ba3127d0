"""Users, as those manage them who may: nobody makes or changes a user who may do more than they may themselves."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import strawberry
from pydantic import Field
from sqlmodel import col, select

from resolvers.callers import permissions_of
from resolvers.changes import ById, apply, marketplace_of, owner_of
from resolvers.computed import computes
from resolvers.context import Context, Role
from resolvers.listing import Filter, Listing, Lookup, Where
from resolvers.operation import Call, operation
from schema.account_input import ChangePassword, CreateUser, UpdateUser
from schema.errors import InvalidInput
from schema.permission import Permission, Rule
from schema.tenancy import User, UserRole
from schema.values import ClosedSet, closed_set, writable_as
from store.credentials import hashed, matches
from store.tenancy import UserRow


@closed_set
class UserSort(ClosedSet):
    """How to order users."""

    USERNAME = "username", "By user name."
    USERNAME_DESCENDING = "-username", "By user name, backwards."
    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@writable_as(User)
class UserFilter(Filter):
    """Which users."""

    role: Annotated[UserRole | None, Where("role")] = None
    is_active: Annotated[bool | None, Where("is_active")] = None
    username_contains: Annotated[str | None, Where("username", "contains")] = Field(
        default=None, description="Whose user name holds this, in capitals or not."
    )
    email_contains: Annotated[str | None, Where("email", "contains")] = Field(
        default=None, description="Whose e-mail address holds this, in capitals or not."
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
    partner_id, marketplace_id = await _belonging(call, input)
    row = UserRow(
        username=input.username,
        email=input.email or (input.username if "@" in input.username else ""),
        first_name=input.first_name,
        role=input.role,
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        permissions=None if input.permissions is None else [str(each) for each in input.permissions],
        password_hash=await hashed(input.password),
    )
    _no_more_than_own(call, row)
    call.db.add(row)
    await call.db.flush()
    return row


_user = ById(UserRow, "user")


@operation(Permission.MANAGE_USER, exists=_user)
async def update_user(call: Call, input: UpdateUser) -> User:
    """Change a user. Who is made inactive is refused everywhere within five seconds."""
    row = await _user.find(call, input.id, lock=True)
    if permissions_of(row) - _own(call):
        raise InvalidInput.at("id", "This user may do more than you may.")
    if row.id == call.caller.user_id and (input.permissions is not None or input.is_active == strawberry.Some(False)):
        raise InvalidInput.at("id", "Somebody else has to take your own access away, or change what you may do.")
    apply(row, input, skip={"password"})
    _no_more_than_own(call, row)
    if input.password is not None:
        row.password_hash = await hashed(input.password.value)
    call.services.callers.forget(user_id=row.id)
    await call.db.flush()
    return row


@operation(Rule.AUTHENTICATED, transaction=False)
async def change_password(call: Call, input: ChangePassword) -> User:
    """Change your own password. Wrong tries count as wrong log-ins do, and are followed by pauses."""
    sessions, id = call.services.db.sessions, call.caller.user_id
    async with sessions() as db:
        row = await db.get_one(UserRow, id)
    async with call.services.limits.log_ins.attempt(row.username, call.context.address) as attempt:
        attempt.succeeded = await matches(row.password_hash, input.current_password)
    if not attempt.succeeded:
        raise InvalidInput.at("current_password", "This is not the password that you log in with.")
    password_hash = await hashed(input.new_password)
    async with sessions() as db, db.begin():
        row = await db.get_one(UserRow, id)
        row.password_hash = password_hash
        await call.keep(db, row)
    return row


async def _belonging(call: Call, input: CreateUser) -> tuple[int | None, int | None]:
    """The ids of the partner and of the marketplace that a user is of."""
    if input.partner_uuid is not None and input.role is not UserRole.PARTNER:
        raise InvalidInput.at("partner_uuid", "Only users with the role PARTNER are of a partner.")
    if input.marketplace_uuid is not None and input.role is not UserRole.MARKETPLACE:
        raise InvalidInput.at("marketplace_uuid", "Only users with the role MARKETPLACE are of a marketplace.")
    if input.role is UserRole.PARTNER:
        return (await owner_of(call, input.partner_uuid)).id, None
    own = {Role.MARKETPLACE: {UserRole.MARKETPLACE}, Role.MASTER: {UserRole.MARKETPLACE, UserRole.MASTER}}
    if input.role not in own.get(call.caller.role, set()):
        raise InvalidInput.at("role", "Your own role does not see that much.")
    return None, (await marketplace_of(call, input.marketplace_uuid)).id if input.role is UserRole.MARKETPLACE else None


def _own(call: Call) -> frozenset[Permission]:
    caller = call.caller
    return frozenset(permission for permission in Permission if caller.may(permission))


def _no_more_than_own(call: Call, row: UserRow) -> None:
    beyond = permissions_of(row) - _own(call)
    if beyond:
        told = ", ".join(sorted(beyond))
        raise InvalidInput.at("permissions", f"You may not do this yourself, so you cannot grant it: {told}.")
