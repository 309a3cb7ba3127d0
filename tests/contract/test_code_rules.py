"""How all of the code is written: small files and functions, exact money, locks in one place, errors out of the catalogue."""

import ast
import functools
import importlib
import pathlib
import pkgutil
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text

import store
from schema.core.errors import CONSTRAINT_ERRORS
from store.database.db import Database
from store.tables import ROW_CLASSES, metadata
from tests.contract.declarations import ROOT

PROGRAM = ("schema", "resolvers", "rest_compat", "funnel", "admin", "store", "coffret")
GENERATED = "store/migrations/versions/"


@dataclass(frozen=True)
class Size:
    """How many lines a file and a function may have."""

    file: int
    function: int


PLAYED = ("coffret/sandbox/", "coffret/demo/")
"""What serves development keeps its own rows, and speaks the provider's JSON."""
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
    "resolvers/job/ledger_gauges.py": "seconds of the monotonic clock",
    "resolvers/job/metrics.py": "seconds of the monotonic clock",
    "rest_compat/shapes/writers.py": "writes documented numbers that are no money",
}
"""Files outside store/ that may name `float`, each with the reason."""
LOCKS: Mapping[str, str] = {
    "resolvers/core/scoping.py": "`find_visible(…, lock=True)`: how operations lock the row they change",
    "resolvers/account/tokens.py": "tokens are of users, and not found through a tenant",
    "resolvers/account/administration.py": "the command line has no caller to find a token for",
}
"""Files outside store/ that may lock rows, each with the reason."""
VAGUE_NAMES = frozenset({"told", "wanted", "given", "sent", "kept", "made", "found"})
"""Names that say what happened to a thing, and not what it is: good for a line or two, and not for a signature."""
PARTICIPLES = VAGUE_NAMES | frozenset(
    {
        "accessed", "alerted", "answered", "asked", "audited", "authenticated", "authorised", "begun",
        "blocked", "certified", "changed", "checked", "cleaned", "consented", "counted", "decoded", "encoded",
        "ended", "enrolled", "failed", "filled", "fixed", "flushed", "folded", "gained", "hidden", "issued",
        "known", "listed", "loaded", "lost", "merged", "mistyped", "modelled", "named", "narrowed", "nested",
        "noted", "offered", "paid", "passed", "refused", "registered", "rendered", "reserved", "resolved",
        "restocked", "resumed", "returned", "settled", "shared", "shown", "spaced", "succeeded", "superseded",
        "taken", "there", "timed", "typed", "undecided", "unfinished", "untitled", "verified", "visited",
        "written", "zoned",
    }
)  # fmt: skip
"""Words that say what has happened to a thing. A function is named after what it does or what it returns."""
PARTICIPLES_WITH_A_REASON: Mapping[tuple[str, str], str] = {
    ("coffret/commands/findings.py", "passed"): "makes a finding in this state, as `warning` beside it does",
    ("coffret/commands/findings.py", "failed"): "the same",
}
"""Functions of the program that are named by a participle, each with the reason."""
BANNED_WORDS = frozenset(
    {
        "desk", "bag", "courier", "ladder", "veil", "enclosure", "counter", "house", "pile", "drawer",
        "carriage", "plucked", "keyless", "sift", "sifted", "sifting", "guest",
    }
)  # fmt: skip
"""Pictures that once stood for a partner's staff, a basket, a sender, retries, masking, …."""
NAMES_WITH_BANNED_WORDS: Mapping[tuple[str, str], str] = {
    ("store/checkout/customer_state.py", "bags"): "the key under which running sessions store baskets",
    ("store/limits/counters.py", "counters"): "numbers that are counted up, of requests and of log-ins",
    ("store/limits/counters.py", "SharedCounters"): "the same numbers",
    ("store/limits/log_ins.py", "_counters"): "the same",
    ("store/limits/rate_limits.py", "_counters"): "the same",
    ("store/limits/rate_limits.py", "counters"): "the same",
    ("store/document/words.py", "GuestCounts"): "the persons that a voucher is for, who are a partner's guests",
    ("store/document/words.py", "guests_text"): "the same",
}
"""Names in the program with one of those words in them, each with the reason."""


def modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules of some folders, read."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(GENERATED):
                yield name, parsed(path)


@functools.cache
def parsed(path: pathlib.Path) -> ast.Module:
    """A module, read once for all rules."""
    return ast.parse(path.read_text())


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
    found = {file for file, module in modules(*others) if uses(module, name) and not file.startswith(PLAYED)}
    assert found <= set(allowed), f"{name} in {sorted(found - set(allowed))}: use Decimal, or a function of store/."
    assert set(allowed) <= found, f"{sorted(set(allowed) - found)} need no exception any more."


# ---- names


def assigned(targets: Iterable[ast.expr]) -> Iterator[str]:
    """The plain names that an assignment gives a value."""
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def declared_names(file: str, module: ast.Module) -> Iterator[tuple[int, str]]:
    """What a module names for others: itself, its functions, classes, attributes and parameters, and what it assigns.

    Local variables may have any name, and so may the parameters of a lambda, which no caller sees.
    """
    yield 1, pathlib.PurePath(file).stem
    in_lambdas = {arg for node in ast.walk(module) if isinstance(node, ast.Lambda) for arg in ast.walk(node.args)}
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg) and node not in in_lambdas:
            yield node.lineno, node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        if isinstance(node, ast.Module | ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    yield from ((statement.lineno, name) for name in assigned(targets))


def words_of(name: str) -> set[str]:
    """The words that a name is made of, in snake or camel case, in lower case and without a plural's s."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return {word.lower() for word in words} | {word.lower().removesuffix("s") for word in words}


def badly_named(file: str, module: ast.Module) -> Iterator[str]:
    """What a module names in words that say too little."""
    for line, name in declared_names(file, module):
        if name.strip("_") in VAGUE_NAMES:
            yield f"{file}:{line} {name}: name it after what it is."
        elif (banned := words_of(name) & BANNED_WORDS) and (file, name) not in NAMES_WITH_BANNED_WORDS:
            yield f"{file}:{line} {name}: {min(banned)} is a picture; use the plain word for it."


def named_by_participle(file: str, module: ast.Module) -> Iterator[tuple[int, str]]:
    """The functions of a module whose name is a participle alone. Properties say what a thing is, so they may be."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.strip("_") in PARTICIPLES:
            decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
            if decorators.isdisjoint({"property", "cached_property", "setter"}):
                yield node.lineno, node.name


def named_twice(read: Iterable[tuple[str, ast.Module]]) -> Iterator[str]:
    """Names of classes that modules share."""
    classes: dict[str, list[str]] = defaultdict(list)
    for file, module in read:
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{file}:{node.lineno}")
    for name, places in classes.items():
        if len(places) > 1:
            yield f"{name} is a class in {', '.join(places)}: say in the name which it is."


def test_names_say_what_things_are() -> None:
    found = [told for file, module in modules(*PROGRAM, "tests") for told in badly_named(file, module)]
    assert not found, "\n".join(sorted(found))


def test_functions_are_named_after_what_they_do_or_return() -> None:
    found = {
        (file, name): line for file, module in modules(*PROGRAM) for line, name in named_by_participle(file, module)
    }
    wrong = [
        f"{file}:{found[file, name]} {name}" for file, name in found if (file, name) not in PARTICIPLES_WITH_A_REASON
    ]
    assert not wrong, "\n".join([*wrong, "Name each after what it does (a verb) or what it returns (a noun)."])
    assert set(PARTICIPLES_WITH_A_REASON) <= set(found), (
        f"{set(PARTICIPLES_WITH_A_REASON) - set(found)} need no exception any more."
    )


def test_names_with_a_reason_are_still_there() -> None:
    there = {(file, name) for file, module in modules(*PROGRAM) for _, name in declared_names(file, module)}
    assert set(NAMES_WITH_BANNED_WORDS) <= there, f"{set(NAMES_WITH_BANNED_WORDS) - there} need no exception any more."


def test_a_class_has_a_name_of_its_own() -> None:
    found = list(named_twice(modules(*PROGRAM)))
    assert not found, "\n".join(found)


def test_a_bad_name_is_found() -> None:
    code = """
class ShopDesk:
    kept: int = 0
    def open_bags(self, given, *, _sent=None):
        found = [lambda made: made]
        self._auditDrawer = found
counter, number = 0, 1
from prometheus_client import Counter
"""
    named = {line.split(": ")[0] for line in badly_named("counters.py", ast.parse(code))}
    assert named == {
        "counters.py:1 counters", "counters.py:2 ShopDesk", "counters.py:3 kept", "counters.py:4 open_bags",
        "counters.py:4 given", "counters.py:4 _sent", "counters.py:6 _auditDrawer", "counters.py:7 counter",
    }  # fmt: skip
    functions = """
def _settled(known, asked): ...
def settle(): ...
class Card:
    @property
    def filled(self): ...
    @functools.cached_property
    def loaded(self): ...
    def read(self): ...
    async def written(self):
        def there(): ...
"""
    assert sorted(named_by_participle("m.py", ast.parse(functions))) == [
        (2, "_settled"),
        (10, "written"),
        (11, "there"),
    ]
    modules_read = [(file, ast.parse("class Event:\n    pass\n")) for file in ("a.py", "b.py")]
    assert list(named_twice(modules_read)) == ["Event is a class in a.py:1, b.py:1: say in the name which it is."]


# ---- tables


async def test_every_table_has_a_row_class_and_the_database_has_no_other(database: Database) -> None:
    classes: dict[str, Any] = {str(row.__tablename__): row for row in ROW_CLASSES}
    for module in pkgutil.walk_packages(store.__path__, "store."):
        if "versions" not in module.name and not module.name.endswith("migrations.env"):
            importlib.import_module(module.name)
    assert set(classes) == set(metadata.tables), "Add the row class to ROW_CLASSES in store/tables.py."
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
    assert set(CONSTRAINT_ERRORS) <= named | indexes | checks | unique


def test_the_packages_are_those_of_the_documentation() -> None:
    assert {path.name for path in pathlib.Path(ROOT).iterdir() if (path / "__init__.py").exists()} == {
        *PROGRAM,
        "tests",
    }


def test_every_domain_of_the_schema_is_below_the_store() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (floors,) = (each["layers"] for each in contracts if each["name"].startswith("Requests go down only"))
    rooms = {
        path.stem for path in (ROOT / "schema").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set(floors[-1].split(" : ")) == {f"schema.{room}" for room in rooms - {"root", "graph", "__init__"}}
