"""Every operation, look-up and list that `resolvers/` declares, and what one of them lacks: told in words, file by file."""

import csv
import functools
import importlib
import inspect
import pathlib
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strawberry.types import get_object_definition
from strawberry.utils.str_converters import to_camel_case

import resolvers
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Operation
from rest_compat.http.route import RestRoute
from rest_compat.openapi.reference import OPERATIONS
from schema import root
from schema.core.permission import AccessRule, required_access
from schema.graph.fields import ORIGINS, FieldOrigin

ROOT = pathlib.Path(__file__).parents[2]


@dataclass(frozen=True)
class Declared:
    """Something that can be done or read, where it is declared, and under which name."""

    module: str
    """Its path below `resolvers`: `coupon`, `voucher.issuing`."""
    name: str
    source: FieldOrigin

    @property
    def where(self) -> str:
        """How code that imports its module names it: `issuing.issue_voucher`."""
        return f"{self.module.rpartition('.')[2]}.{self.name}"

    @property
    def in_root(self) -> str:
        """How `schema/root.py` names it, which imports some modules under another name."""
        module = sys.modules.get(f"resolvers.{self.module}")
        names = (name for name, value in vars(root).items() if module is not None and value is module)
        return f"{next(names, self.module.rpartition('.')[2])}.{self.name}"

    @property
    def file(self) -> str:
        """The file of its module."""
        return f"resolvers/{self.module.replace('.', '/')}.py"

    @property
    def tests(self) -> str:
        """The file its tests belong into."""
        folder, _, last = self.module.rpartition(".")
        return "/".join(["tests", "resolvers", *([folder] if folder else []), f"test_{last}.py"])

    @property
    def changes(self) -> bool:
        """Whether it is for `Mutation`: it takes an input."""
        return isinstance(self.source, Operation) and "input" in inspect.signature(self.source.function).parameters


@functools.cache
def declared() -> tuple[Declared, ...]:
    """All of them, each once, in the module that declares it."""
    return tuple(_declared())


def _declared() -> Iterator[Declared]:
    seen: set[int] = set()
    for info in pkgutil.walk_packages(resolvers.__path__, "resolvers."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            if not isinstance(value, Operation | Listing | Lookup) or id(value) in seen:
                continue
            if re.search(rf"^(?:{name} = |async def {name}\()", source, re.MULTILINE):
                seen.add(id(value))
                yield Declared(info.name.removeprefix("resolvers."), name, value)


@dataclass(frozen=True)
class Field:
    """A field of `Query` or `Mutation`: its name in the schema, its arguments, and what it is made of."""

    name: str
    arguments: frozenset[str]
    sources: tuple[FieldOrigin, ...]
    returns: Any


def published(*roots: type) -> list[Field]:
    """The fields of `Query` and `Mutation`."""
    return [
        Field(
            to_camel_case(field.python_name),
            frozenset(argument.python_name for argument in field.arguments),
            field.metadata.get(ORIGINS, ()),
            field.type,
        )
        for root in roots
        for field in get_object_definition(root, strict=True).fields
    ]


@dataclass(frozen=True)
class Documented:
    """A row of the list of documented operations."""

    id: str
    method: str
    path: str
    field: str
    permission: str


def documented() -> list[Documented]:
    """The list of documented operations."""
    with OPERATIONS.open(newline="") as file:
        return [
            Documented(r["id"], r["rest_method"], r["rest_path"], r["graphql_field"], r["permission"])
            for r in csv.DictReader(file)
        ]


@dataclass(frozen=True)
class Surface:
    """All that an operation must have found its way into."""

    fields: Sequence[Field]
    routes: Sequence[RestRoute]
    documented: Sequence[Documented]
    funnel: str
    """What the modules of the checkout, and of its previews in the back office, say."""
    tests: Mapping[str, str]
    """File -> what it says."""

    def lacks(self, it: Declared) -> list[str]:
        """What is forgotten of a declaration, each with the file to put it into."""
        return [*self._undescribed(it), *self._unpublished(it), *self._unrouted(it), *self._untested(it)]

    def field_of(self, it: Declared) -> Field | None:
        """The field of the API that a declaration answers."""
        return next((field for field in self.fields if any(s is it.source for s in field.sources)), None)

    def _undescribed(self, it: Declared) -> Iterator[str]:
        text = it.source.description
        if not re.fullmatch(r"[A-Z].*[.]", text, re.DOTALL):
            yield f"Its description in {it.file} is no sentence for the readers of the schema: {text!r}."

    def _unpublished(self, it: Declared) -> Iterator[str]:
        if it.source.permission in {AccessRule.CUSTOMER, AccessRule.REPRESENTATIVE}:
            if not re.search(
                rf"\b{it.name}(_by_token)?\b", self.funnel
            ):  # or its operation of the API, which is audited
                yield f"It is for customers, and neither the checkout nor a preview calls it. Call it in funnel/: {it.where}(…)."
        elif self.field_of(it) is None:
            kind, made = ("Mutation", "mutation_field") if it.changes else ("Query", "query_field")
            yield (
                f"GraphQL does not have it. Add to `class {kind}` in schema/root.py: {it.name} = {made}({it.in_root}). "
                f"If only customers in the checkout may run it, declare it with AccessRule.CUSTOMER instead."
            )

    def _unrouted(self, it: Declared) -> Iterator[str]:
        for row in self._rows_of(it):
            if it.source.permission is not required_access(row.permission):
                yield (
                    f"It is documented as {row.id} with the permission {row.permission}, and asks for "
                    f"{it.source.permission}. Change one of {it.file} and rest_compat/operations.csv."
                )
            paths = [route.documented_path or route.path for route in self.routes if self._answers(route, it)]
            if row.path not in paths:
                yield (
                    f"It is documented as {row.method} {row.path}, and REST does not serve it. Add to GROUPS in "
                    f'rest_compat/routes.py: RestRoute("{row.method}", "{row.path}", {it.name}, …), '
                    f"and its words to rest_compat/operations.toml as [{row.id}]."
                )

    def _answers(self, route: RestRoute, it: Declared) -> bool:
        """Whether a route is made of the declaration, or of another look-up of the same field."""
        field = self.field_of(it)
        return any(route.operation is source for source in (field.sources if field else (it.source,)))

    def _rows_of(self, it: Declared) -> Iterator[Documented]:
        field = self.field_of(it)
        for row in self.documented if field is not None else ():
            name, _, argument = row.field.rstrip(")").partition("(")
            key = it.source.by if isinstance(it.source, Lookup) else argument
            if field is not None and name == field.name and argument in {"", key}:
                yield row

    def _untested(self, it: Declared) -> Iterator[str]:
        field = self.field_of(it)
        ways = [(it.name, rf"\w\.{it.name}\b"), (it.name, rf"import\b[^)]*?\b{it.name}\b")]
        if field is not None:
            ways.append((field.name, rf"\b{field.name}\s*[({{]"))
        if not any(name in text and re.search(way, text) for text in self.tests.values() for name, way in ways):
            yield f"No test names it. Write tests of {it.where} in {it.tests}."


def report(surface: Surface, declarations: Iterable[Declared]) -> str:
    """What is forgotten anywhere, in words; empty when all is there."""
    lines = []
    for it in declarations:
        if lacking := surface.lacks(it):
            lines += [f"`{it.where}` in {it.file} is not finished:", *(f"  - {lack}" for lack in lacking)]
    return "\n".join(
        [*lines, "docs/contributing/adding-an-operation.md shows one from the beginning to the end."] if lines else []
    )
