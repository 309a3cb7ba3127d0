"""Exports: lists of the API as files, which the worker writes."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import strawberry
from pydantic import Field as InputField
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived
from schema.core.inputs import graphql_input
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.permission import Permission
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to
from schema.validation.languages import Language

MOST_COLUMNS = 200
ListName = Annotated[str, line_up_to(80, min_length=1)]
OrderName = Annotated[str, line_up_to(80)]


@graphql_enum
class ExportFormat(DescribedEnum):
    """The format of an export."""

    CSV = "csv", "Comma-separated values in UTF-8 (RFC 4180), with a byte order mark."
    XLSX = "xlsx", "A spreadsheet, of at most 1,048,575 rows."


@graphql_enum
class ExportState(DescribedEnum):
    """The state of an export."""

    QUEUED = "queued", "It waits for a worker."
    RUNNING = "running", "A worker writes it; `rowsDone` of `rowsExpected` tells how far it is."
    COMPLETED = "completed", "Its file can be downloaded until `expiresOn`."
    FAILED = "failed", "It could not be written; `error` says why."
    CANCELLED = "cancelled", "It was cancelled, and has no file."
    EXPIRED = "expired", "Its file has been deleted."


@dataclass(frozen=True, slots=True)
class SpendableCode:
    """Fields of a type that show a code, and the permission to have all of them in one file."""

    permission: Permission
    fields: frozenset[str]


_DOCUMENTS = frozenset({"documentUrl", "appleWalletUrl", "googleWalletUrl"})
SPENDABLE_CODES: Final[Mapping[str, SpendableCode]] = {
    "GiftCard": SpendableCode(Permission.MANAGE_GIFT_CARD, _DOCUMENTS | {"code"}),
    "NetworkGiftCard": SpendableCode(Permission.CREATE_NETWORK_GIFT_CARD, _DOCUMENTS | {"code", "holderUrl"}),
    "NetworkVoucher": SpendableCode(Permission.MANAGE_NETWORK_VOUCHER, _DOCUMENTS | {"code", "holderUrl"}),
    "Order": SpendableCode(Permission.MANAGE_ORDER, frozenset({"pageUrl", "packingSlipUrl"})),
    "Voucher": SpendableCode(Permission.UPDATE_VOUCHER, _DOCUMENTS | {"code"}),
    "VoucherExpedition": SpendableCode(Permission.UPDATE_VOUCHER, frozenset({"coverLetterUrl"})),
}
"""By the name of the type: whoever has such a code, or a link to a page with it, can spend what it stands for."""


@strawberry.pydantic.type(
    description="A list of the API as a file. The worker writes it with the rights that its user has at that time."
)
class Export(SchemaModel):
    id: int = id_column("The export's id.")
    list: str = Field(max_length=80, description="The list: its name in `Query`, such as `orders`.")
    format: ExportFormat = enum_column(ExportFormat, "The format of the file.", length=10)
    state: ExportState = enum_column(ExportState, "Its state.", default=ExportState.QUEUED, length=10)
    shown_filter = derived(
        JSON,
        ("filter", "user_id"),
        "The filter of the list, as it was sent; of codes others than its user have the ends only.",
        name="filter",
    )
    order_by: str = Field(max_length=80, description="The order of the rows: one of the list's orders.")
    include_codes: bool = Field(
        default=False, description="Whether it has whole codes of vouchers and gift cards; otherwise only their ends."
    )
    rows_done: int = Field(default=0, description="Number of rows that are written by now.")
    rows_expected: int | None = Field(
        default=None,
        description="Number of rows that the list had when a worker last began with it; null before. The file may have others.",
    )
    created_on: dt.datetime = datetime_column("When it was asked for.")
    started_on: dt.datetime | None = datetime_column(
        "When a worker last began with it; null while it waits.", default=None, nullable=True
    )
    ended_on: dt.datetime | None = datetime_column(
        "When it was completed, failed or was cancelled; null before.", default=None, nullable=True
    )
    expires_on: dt.datetime | None = datetime_column(
        "When its file is deleted, or was; null if it has none.", default=None, nullable=True
    )
    size: int | None = Field(default=None, description="The size of its file in bytes; null if it has none.")
    error: str = Field(default="", max_length=500, description="Why it failed; empty otherwise.")
    user_id: int = Field(description="The user who asked for it.")
    partner = partner_relation("The partner of its user; null if its user sees several.", nullable=True)
    marketplace = marketplace_relation("The marketplace of its user; null if its user sees several.", nullable=True)
    url = derived(
        str | None,
        ("id", "user_id", "state", "format", "include_codes", "expires_on"),
        "The address of its file, for an hour and no longer than the file lives; null if it has none. If it has whole codes, "
        "only the user who asked for it has the address.",
    )


@graphql_input
class ExportColumnInput(SchemaModel):
    """A column of an export."""

    field: Annotated[str, line_up_to(200, min_length=1)] = InputField(
        description="A field of the list's rows, or the path to one, such as `partner.name`. An amount can be exported whole, "
        "or as `price.amount` and `price.currency`; a translated text in one language as `name.fr`.",
    )
    header: Annotated[str, line_up_to(200)] = InputField(
        default="", description="The title of the column; by default the field as it is written here."
    )


ExportColumns = Annotated[list[ExportColumnInput], InputField(min_length=1, max_length=MOST_COLUMNS)]


@graphql_input
class CreateExport(SchemaModel):
    """Export a list."""

    list: ListName = InputField(description="The list: its name in `Query`, such as `orders`.")
    filter: Annotated[dict[str, Any] | None, strawberry.field(graphql_type=JSON | None)] = InputField(
        default=None, description="The filter of the list, with the fields of the list's own `filter` argument."
    )
    order_by: OrderName | None = InputField(
        default=None, description="One of the list's own orders; by default its first."
    )
    columns: ExportColumns | None = InputField(
        default=None,
        description="The columns in their order, at most 200; by default all fields of the rows that are single values, "
        "without those of their parts.",
    )
    format: ExportFormat = InputField(default=ExportFormat.CSV, description="The format of the file.")
    language: Language | None = InputField(
        default=None,
        description="The language of translated texts that are exported whole, such as `fr`; by default, and for texts that "
        "lack it, the first that a text has.",
    )
    include_codes: bool = InputField(
        default=False,
        description="Whether to write codes of vouchers and gift cards, and links to their documents, in full. It needs the "
        "permission to manage them. Otherwise only the ends of codes are written, and no such links.",
    )


@graphql_input
class CancelExport(SchemaModel):
    """Cancel an export."""

    id: int = InputField(description="The export's id.")
