"""What is typed for each field of an input: a text, a number, a choice, a group of fields, rows of them."""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    Undefined,
    get_named_type,
    is_non_null_type,
)

from admin.graph.labels import help_of, split
from admin.graph.schema_types import is_many, queries
from admin.resources.registry import resources_by_type
from admin.resources.resource import Resource
from schema.core.ownership import PARTNER_DESCRIPTION

LONG_WORDS = frozenset(
    {"description", "message", "content", "conditions", "html", "comment", "note", "answer", "text", "terms"}
)
"""Words in the names of texts that need several lines."""
RELATED = {
    "Image": "Media", "Prototype": "VoucherPrototype", "Design": "GiftCardDesign", "Option": "VoucherOption",
    "Category": "VoucherOptionCategory",
}  # fmt: skip
"""Names of references that differ from the name of the type."""
SUFFIXES = "Ids", "Id", "Uuids", "Uuid"
PICTURE_ADDRESS = re.compile(r"`Media\.(\w+)`")
"""In the description of a text that is the address of one of the partner's own pictures."""


class Kind(enum.StrEnum):
    """How a field is typed."""

    TEXT = "text"
    LONG = "long"
    EMAIL = "email"
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TRISTATE = "tristate"
    SELECT = "select"
    CHECKBOXES = "checkboxes"
    REFERENCE = "reference"
    REFERENCES = "references"
    DATETIME = "datetime"
    DATE = "date"
    TIME = "time"
    LINES = "lines"
    JSON = "json"
    FILE = "file"
    TRANSLATED = "translated"
    GROUP = "group"
    ROWS = "rows"


SCALARS: Mapping[str, Kind] = {
    "Boolean": Kind.TRISTATE,
    "Int": Kind.INTEGER,
    "Decimal": Kind.DECIMAL,
    "DateTime": Kind.DATETIME,
    "Date": Kind.DATE,
    "LocalTime": Kind.TIME,
    "JSON": Kind.JSON,
    "Upload": Kind.FILE,
}


@dataclass(frozen=True, slots=True)
class InputField:
    """A field of an input type."""

    name: str
    kind: Kind
    type: GraphQLNamedType
    is_required: bool
    is_nullable: bool
    default: Any
    """Its default; None if it has none, or null."""
    description: str
    target: Resource | None = None
    """What a reference leads to."""
    key: str = "id"
    """The field of the target that a reference holds."""

    @property
    def help(self) -> str:
        """What stands under it; nothing for what is chosen by name."""
        return "" if self.target is not None else help_of(self.description, self.name)

    @property
    def is_needed(self) -> bool:
        """Whether a form that has it needs it: those who may omit their partner have no field for it."""
        return self.is_required or self.description == PARTNER_DESCRIPTION

    @property
    def is_long(self) -> bool:
        """Whether a text of it needs several lines."""
        return bool(LONG_WORDS & set(split(self.name)))

    @property
    def input(self) -> GraphQLInputObjectType:
        """The type of a group or of a row."""
        assert isinstance(self.type, GraphQLInputObjectType)
        return self.type

    @property
    def members(self) -> list[str]:
        """The values of an enum."""
        assert isinstance(self.type, GraphQLEnumType)
        return list(self.type.values)


def fields_of(kind: GraphQLInputObjectType) -> list[InputField]:
    """The fields of an input type, in its order."""
    return [_field(name, field) for name, field in kind.fields.items()]


def argument_fields(query: str) -> list[InputField]:
    """The arguments of a field of `Query`."""
    return [_field(name, argument) for name, argument in queries()[query].args.items()]


def target_of(name: str) -> Resource | None:
    """The resource that `universeId`, `imageIds` or `partnerUuid` lead to; None if it is no reference."""
    for suffix in SUFFIXES:
        if name.endswith(suffix) and name != suffix.lower():
            stem = name.removesuffix(suffix)
            stem = stem[0].upper() + stem[1:]
            found = resources_by_type().get(RELATED.get(stem, stem))
            by = "uuid" if suffix.startswith("U") else "id"
            return found if found is not None and by in found.type.fields else None
    return None


def reference_key(name: str) -> str:
    """The field of the target that a reference holds: `uuid` for `partnerUuid`, else `id`."""
    return "uuid" if name.endswith(("Uuid", "Uuids")) else "id"


def _field(name: str, field: GraphQLInputField | GraphQLArgument) -> InputField:
    named, many = get_named_type(field.type), is_many(field.type)
    default = None if field.default_value is Undefined else field.default_value
    required = is_non_null_type(field.type) and field.default_value is Undefined
    target, key = target_of(name), reference_key(name)
    if named.name == "String" and (address := PICTURE_ADDRESS.search(field.description or "")) is not None:
        target, key = resources_by_type()["Media"], address[1]
    kind = _kind(name, named, many=many, nullable=not is_non_null_type(field.type), target=target)
    return InputField(
        name, kind, named, required, not is_non_null_type(field.type), default, field.description or "", target, key
    )


def _kind(name: str, named: GraphQLNamedType, *, many: bool, nullable: bool, target: Resource | None) -> Kind:
    if isinstance(named, GraphQLInputObjectType):
        if named.name == "TextInput":
            return Kind.TRANSLATED
        return Kind.ROWS if many else Kind.GROUP
    if isinstance(named, GraphQLEnumType):
        return Kind.CHECKBOXES if many else Kind.SELECT
    if target is not None:
        return Kind.REFERENCES if many else Kind.REFERENCE
    if many:
        return Kind.LINES
    if named.name == "Boolean" and not nullable:
        return Kind.BOOLEAN
    return SCALARS.get(named.name) or _text_kind(name)


def _text_kind(name: str) -> Kind:
    words = split(name)
    if "password" in words:
        return Kind.PASSWORD
    if words[-1] == "email":
        return Kind.EMAIL
    return Kind.LONG if LONG_WORDS & set(words) else Kind.TEXT
