"""Finds the target of a method and a path in one walk over the path's segments, whatever the number of routes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class PathNode(Generic[T]):
    """A node of the path tree: the segments that may follow, and the targets that end here."""

    static: "dict[str, PathNode[T]]" = field(default_factory=dict)
    parameter: "PathNode[T] | None" = None
    methods: dict[str, T] = field(default_factory=dict)
    """Method -> target."""

    def next(self, segment: str) -> "PathNode[T]":
        """The node of the next segment of a route's path; created if missing."""
        if not segment.startswith("{"):
            return self.static.setdefault(segment, PathNode())
        self.parameter = self.parameter or PathNode()
        return self.parameter


class PathTable(Generic[T]):
    """Targets by path.

    `/a/b` and `/a/b/` are the same path. A fixed segment takes precedence over a parameter. HEAD uses the target of
    GET.
    """

    def __init__(self) -> None:
        self._root: PathNode[T] = PathNode()

    def add(self, methods: Iterable[str], path: str, target: T) -> None:
        """Register a target for methods and a path with parameters in braces: `/api/vouchers/{code}/`.

        Raises ValueError if a method of the path is already registered.
        """
        branch = self._root
        segments = path.strip("/").split("/")
        for segment in segments:
            branch = branch.next(segment)
        for method in methods:
            if method in branch.methods:
                raise ValueError(f"Two routes answer {method} {path}.")
            branch.methods[method] = target
        if "GET" in branch.methods:
            branch.methods.setdefault("HEAD", branch.methods["GET"])

    def find(self, path: str) -> tuple[Mapping[str, T], list[str]] | None:
        """The targets of a path by method, and the values of its parameters; None if no route has the path."""
        segments = path[1:-1].split("/") if path.endswith("/") else path[1:].split("/")
        values: list[str] = []
        branch = _walk(self._root, segments, 0, values)
        return None if branch is None else (branch.methods, values)


def _walk(branch: PathNode[T], segments: list[str], at: int, values: list[str]) -> PathNode[T] | None:
    while branch.parameter is None and at < len(segments):  # without a parameter there is nothing to backtrack to
        following = branch.static.get(segments[at])
        if following is None:
            return None
        branch, at = following, at + 1
    if at == len(segments):
        return branch if branch.methods else None
    segment = segments[at]
    fixed = branch.static.get(segment)
    if fixed is not None:
        match = _walk(fixed, segments, at + 1, values)
        if match is not None:
            return match
    if branch.parameter is None or not segment:
        return None
    values.append(segment)
    match = _walk(branch.parameter, segments, at + 1, values)
    if match is None:
        values.pop()
    return match
