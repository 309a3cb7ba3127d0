"""Finds the target of a method and a path, and reads the values of the path's parameters."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError

from schema.validation.numbers import RowId
from schema.validation.storable import UNSTORABLE

T = TypeVar("T")

_PARAMETER = "{}"
_ID = re.compile(r"[1-9]\d{0,9}", re.ASCII)


class PathTable(Generic[T]):
    """Targets by path, with parameters in braces: `/api/vouchers/{code}/`.

    `/a/b` and `/a/b/` are the same path. A fixed segment takes precedence over a parameter. HEAD uses the target of
    GET. Raises ValueError if two targets have the same method and path.
    """

    def __init__(self, targets: Iterable[tuple[Iterable[str], str, T]]) -> None:
        found: dict[tuple[str, ...], dict[str, T]] = {}
        for methods, path, target in targets:
            segments = tuple(_PARAMETER if s.startswith("{") else s for s in path.strip("/").split("/"))
            by_method = found.setdefault(segments, {})
            for method in methods:
                if method in by_method:
                    raise ValueError(f"Two routes answer {method} {path}.")
                by_method[method] = target
            if "GET" in by_method:
                by_method.setdefault("HEAD", by_method["GET"])
        self._fixed = {"/".join(path): by_method for path, by_method in found.items() if _PARAMETER not in path}
        self._patterns: dict[int, list[tuple[re.Pattern[str], dict[str, T]]]] = {}
        """By the number of slashes: a parameter is a single segment."""
        for segments, by_method in sorted(found.items(), key=lambda entry: [s == _PARAMETER for s in entry[0]]):
            if _PARAMETER in segments:
                pattern = "/".join("([^/]+)" if s == _PARAMETER else re.escape(s) for s in segments)
                self._patterns.setdefault(len(segments) - 1, []).append((re.compile(pattern), by_method))

    def find(self, path: str) -> tuple[Mapping[str, T], Sequence[str]] | None:
        """The targets of a path by method, and the values of its parameters; None if no route has the path."""
        path = path[1:].removesuffix("/")
        if path in self._fixed:
            return self._fixed[path], ()
        for pattern, by_method in self._patterns.get(path.count("/"), ()):
            if match := pattern.fullmatch(path):
                return by_method, match.groups()
        return None


def _canonical(text: str) -> str:
    """Accept only the canonical form of an id, so that a row has one URL. Bodies also accept `01`, `+1` and `1.0`."""
    if not _ID.fullmatch(text):
        raise ValueError
    return text


def _storable(text: str) -> str:
    if UNSTORABLE.search(text):
        raise ValueError
    return text


_TYPES: Mapping[Any, Any] = {
    int: Annotated[RowId, BeforeValidator(_canonical)],
    str: Annotated[str, AfterValidator(_storable)],
}
"""The types in a path, where they are stricter than in a body."""


class PathValues:
    """Converts the parameters of one path to the types that the operation expects."""

    def __init__(self, names: Sequence[str], types: Mapping[str, Any]) -> None:
        self.names = tuple(names)
        self.adapters = [TypeAdapter(_type_in_path(types[name])) for name in names]

    def read(self, texts: Sequence[str]) -> Mapping[str, Any] | None:
        """The values by name; None if one of them cannot be an identifier."""
        try:
            return {
                name: adapter.validate_python(text)
                for name, adapter, text in zip(self.names, self.adapters, texts, strict=True)
            }
        except ValidationError:
            return None


def _type_in_path(kind: Any) -> Any:
    """The stricter type of a parameter, which is never null in a path. A type with rules of its own keeps them."""
    given = (
        [part for part in get_args(kind) if part is not type(None)] if get_origin(kind) in {Union, UnionType} else []
    )
    bare = given[0] if len(given) == 1 else kind
    return _TYPES.get(bare, bare)
