"""A route, on one line: what answers a path, in which shape and envelope, with which names."""

import datetime as dt
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from resolvers.core.listing import Listing, Lookup
from resolvers.core.operation import Operation
from rest_compat.http.body import Accepts
from rest_compat.http.parameters import Ordering, Parameter
from rest_compat.shapes.shape import Shape
from schema.core.errors import AppError, NotFound


class Envelope(enum.Enum):
    """What stands around the resources of an answer."""

    OBJECT = "object"
    PAGE = "page"
    """The seven documented keys."""
    ARRAY = "array"
    """All of them; cut, with a `Link`, only for a caller that sends `page_size`."""
    ARRAY_OF_ONE = "array of one"


@dataclass(frozen=True)
class Status:
    """The status of a success, where it depends on the result: that of the first test that holds, else the last one."""

    choose: Callable[[Any], int]
    documented: tuple[tuple[int, str], ...]
    """Each status with what it means."""


@dataclass(frozen=True)
class Deprecated:
    """An old form of a route: since when there is a better one, and where."""

    since: dt.date
    successor: str


def _no_such_row() -> AppError:
    return NotFound(thing="resource")


@dataclass(frozen=True)
class Route:
    """One line of the route table.

    `body` is the REST form of the operation's input where it is not the input itself. `required` are the fields whose keys a
    POST or a PUT must send even where the input lets them be left out, a text in every language; a PATCH need not. `keyless`
    are those that REST has no key for: one of that name is unknown, and without effect. `missing` is the answer to a parameter
    of the path that cannot be the id of anything. `through` is the relation of the row that is looked up whose resources are
    answered, all of them, in its stead.
    """

    methods: str
    path: str
    operation: Operation[..., Any] | Listing[Any] | Lookup[Any]
    shape: Shape
    envelope: Envelope = Envelope.OBJECT
    status: int | Status = 200
    body: type[BaseModel] | None = None
    accepts: Accepts = Accepts.JSON
    renamed: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    keyless: tuple[str, ...] = ()
    through: str = ""
    query: tuple[Parameter, ...] = ()
    ordering: Ordering | None = None
    missing: Callable[[], AppError] = _no_such_row
    deprecated: Deprecated | None = None
    example: Mapping[str, Any] | None = None
    """A request to show in the documentation."""

    @property
    def verbs(self) -> list[str]:
        """The methods, in order; the first is the documented one."""
        return self.methods.split("|")

    @property
    def writes(self) -> bool:
        """Whether requests have a body."""
        return any(verb != "GET" for verb in self.verbs)

    @property
    def repeatable(self) -> bool:
        """Whether requests take an `Idempotency-Key`."""
        return self.writes and isinstance(self.operation, Operation) and self.operation.repeatable
