"""The declaration of a route: methods, path, operation, shape, envelope and names."""

import datetime as dt
import enum
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Operation
from resolvers.core.services import Services
from resolvers.document import ServedFile, UnfinishedFile
from rest_compat.http.body import Accepts
from rest_compat.http.links import RowLink
from rest_compat.http.parameters import Ordering, Parameter
from rest_compat.shapes.shape import ResourceShape
from schema.core.errors import AppError, NotFound

SERVICE = "{service}"
"""The place of the service's name in a path."""
DEFAULT_SERVICE = "coffret"


class ResponseEnvelope(enum.Enum):
    """How a response wraps its resources."""

    OBJECT = "object"
    """One resource; `through` a relation, the last of its resources."""
    PAGE = "page"
    """A page with the seven documented keys."""
    ARRAY = "array"
    """The whole list. Only a request with `page_size` gets a page, with a `Link` header."""
    ARRAY_OF_ONE = "array of one"
    FILE = "file"
    """A document of the resource; `file` makes it."""


@dataclass(frozen=True)
class ConditionalStatus:
    """The success status of a route whose status depends on the result."""

    choose: Callable[[Any], int]
    documented: tuple[tuple[int, str], ...]
    """Each possible status with its description."""


@dataclass(frozen=True)
class Deprecation:
    """A deprecated form of a route: the date since which its successor exists, and the successor's path."""

    since: dt.date
    successor: str


@dataclass(frozen=True)
class RowsOf:
    """The row that a list belongs to: its look-up, by the parameter of the path, and the filter field that names it."""

    lookup: Lookup[Any]
    field: str


def _no_such_row() -> AppError:
    return NotFound(thing="resource")


@dataclass(frozen=True)
class FileAnswer:
    """What a route answers instead of its row: a file."""

    media_type: str
    read: Callable[[Services, Any], Awaitable[ServedFile | UnfinishedFile]]
    """The file of a row that the operation has returned; an unfinished one is answered with 202."""
    words: str
    """What it is, in the list of operations."""


@dataclass(frozen=True)
class RestRoute:
    """One line of the route table.

    `body` is the REST form of the operation's input, if they differ. `required` are fields whose keys a POST or a PUT
    must send even if the input makes them optional, a translated text in every language; a PATCH may omit them.
    `graphql_only` are fields without a REST key: keys with their names are ignored like unknown keys. `missing` builds
    the error for a path parameter that cannot be an identifier. `through` is a relation of the row: the route answers
    all related resources instead of the row, with `newest_first` in the opposite of their order, or as an object the last
    one. `file` is the file that is answered instead of the row. `rows_of` is the row that a list belongs to. `links` are addresses of the row, sent as headers.
    """

    methods: str
    path: str
    operation: Operation[..., Any] | Listing[Any] | Lookup[Any]
    shape: ResourceShape
    envelope: ResponseEnvelope = ResponseEnvelope.OBJECT
    status: int | ConditionalStatus = 200
    body: type[BaseModel] | None = None
    accepts: Accepts = Accepts.JSON
    renamed: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    graphql_only: tuple[str, ...] = ()
    through: str = ""
    newest_first: bool = False
    rows_of: RowsOf | None = None
    links: tuple[RowLink, ...] = ()
    file: FileAnswer | None = None
    query: tuple[Parameter, ...] = ()
    ordering: Ordering | None = None
    missing: Callable[[], AppError] = _no_such_row
    deprecated: Deprecation | None = None
    example: Mapping[str, Any] | None = None
    """An example request for the documentation."""
    documented_path: str = ""
    """The path in the list of operations, if it is not this one: there it has a place for the name of the service."""

    def with_service(self, name: str) -> "RestRoute":
        """The route of a service with this name."""
        path = self.path.replace(SERVICE, name)
        return self if path == self.path else replace(self, path=path, documented_path=self.path)

    @property
    def verbs(self) -> list[str]:
        """The methods in order; the first one is the documented one."""
        return self.methods.split("|")

    @property
    def writes(self) -> bool:
        """Whether requests have a body."""
        return any(verb != "GET" for verb in self.verbs)

    @property
    def repeatable(self) -> bool:
        """Whether requests accept an `Idempotency-Key`."""
        return self.writes and isinstance(self.operation, Operation) and self.operation.supports_idempotency
