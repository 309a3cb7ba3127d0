"""The import of a CSV file: the file and its columns, the report of a dry run, and the import of the same bytes."""

import base64
import binascii
import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.forms.choices import choices_of
from admin.forms.form_fields import FormBuilder
from admin.forms.form_keys import new_form_key, required_form_key_of
from admin.forms.kinds import fields_of
from admin.forms.typed import OMITTED, Typed
from admin.graph.labels import label_of, translated_label
from admin.imports.columns import CsvColumn, columns_of, match_header
from admin.imports.lines import ImportLine, ImportReport, read_lines, run_import
from admin.imports.preview import CODE, ImportPreview, currency_of
from admin.imports.table import MOST_BYTES, CsvTable, UnreadableTable, read_table
from admin.resources.imports import CSV_IMPORTS, CsvImport
from admin.resources.registry import resources
from funnel.core.messages import N_
from funnel.core.pages import HEADERS
from schema.core.errors import MalformedBody, NotFound
from store.core.csv_cells import safe_cell

FILE, CONTENT, COLUMN, STEP = "file", "_content", "_column.", "_step"
"""Fields of the form: the file, then its bytes as Base64, the field of each column, what the button does."""
SHOWN_LINES = 100
CSV = "text/csv; charset=utf-8"
NO_FILE = N_("Choose a file.")
TWICE = N_("Two columns have the same field.")


async def show(request: AdminRequest) -> Response:
    """Show the form for the file."""
    return await _start(request, _find(request))


async def send_template(request: AdminRequest) -> Response:
    """A CSV file with the header and an example."""
    of = _find(request)
    columns = columns_of(of.item)
    rows = [[column.name for column in columns], [of.example.get(column.name, "") for column in columns]]
    return _file(rows, f"{of.slug}.csv")


async def submit(request: AdminRequest) -> Response:
    """Check a file, send its report, or import it."""
    of, form = _find(request), request.form
    try:
        content = await _content(request)
        table = _table(request, of, content)
    except UnreadableTable as error:
        return await _start(request, of, {FILE: str(error)})
    columns = columns_of(of.item)
    fields, problems = _columns(request, table, columns)
    if problems:
        return _choose(request, of, content, table, fields, problems)
    common, wrong = _common(request, of)
    report = read_lines(request, of, table, fields)
    report.by_field |= wrong
    if not wrong:
        is_import = form.get(STEP) == "import" and report.is_clean
        await run_import(request, of, report, common, key=required_form_key_of(form) if is_import else None)
        if is_import and report.is_clean:
            return _render(request, of, "result", count=len(report.lines))
    if form.get(STEP) == "report":
        return _report_file(request, of, report)
    return await _report(request, of, content, report, fields)


def import_link(request: AdminRequest, slug: str) -> str:
    """The address of the import of a list; empty if it has none, or if the user may not run it."""
    of = CSV_IMPORTS.get(slug)
    return f"{ROOT}{slug}/import/" if of is not None and request.may_change(of.access) else ""


def _find(request: AdminRequest) -> CsvImport:
    of = CSV_IMPORTS.get(request.http_request.path_params["resource"])
    if of is None:
        raise NotFound(thing="page")
    request.context.require(of.access)
    return of


async def _content(request: AdminRequest) -> bytes:
    """The bytes of the file, or of the file that was sent before."""
    if (file := request.files.get(FILE)) is not None:
        return await file.read(MOST_BYTES + 1)
    if not (text := request.form.get(CONTENT, "")):
        raise UnreadableTable(NO_FILE)
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise MalformedBody(reason="it was changed on its way") from error


def _table(request: AdminRequest, of: CsvImport, content: bytes) -> CsvTable:
    table = read_table(content)
    if len(table.lines) > of.most:
        words = request.translate(N_("A file may have at most {most} lines. Split it."))
        raise UnreadableTable(words.format(most=of.most))
    return table


def _columns(
    request: AdminRequest, table: CsvTable, columns: Sequence[CsvColumn]
) -> tuple[Mapping[int, str], Sequence[str]]:
    """The fields of the columns, as chosen or as the header tells, and what is wrong with them."""
    names, form = {column.name for column in columns}, request.form
    chosen = {at: form[f"{COLUMN}{at}"] for at in range(len(table.header)) if f"{COLUMN}{at}" in form}
    if chosen:
        fields: Mapping[int, str] = {at: name for at, name in chosen.items() if name in names}
        problems = [TWICE] if len(set(fields.values())) < len(fields) else []
    else:
        fields, problems = match_header(table.header, columns, request.translate), []
        if len(fields) < sum(bool(text) for text in table.header):
            problems.append(N_("Choose what these columns are."))
    missing = [column for column in columns if column.is_required and column.name not in fields.values()]
    if missing:
        labels = ", ".join(_label(request, ": ".join(column.labels)) for column in missing)
        problems = [*problems, request.translate(N_("No column has: {labels}")).format(labels=labels)]
    return fields, problems


def _hidden_fields(of: CsvImport, request: AdminRequest) -> frozenset[str]:
    """The fields of the input that the form does not have: all but the partner, for users of several."""
    left = frozenset() if request.is_partner else frozenset({"partnerUuid"})
    return frozenset(of.input.fields) - left


def _common(request: AdminRequest, of: CsvImport) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of the form beside the file, and what is wrong with them."""
    typed = Typed(request.form, request.reader.time_zone)
    hidden = _hidden_fields(of, request)
    values = {
        each.name: value
        for each in fields_of(of.input)
        if each.name not in hidden and (value := typed.read_one(each)) is not OMITTED
    }
    return values, dict(typed.problems)


async def _start(request: AdminRequest, of: CsvImport, problems: Mapping[str, str] | None = None) -> Response:
    wrong, hidden = problems or {}, _hidden_fields(of, request)
    choices = await choices_of(request, of.input, hidden)
    return _render(
        request,
        of,
        "file",
        400 if wrong else 200,
        fields=FormBuilder(request.form, wrong, choices).build(of.input, hidden),
        columns=columns_of(of.item),
        values=choices,
        most=of.most,
        file_problem=wrong.get(FILE, ""),
    )


async def _fields(request: AdminRequest, of: CsvImport, wrong: Mapping[str, str]) -> Sequence[Any]:
    hidden = _hidden_fields(of, request)
    choices = await choices_of(request, of.input, hidden)
    return FormBuilder(request.form, wrong, choices).build(of.input, hidden)


def _choose(
    request: AdminRequest,
    of: CsvImport,
    content: bytes,
    table: CsvTable,
    fields: Mapping[int, str],
    problems: Sequence[str],
) -> Response:
    """The form that asks what the columns are."""
    first = table.lines[0].cells
    return _render(
        request,
        of,
        "columns",
        400,
        problems=problems,
        content=base64.b64encode(content).decode(),
        columns=columns_of(of.item),
        asked=[
            (at, text, first[at] if at < len(first) else "", fields.get(at, ""))
            for at, text in enumerate(table.header)
            if text
        ],
    )


async def _report(
    request: AdminRequest, of: CsvImport, content: bytes, report: ImportReport, fields: Mapping[int, str]
) -> Response:
    """The page with what a file would do, or with what is wrong with it."""
    lines = report.lines if len(report.lines) <= SHOWN_LINES else (report.wrong or report.lines)[:SHOWN_LINES]
    preview = await _preview(request, of, fields)
    return _render(
        request,
        of,
        "report",
        200 if report.is_clean else 400,
        report=report,
        lines=lines,
        fields=await _fields(request, of, report.by_field) if report.by_field else (),
        problems=report.problems,
        preview=preview,
        sums=[(label_of(names[0]), preview.money(report.sum_of(names))) for names in of.sums],
        content=base64.b64encode(content).decode(),
        chosen=fields,
        key=new_form_key(),
    )


async def _preview(request: AdminRequest, of: CsvImport, fields: Mapping[int, str]) -> ImportPreview:
    """How the lines are shown. Their codes have a column of their own."""
    columns = [each for each in columns_of(of.item) if each.name in fields.values() and each.name != CODE]
    names = await choices_of(request, of.input, _hidden_fields(of, request))
    return ImportPreview(request, columns, await currency_of(request, request.form.get("partnerUuid", "")), names)


def _report_file(request: AdminRequest, of: CsvImport, report: ImportReport) -> Response:
    """The report as a CSV file: each line of the import with what is wrong with it."""
    head = [request.translate(text) for text in (N_("Line"), N_("Code"), N_("Column"), N_("Problem"))]
    rows = [row for line in report.lines for row in _report_rows(request, line)]
    return _file([head, *rows], f"{of.slug}-report.csv")


def _label(request: AdminRequest, label: str) -> str:
    return translated_label(request.translate, label, request.reader.formats.colon)


def _report_rows(request: AdminRequest, line: ImportLine) -> Sequence[Sequence[str]]:
    code, number = line.cells.get(CODE, ""), str(line.number)
    if not line.problems:
        return [[number, code, "", ""]]
    return [[number, code, _label(request, it.label), request.translate(it.text)] for it in line.problems]


def _file(rows: Sequence[Sequence[str]], name: str) -> Response:
    """A CSV file that spreadsheets of Europe open as a table."""
    text = io.StringIO()
    csv.writer(text, delimiter=";").writerows([safe_cell(cell) for cell in row] for row in rows)
    return Response(
        text.getvalue().encode("utf-8-sig"),
        media_type=CSV,
        headers=HEADERS | {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


def _render(request: AdminRequest, of: CsvImport, mode: str, status: int = 200, **values: object) -> Response:
    resource = resources()[of.slug]
    return request.render(
        "import.html",
        status,
        **{
            "here": of.slug,
            "resource": resource,
            "mode": mode,
            "back": f"{ROOT}{of.slug}/",
            "url": f"{ROOT}{of.slug}/import/",
            "problems": (),
            "partner": request.form.get("partnerUuid", ""),
        }
        | values,
    )
