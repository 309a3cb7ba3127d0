"""Path parameters, converted to the types that the operation expects."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin
from urllib.parse import quote

from pydantic import BeforeValidator, TypeAdapter, ValidationError
from starlette.requests import Request

from rest_compat.http.responses import Header
from rest_compat.http.route import Deprecation
from schema.validation.numbers import RowId
from schema.validation.storable import UNSTORABLE

_ID = re.compile(r"[1-9]\d{0,9}", re.ASCII)


def _written_plainly(text: str) -> str:
    """Accept only the canonical form of an id, so that a row has one URL. Bodies also accept `01`, `+1` and `1.0`."""
    if not _ID.fullmatch(text):
        raise ValueError
    return text


PathId = Annotated[RowId, BeforeValidator(_written_plainly)]


class PathValues:
    """Parses the parameters of one path, in their order."""

    def __init__(self, names: Sequence[str], kinds: Mapping[str, Any]) -> None:
        self.names = tuple(names)
        self.adapters = tuple(_adapter(kinds[name]) for name in names)

    def read(self, raw: Sequence[str]) -> Mapping[str, Any] | None:
        """The values by name; None if one of them cannot be an identifier."""
        values: dict[str, Any] = {}
        for name, adapter, text in zip(self.names, self.adapters, raw, strict=True):
            if adapter is None:
                if UNSTORABLE.search(text):
                    return None
                values[name] = text
                continue
            try:
                values[name] = adapter.validate_python(text)
            except ValidationError:
                return None
        return values

    def deprecation(self, deprecated: Deprecation, request: Request, path_parameters: Sequence[str]) -> list[Header]:
        """The `Deprecation` and `Link` headers that point to the successor of this URL."""
        path = deprecated.successor.format(**dict(zip(self.names, map(quote, path_parameters), strict=True)))
        successor = request.url.replace(path=path, query="")
        since = dt.datetime.combine(deprecated.since, dt.time.min, dt.UTC)
        return [
            (b"deprecation", f"@{int(since.timestamp())}".encode()),
            (b"link", f'<{successor}>; rel="successor-version"'.encode("latin-1")),
        ]


def _adapter(kind: Any) -> TypeAdapter[Any] | None:
    kind = _without_none(kind)
    if kind is str:
        return None
    return TypeAdapter(PathId if kind is int else kind)


def _without_none(kind: Any) -> Any:
    arguments = [a for a in get_args(kind) if a is not type(None)]
    is_optional = get_origin(kind) is not None and len(arguments) < len(get_args(kind)) and len(arguments) == 1
    return arguments[0] if is_optional else kind
