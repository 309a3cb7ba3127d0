"""How all of the code is written: small files and functions, exact money, locks in one place, errors out of the catalogue."""

import ast
import builtins
import importlib
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import SQLModel

from schema.core.errors import CONSTRAINTS, AppError
from store.database.db import Database
from store.migrations.tables import metadata
from tests.contract.declarations import ROOT

PROGRAM = ("schema", "resolvers", "rest_compat", "funnel", "store", "coffret")
GENERATED = "store/migrations/versions/"


@dataclass(frozen=True)
class Size:
    """How many lines a file and a function may have."""

    file: int
    function: int


LIMITS = {"program": Size(400, 40), "tests": Size(600, 80)}
"""A file of tests holds the cases of one module, which are many and short; a walk through all pages is long and flat."""
FLOATS: Mapping[str, str] = {
    "coffret/listen/feed.py": "seconds of the monotonic clock",
    "coffret/serving/timeouts.py": "seconds that a connection is waited for",
    "coffret/http/stalls.py": "seconds of the monotonic clock",
    "schema/validation/numbers.py": "reads amounts that other languages send as floats, and makes them exact",
    "schema/graph/scalars.py": "reads and writes GraphQL's own Float and JSON numbers, none of them money",
    "schema/graph/requests.py": "the quality of a media type",
    "funnel/core/languages.py": "the quality of a language",
    "resolvers/core/authentication.py": "seconds of the monotonic clock",
    "resolvers/core/instrumentation.py": "seconds of a counter of time",
    "resolvers/job/metrics.py": "seconds of the monotonic clock",
    "rest_compat/shapes/writers.py": "writes documented numbers that are no money",
}
"""Files outside store/ that may name `float`, each with the reason."""
LOCKS: Mapping[str, str] = {
    "resolvers/core/scoping.py": "`find(…, lock=True)`: how operations lock the row they change",
    "resolvers/account/tokens.py": "tokens are of users, and not found through a tenant",
    "resolvers/account/administration.py": "the command line has no caller to find a token for",
    "resolvers/payment/polling.py": "takes what no other worker is at",
}
"""Files outside store/ that may lock rows, each with the reason."""
RAISES: Mapping[tuple[str, str], str] = {
    ("resolvers/core/operation.py", "RuntimeError"): "an operation that was declared wrong",
    ("resolvers/core/operation.py", "TypeError"): "the same, found when the program starts",
    ("resolvers/core/operation.py", "told"): "what a constraint of the database means in the catalogue",
    (
        "resolvers/core/idempotency.py",
        "Answered",
    ): "an answer that was kept, caught by the transport that set `Context.once`",
    ("resolvers/core/idempotency.py", "self"): "what the operation itself raised, while it is rendered",
    ("resolvers/core/listing.py", "LookupError"): "a list that was declared wrong, found when the program starts",
    ("resolvers/core/listing.py", "TypeError"): "the same",
    (
        "resolvers/core/computed_fields.py",
        "TypeError",
    ): "a value that was declared wrong, found when the program starts",
    ("resolvers/core/computed_fields.py", "ValueError"): "the same",
    ("resolvers/job/worker.py", "verdict"): "what tells the job queue how a run ended",
    ("resolvers/bank_account.py", "Again"): "tells the job queue that something is still waited for",
    ("resolvers/payment/completion.py", "Transient"): "the provider's own error, caught by whoever asked to settle",
}
"""Raised in resolvers/ without being in the catalogue, each with the reason."""


def modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules of some folders, read."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(GENERATED):
                yield name, ast.parse(path.read_text())


def too_long(name: str, module: ast.Module, lines: int, limit: Size) -> Iterator[str]:
    """What of a module is larger than it may be."""
    if lines > limit.file:
        yield f"{name} has {lines} lines; split it by what its parts are about (at most {limit.file})."
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            long = node.end_lineno - node.lineno + 1
            if long > limit.function:
                yield f"{name}:{node.lineno} {node.name} has {long} lines; at most {limit.function}."


@pytest.mark.parametrize("part", LIMITS)
def test_files_and_functions_are_small(part: str) -> None:
    folders = PROGRAM if part == "program" else ("tests",)
    found = [
        told
        for name, module in modules(*folders)
        for told in too_long(name, module, (ROOT / name).read_text().count("\n"), LIMITS[part])
    ]
    assert not found, "\n".join(found)


def test_what_is_too_long_is_found() -> None:
    code = "def short():\n    pass\n\nasync def long():\n    " + "pass; " * 3 + "\n" + "    pass\n" * 5
    told = list(too_long("m.py", ast.parse(code), code.count("\n"), Size(5, 4)))
    assert told == [
        "m.py has 10 lines; split it by what its parts are about (at most 5).",
        "m.py:4 long has 7 lines; at most 4.",
    ]


def test_nothing_lives_in_utils() -> None:
    names = {path.stem for folder in (*PROGRAM, "tests") for path in (ROOT / folder).rglob("*.py")}
    assert names.isdisjoint({"utils", "util", "helpers", "helper", "common", "misc"}), "Name it after what it is about."


def uses(module: ast.Module, name: str) -> bool:
    """Whether a module names something, as a name or an attribute."""
    return any(getattr(node, "id", None) == name or getattr(node, "attr", None) == name for node in ast.walk(module))


@pytest.mark.parametrize(("name", "allowed"), [("float", FLOATS), ("with_for_update", LOCKS)])
def test_floats_and_locks_are_where_they_have_a_reason(name: str, allowed: Mapping[str, str]) -> None:
    others = [folder for folder in PROGRAM if folder != "store"]
    found = {file for file, module in modules(*others) if uses(module, name)}
    assert found <= set(allowed), f"{name} in {sorted(found - set(allowed))}: use Decimal, or a function of store/."
    assert set(allowed) <= found, f"{sorted(set(allowed) - found)} need no exception any more."


# ---- errors


def raised(module: ast.Module) -> Iterator[tuple[int, str]]:
    """What a module raises, by name."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Raise) or node.exc is None:
            continue
        root: ast.expr = node.exc
        while isinstance(root, ast.Call | ast.Attribute):
            root = root.func if isinstance(root, ast.Call) else root.value
        yield node.lineno, ast.unparse(root)


def outside_the_catalogue(file: str, module: ast.Module, namespace: Mapping[str, Any]) -> Iterator[str]:
    """What is raised there that users cannot be told."""
    for line, name in raised(module):
        kind = namespace.get(name, getattr(builtins, name, None))
        if not (isinstance(kind, type) and issubclass(kind, AppError)) and (file, name) not in RAISES:
            yield f"{file}:{line} raises {name}: add an error to schema/core/errors.py that says what is wrong."


def test_only_errors_of_the_catalogue_leave_operations() -> None:
    found: list[str] = []
    for file, module in modules("resolvers"):
        namespace = vars(importlib.import_module(file.removesuffix(".py").replace("/", ".")))
        found += outside_the_catalogue(file, module, namespace)
    assert not found, "\n".join(found)


def test_what_is_not_in_the_catalogue_is_found() -> None:
    code = "def f():\n    raise ValueError('no')\n\ndef g():\n    raise AppError.at('x')\n\ndef h():\n    raise\n"
    assert list(outside_the_catalogue("m.py", ast.parse(code), {"AppError": AppError})) == [
        "m.py:2 raises ValueError: add an error to schema/core/errors.py that says what is wrong."
    ]


def catalogue(kind: type[AppError] = AppError) -> Iterator[type[AppError]]:
    """Every error there is."""
    for sub in kind.__subclasses__():
        yield sub
        yield from catalogue(sub)


def test_every_error_says_what_is_wrong_and_has_a_code_of_its_own() -> None:
    errors = list(catalogue())
    assert all(error.__doc__ for error in errors)
    assert len({error.code() for error in errors}) == len(errors)
    for error in errors:
        assert "{" not in (error.meaning or error.__doc__ or "") or not error.told_as_data, (
            f"{error.__name__}: say in `meaning` what the code means, without gaps."
        )


# ---- tables


def rows_of(kind: Any = SQLModel) -> Iterator[Any]:
    """Every class whose instances are rows."""
    for sub in kind.__subclasses__():
        if hasattr(sub, "__table__") and sub.metadata is metadata:
            yield sub
        yield from rows_of(sub)


async def test_every_table_has_a_row_class_and_the_database_has_no_other(database: Database) -> None:
    classes = {row.__table__.name: row for row in rows_of()}
    assert set(classes) == set(metadata.tables), "Import the module of the row class in store/migrations/tables.py."
    for name, row in classes.items():
        assert row.__name__.endswith("Row"), f"{row.__name__}: name the row class of {name} …Row."
        assert row.__module__.startswith("store."), f"{row.__name__} belongs in store/."
    found = await database.rows(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"))
    others = {row[0] for row in found} - set(classes)
    assert {name for name in others if not name.startswith("pgqueuer")} == {"alembic_version"}


def test_every_constraint_with_a_meaning_exists() -> None:
    tables = metadata.tables.values()
    named = {str(part.name) for table in tables for part in table.constraints}
    indexes = {str(index.name) for table in tables for index in table.indexes}
    checks = {f"{table.name}_{part.name}" for table in tables for part in table.constraints if part.name}
    unique = {f"{table.name}_{column.name}_key" for table in tables for column in table.columns if column.unique}
    assert set(CONSTRAINTS) <= named | indexes | checks | unique


def test_the_house_is_where_it_is_said_to_be() -> None:
    assert {path.name for path in pathlib.Path(ROOT).iterdir() if (path / "__init__.py").exists()} == {
        *PROGRAM,
        "tests",
    }
