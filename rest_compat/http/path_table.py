"""From a method and a path to what answers it: one walk over the path's segments, however many routes there are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class Branch(Generic[T]):
    """What may follow a beginning of a path."""

    fixed: "dict[str, Branch[T]]" = field(default_factory=dict)
    open: "Branch[T] | None" = None
    methods: dict[str, T] = field(default_factory=dict)
    """Method -> what answers."""

    def next(self, segment: str) -> "Branch[T]":
        """The branch for one more segment of a route's path, made where there is none."""
        if not segment.startswith("{"):
            return self.fixed.setdefault(segment, Branch())
        self.open = self.open or Branch()
        return self.open


class PathTable(Generic[T]):
    """Routes by path. `/a/b` and `/a/b/` are one path; a fixed segment goes before a parameter; HEAD goes where GET does."""

    def __init__(self) -> None:
        self._root: Branch[T] = Branch()

    def add(self, methods: Iterable[str], path: str, target: T) -> None:
        """Let `target` answer a path, whose parameters stand in braces: `/api/vouchers/{code}/`."""
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
        """What answers a path, by method, and the values of its parameters; None when no route has it."""
        segments = path[1:-1].split("/") if path.endswith("/") else path[1:].split("/")
        values: list[str] = []
        branch = _walk(self._root, segments, 0, values)
        return None if branch is None else (branch.methods, values)


def _walk(branch: Branch[T], segments: list[str], at: int, values: list[str]) -> Branch[T] | None:
    while branch.open is None and at < len(segments):  # there is one way only: nothing to come back to
        following = branch.fixed.get(segments[at])
        if following is None:
            return None
        branch, at = following, at + 1
    if at == len(segments):
        return branch if branch.methods else None
    segment = segments[at]
    fixed = branch.fixed.get(segment)
    if fixed is not None:
        found = _walk(fixed, segments, at + 1, values)
        if found is not None:
            return found
    if branch.open is None or not segment:
        return None
    values.append(segment)
    found = _walk(branch.open, segments, at + 1, values)
    if found is None:
        values.pop()
    return found
