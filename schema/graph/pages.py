"""A connection as it is selected: one plan for its rows, its place and its count."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLObjectType

from resolvers.core.page_query import Cut, Rows
from schema.graph.selection import Details, Selection, Source, strip
from store.database.projection import Projection
from store.database.projection_fields import Cursor, Load, Part, Same, Wanted

ENDS = {"startCursor": 0, "endCursor": -1}


@dataclass(frozen=True)
class PagePlan:
    """What is selected of a connection: response key -> what to write there."""

    entries: Mapping[str, str]
    """`nodes`, `edges`, `pageInfo`, `totalCount`, or `=` and a type name."""
    lists: Projection | None
    """The rows; where several lists are selected, each row holds one object for each of their keys."""
    info: Mapping[str, Mapping[str, str]]
    """Key of a `pageInfo` -> its response keys and fields."""

    @property
    def keys(self) -> Sequence[str]:
        """The response keys that hold lists."""
        return [key for key, what in self.entries.items() if what in {"nodes", "edges"}]

    async def render(self, rows: Rows[Any], load: Load) -> dict[str, Any]:
        """Fetch and write the page; its rows and the count of the list at the same time."""
        counts = [key for key, what in self.entries.items() if what == "totalCount"]
        if not counts:
            return await self._written(rows, load)
        answer: dict[str, Any]
        answer, total = await asyncio.gather(self._written(rows, load), rows.count())
        answer.update(dict.fromkeys(counts, total))
        return answer

    async def _written(self, rows: Rows[Any], load: Load) -> dict[str, Any]:
        cut, lists = await self._lists(rows, load)
        answer: dict[str, Any] = {}
        for key, what in self.entries.items():
            if what == "pageInfo":
                answer[key] = {k: await _place(f, rows, cut) for k, f in self.info[key].items()}
            elif what == "totalCount":
                answer[key] = None  # keeps the place of the count, which is not there yet
            else:
                answer[key] = lists[key] if key in lists else what[1:]
        return answer

    async def _lists(self, rows: Rows[Any], load: Load) -> tuple[Cut, Mapping[str, list[Any]]]:
        """What was fetched of the page, and each list written."""
        if self.lists is None:
            needed = any(field != "__typename" for info in self.info.values() for field in info.values())
            return (await rows.cut(()) if needed else Cut((), more=False)), {}
        if self.lists.rows is not None:
            cut = await rows.cut(self.lists.rows.columns)
            written = await self.lists.render(cut.rows, load, columns=True, cursor=rows.order.cursor)
        else:
            fetched = await rows.fetched()
            written = await self.lists.render(fetched.rows, load, cursor=rows.cursor_of)
            cut = Cut([rows.place_of(row) for row in fetched.rows], fetched.more)
        keys = self.keys
        return cut, {keys[0]: written} if len(keys) == 1 else {key: [row[key] for row in written] for key in keys}


async def _place(field: str, rows: Rows[Any], cut: Cut) -> Any:
    if field == "hasNextPage":
        return await rows.has_next(cut.more)
    if field == "hasPreviousPage":
        return await rows.has_previous(cut.more)
    if field in ENDS:
        return rows.order.cursor(*cut.rows[ENDS[field]][:2]) if cut.rows else None
    return "PageInfo"


def plan_page(selection: Selection, kind: GraphQLObjectType, details: Details) -> PagePlan:
    """Compile what is selected of a connection; CannotCompile says which field is in the way."""
    entries: dict[str, str] = {}
    wanted: dict[str, tuple[Wanted, ...]] = {}
    info: dict[str, dict[str, str]] = {}
    for key, selected in selection.collect(kind, details).items():
        name = selected[0].node.name.value
        entries[key] = f"={kind.name}" if name == "__typename" else name
        if name in {"nodes", "edges"}:
            wanted[key] = _row(selection, kind, name, selected)
        elif name == "pageInfo":
            inner = selection.collect(strip(kind.fields[name].type)[0], selected)
            info[key] = {k: d[0].node.name.value for k, d in inner.items()}
    return PagePlan(entries, _lists(wanted), info)


def _lists(wanted: Mapping[str, tuple[Wanted, ...]]) -> Projection | None:
    if len(wanted) > 1:
        return Projection([Part(key, None, inner) for key, inner in wanted.items()])
    return next((Projection(inner) for inner in wanted.values()), None)


def _row(selection: Selection, kind: GraphQLObjectType, name: str, details: Details) -> tuple[Wanted, ...]:
    item: GraphQLObjectType = strip(strip(kind.fields[name].type)[0].of_type)[0]
    if name == "nodes":
        return selection.wanted(item, details, Source.of(item))
    return tuple(_edge(selection, item, key, d) for key, d in selection.collect(item, details).items())


def _edge(selection: Selection, kind: GraphQLObjectType, key: str, details: Details) -> Wanted:
    name = details[0].node.name.value
    if name == "__typename":
        return Same(key, kind.name)
    if name == "cursor":
        return Cursor(key)
    node: GraphQLObjectType = strip(kind.fields[name].type)[0]
    return Part(key, None, selection.wanted(node, details, Source.of(node)), required=True)
