"""What can be imported from CSV files: of each resource a mutation that takes a list, and tries it out with `dryRun`."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from graphql import GraphQLInputObjectType, get_named_type

from admin.graph.schema_types import access_of, input_of, mutations
from schema.core.permission import RequiredAccess
from schema.gift_card import import_input as gift_card_input
from schema.voucher import issue_input as voucher_input


@dataclass(frozen=True)
class CsvImport:
    """An import of a resource's objects."""

    slug: str
    """The name of the resource in addresses."""
    mutation: str
    items: str
    """The field of its input with the list."""
    most: int
    """The number of objects that it takes at once."""
    sums: tuple[tuple[str, ...], ...]
    """Columns with amounts that are added up, each with those that take its place where it is empty."""
    example: Mapping[str, str]
    """The line of the template below its header."""

    @property
    def input(self) -> GraphQLInputObjectType:
        """The input of the mutation."""
        return input_of(self.mutation)

    @functools.cached_property
    def item(self) -> GraphQLInputObjectType:
        """The input of one object."""
        named = get_named_type(self.input.fields[self.items].type)
        assert isinstance(named, GraphQLInputObjectType)
        return named

    @property
    def access(self) -> RequiredAccess:
        """What it requires of its caller."""
        return access_of(mutations()[self.mutation])


CSV_IMPORTS: Mapping[str, CsvImport] = {
    each.slug: each
    for each in (
        CsvImport(
            "gift-cards",
            "importGiftCards",
            "giftCards",
            gift_card_input.MOST_IMPORTED,
            (("value",), ("remainingValue", "value")),
            {
                "code": "OLD-0001",
                "value": "100.00",
                "remainingValue": "60.00",
                "createdOn": "2025-03-01",
                "expiresOn": "2028-03-01",
                "gifteeDetails.firstName": "Ada",
                "gifteeDetails.lastName": "Martin",
                "gifteeDetails.email": "ada@example.com",
                "language": "en",
            },
        ),
        CsvImport(
            "vouchers",
            "importVouchers",
            "vouchers",
            voucher_input.MOST_IMPORTED,
            (("totalPrice",),),
            {
                "code": "OLD-0001",
                "voucherPrototypeId": "1",
                "state": "PAID",
                "importedFrom": "Old shop",
                "totalPrice": "199.00",
                "createdOn": "2025-03-01",
                "expiresOn": "2028-03-01",
                "gifteeDetails.firstName": "Ada",
                "gifteeDetails.lastName": "Martin",
                "gifteeDetails.email": "ada@example.com",
                "nbAdults": "2",
                "language": "en",
            },
        ),
    )
}
"""All imports by the resource's name in addresses."""
