"""The lines of an import as lists show such objects: amounts with their currency, days in the reader's language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from graphql import GraphQLField, is_output_type

from admin.core.request import AdminRequest
from admin.core.values import EMPTY, Cell, value_at
from admin.forms.kinds import Kind
from admin.imports.columns import CsvColumn
from admin.imports.lines import ImportLine

CODE = "code"
OWN_CURRENCY = "query { me { marketplace { currency } partner { marketplace { currency } } } }"
CURRENCY_OF_PARTNER = "query($uuid: UUID) { partner(uuid: $uuid) { marketplace { currency } } }"


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """How the lines of a file are shown: the columns that it has, and the names of what it refers to, by field."""

    request: AdminRequest
    columns: Sequence[CsvColumn]
    currency: str
    """The currency of all amounts; empty as long as it is unknown."""
    names: Mapping[str, Sequence[tuple[str, str]]]

    def is_number(self, column: CsvColumn) -> bool:
        """Whether the values of a column are numbers."""
        return column.of.kind in (Kind.DECIMAL, Kind.INTEGER)

    def cells(self, line: ImportLine) -> Sequence[Cell]:
        """The values of a line; what cannot be read is as the file has it."""
        return [self._cell(line, column) for column in self.columns]

    def money(self, amount: Decimal) -> str:
        """An amount with its currency."""
        formats = self.request.reader.formats
        return formats.money(amount, self.currency) if self.currency else formats.number(amount)

    def _cell(self, line: ImportLine, column: CsvColumn) -> Cell:
        value = value_at(line.input, column.name)
        if value is None:
            written = line.cells.get(column.name, "")
            return Cell("text", written) if written else EMPTY
        match column.of.kind:
            case Kind.DECIMAL:
                return Cell("number", self.money(Decimal(value)))
            case Kind.REFERENCE:
                return Cell("text", dict(self.names.get(column.name, ())).get(str(value), str(value)))
        if is_output_type(column.of.type):
            return self.request.reader.cell(column.of.name, GraphQLField(column.of.type), value)
        return Cell("text", value)


async def currency_of(request: AdminRequest, partner_uuid: str) -> str:
    """The currency of what is imported for a partner; empty if the platform has not said for which one."""
    me = (await request.run(OWN_CURRENCY)).only("me")
    own = me["marketplace"] or (me["partner"] or {}).get("marketplace")
    if own is None and partner_uuid:
        answer = await request.run(CURRENCY_OF_PARTNER, {"uuid": partner_uuid})
        own = (answer.data.get("partner") or {}).get("marketplace")
    return str(own["currency"]) if own else ""
