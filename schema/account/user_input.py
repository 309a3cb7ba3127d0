"""What is sent to manage marketplaces, users and the domains of partners."""

import zoneinfo
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from schema.core.permission import Permission
from schema.core.resource import Fields, writable, writable_as
from schema.partner.partner import Marketplace, User, UserRole
from schema.validation.characters import up_to
from schema.validation.contact import Email

SHORTEST_PASSWORD = 12


def _time_zone(value: str) -> str:
    """The IANA name of a time zone."""
    if value not in zoneinfo.available_timezones():
        raise PydanticCustomError("time_zone", "Send the IANA name of a time zone, such as Europe/Paris.")
    return value


Password = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=1024)]
Username = Annotated[str, up_to(254, least=1, lower=True)]
FirstName = Annotated[str, up_to(80)]
Name = Annotated[str, up_to(120, least=1)]
Domain = Annotated[str, up_to(253, lower=True)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
Permissions = Annotated[list[Permission], Field(max_length=len(Permission))]
GRANTED = "What the user may do; null: what the role may do by default. Nobody grants what they may not do themselves."


@writable_as(User)
class CreateUser(Fields):
    """Somebody, or some program, that is to log in."""

    username: Username
    password: Password = Field(description="At least 12 characters.")
    role: UserRole
    partner_uuid: UUID | None = Field(
        default=None, description="Of which partner, for the role PARTNER; a partner's own users may leave it out."
    )
    marketplace_uuid: UUID | None = Field(
        default=None,
        description="Of which marketplace, for the role MARKETPLACE; a marketplace's own users may leave it out.",
    )
    first_name: FirstName = ""
    email: Email = ""
    permissions: Permissions | None = Field(default=None, description=GRANTED)


@writable_as(User)
class UpdateUser(Fields):
    """What is left out stays as it is. Whoever may do more than you can't be changed by you."""

    id: int
    first_name: strawberry.Maybe[FirstName]
    email: strawberry.Maybe[Email]
    password: strawberry.Maybe[Password] = Field(
        description="A new one, of at least 12 characters. It ends all log-ins of the user but yours, if it is you."
    )
    permissions: strawberry.Maybe[Permissions | None] = Field(description=GRANTED)
    is_active: strawberry.Maybe[bool]


@writable
class ChangePassword(Fields):
    """A new password for yourself. Your other tokens stop working, and so do log-ins on the venue page."""

    current_password: str = Field(description="The one that you log in with now.")
    new_password: Password = Field(description="At least 12 characters.")


@writable_as(Marketplace)
class CreateMarketplace(Fields):
    """A new network of partners. Its currency cannot be changed later."""

    name: Name
    domain: Domain = ""
    currency: Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True)] = "EUR"
    time_zone: TimeZone = "Europe/Paris"


@writable_as(Marketplace)
class UpdateMarketplace(Fields):
    """What is left out stays as it is."""

    id: int
    name: strawberry.Maybe[Name]
    domain: strawberry.Maybe[Domain]
    time_zone: strawberry.Maybe[TimeZone]


@writable
class ChangeSiteDomain(Fields):
    """Where the checkout of a partner is to be found."""

    partner_uuid: UUID = Field(description="The partner.")
    site_domain: Annotated[str, up_to(253, least=1, lower=True)] = Field(
        description="A host name that leads to this service, without a scheme: `checkout.shop.example`."
    )
