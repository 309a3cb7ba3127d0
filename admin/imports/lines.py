"""The lines of an import: reading them as inputs, trying them out or importing them, what is wrong with each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from admin.core.request import AdminRequest
from admin.forms.typed import Typed
from admin.graph.execution import REFUSALS, raise_for
from admin.imports.columns import CsvColumn, columns_of, form_of
from admin.imports.table import CsvTable
from admin.resources.imports import CsvImport


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """What is wrong with a line: the label of the column, and why."""

    label: str
    text: str


@dataclass
class ImportLine:
    """A line of the file: its number there, its cells by field, and its input."""

    number: int
    cells: Mapping[str, str]
    input: Mapping[str, Any]
    problems: list[ImportProblem] = field(default_factory=list)


@dataclass
class ImportReport:
    """What an import would do, or has done."""

    lines: Sequence[ImportLine]
    problems: list[str] = field(default_factory=list)
    """What is wrong with the import as a whole."""
    by_field: dict[str, str] = field(default_factory=dict)
    """What is wrong with the fields of the form."""

    @property
    def wrong(self) -> Sequence[ImportLine]:
        """The lines with a problem."""
        return [line for line in self.lines if line.problems]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.wrong or self.problems or self.by_field)

    def sum_of(self, names: Sequence[str]) -> Decimal:
        """The sum of the amounts in a column, or where it is empty in the next."""
        amounts = (next((line.input[name] for name in names if line.input.get(name)), 0) for line in self.lines)
        return sum(map(Decimal, amounts), Decimal("0.00"))


def read_lines(request: AdminRequest, of: CsvImport, table: CsvTable, fields: Mapping[int, str]) -> ImportReport:
    """The lines of a table as inputs, with what cannot be read."""
    columns = {column.name: column for column in columns_of(of.item)}
    lines = []
    for line in table.lines:
        form, unreadable = form_of(line.cells, fields, columns)
        typed = Typed({name: text for name, text in form.items() if name not in unreadable}, request.reader.time_zone)
        values = typed.read(of.item, {})
        problems = dict(reversed(typed.problems)) | unreadable
        read = ImportLine(
            line.number, {name: line.cells[at] for at, name in fields.items() if at < len(line.cells)}, values
        )
        read.problems += [ImportProblem(_label(columns, name), text) for name, text in problems.items()]
        lines.append(read)
    return ImportReport(lines)


async def run_import(
    request: AdminRequest, of: CsvImport, report: ImportReport, common: Mapping[str, Any], *, key: str | None = None
) -> None:
    """Have the API check the lines that can be read, or with a `key` import them; puts down what it says is wrong.

    Raises the error of an import that is not allowed, or that failed.
    """
    sent = [line for line in report.lines if not line.problems]
    if not sent:
        return
    document = f"mutation($input: {of.input.name}!) {{ {of.mutation}(input: $input) {{ userErrors {{ field code message }} }} }}"
    variables = {**common, of.items: [line.input for line in sent], "dryRun": key is None}
    answer = await request.run(document, {"input": variables}, key=key)
    payload = answer.data.get(of.mutation) or {}
    wrong = [*payload.get("userErrors", ()), *(each for error in answer.errors for each in error.problems)]
    columns = {column.name: column for column in columns_of(of.item)}
    for each in wrong:
        first, *rest = each["field"] or [""]
        if first == of.items and rest:
            line, name = sent[int(rest[0])], ".".join(rest[1:])
            line.problems.append(ImportProblem(_label(columns, name), each["message"]))
        elif first == of.items or not first:
            report.problems.append(each["message"])
        else:
            report.by_field[first] = each["message"]
    if answer.errors and not wrong:
        error = answer.errors[0]
        if error.code == "INTERNAL_ERROR" or error.code in REFUSALS:
            raise_for(error)
        report.problems.append(error.message)


def _label(columns: Mapping[str, CsvColumn], name: str) -> str:
    return columns[name].label if name in columns else ""
