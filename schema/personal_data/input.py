"""What staff send to export or erase the data of a person."""

from typing import ClassVar

from pydantic import Field

from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.validation.contact import RequiredEmail
from schema.validation.numbers import RowId


class PersonAtPartner(SchemaModel):
    """A person, as a partner knows it."""

    HIDDEN_FROM_AUDIT: ClassVar[frozenset[str]] = frozenset({"email"})

    email: RequiredEmail = Field(description="The person's e-mail address. Case does not matter.")
    partner_id: RowId | None = Field(
        default=None,
        description="The partner that keeps the data; required from callers of no partner. For the shop of a network, users "
        "of the marketplace reach the gift cards and vouchers of the network too.",
    )


@graphql_input
class ExportPersonalData(PersonAtPartner):
    """Read all that a partner keeps about a person."""


@graphql_input
class ErasePersonalData(PersonAtPartner):
    """Erase what a partner keeps about a person."""
