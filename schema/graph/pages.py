"""Compiles the selection of a connection: its rows, page info and count."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLObjectType

from resolvers.core.lists.page_query import PageQuery, PageSlice
from schema.graph.selection import Details, SelectionCompiler, SelectionSource, unwrap_non_null
from store.database.projection import Projection
from store.database.projection_fields import ConstantField, CursorField, LoadFunction, ObjectField, SelectedField

CURSOR_INDEXES = {"startCursor": 0, "endCursor": -1}


@dataclass(frozen=True)
class PagePlan:
    """The compiled selection of a connection."""

    entries: Mapping[str, str]
    """Response key -> `nodes`, `edges`, `pageInfo`, `totalCount`, or `=` and a type name."""
    rows: Projection | None
    """The projection of the rows. If several lists are selected, each row holds one object per list key."""
    page_info: Mapping[str, Mapping[str, str]]
    """Response key of a `pageInfo` -> its response keys and their fields."""

    @property
    def list_keys(self) -> Sequence[str]:
        """The response keys that hold lists."""
        return [key for key, what in self.entries.items() if what in {"nodes", "edges"}]

    async def render(self, rows: PageQuery[Any], load: LoadFunction) -> dict[str, Any]:
        """Fetch and serialize the page; count the list at the same time."""
        counts = [key for key, what in self.entries.items() if what == "totalCount"]
        if not counts:
            return await self._render_page(rows, load)
        answer: dict[str, Any]
        answer, total = await asyncio.gather(self._render_page(rows, load), rows.count())
        answer.update(dict.fromkeys(counts, total))
        return answer

    async def _render_page(self, rows: PageQuery[Any], load: LoadFunction) -> dict[str, Any]:
        cut, lists = await self._render_lists(rows, load)
        answer: dict[str, Any] = {}
        for key, what in self.entries.items():
            if what == "pageInfo":
                answer[key] = {k: await _page_info_value(f, rows, cut) for k, f in self.page_info[key].items()}
            elif what == "totalCount":
                answer[key] = None  # keeps the position of the count, which is added later
            else:
                answer[key] = lists[key] if key in lists else what[1:]
        return answer

    async def _render_lists(
        self, rows: PageQuery[Any], load: LoadFunction
    ) -> tuple[PageSlice, Mapping[str, list[Any]]]:
        """The fetched page, and each serialized list."""
        if self.rows is None:
            needed = any(field != "__typename" for info in self.page_info.values() for field in info.values())
            return (await rows.fetch_slice(()) if needed else PageSlice((), has_more=False)), {}
        if self.rows.rows is not None:
            cut = await rows.fetch_slice(self.rows.rows.columns, self.rows.rows.joined)
            cursor = rows.order.cursor
            written = await self.rows.render(cut.rows, cut.load_missing(load), columns=True, cursor=cursor)
        else:
            fetched = await rows.objects_slice()
            written = await self.rows.render(fetched.rows, load, cursor=rows.cursor_of)
            cut = PageSlice([rows.position_of(row) for row in fetched.rows], fetched.has_more)
        keys = self.list_keys
        return cut, {keys[0]: written} if len(keys) == 1 else {key: [row[key] for row in written] for key in keys}


async def _page_info_value(field: str, rows: PageQuery[Any], cut: PageSlice) -> Any:
    if field == "hasNextPage":
        return await rows.has_next(cut.has_more)
    if field == "hasPreviousPage":
        return await rows.has_previous(cut.has_more)
    if field in CURSOR_INDEXES:
        return rows.order.cursor(*cut.rows[CURSOR_INDEXES[field]][:2]) if cut.rows else None
    return "PageInfo"


def plan_page(selection: SelectionCompiler, kind: GraphQLObjectType, details: Details) -> PagePlan:
    """Compile the selection of a connection. Raises CannotCompile with the field that prevents it."""
    entries: dict[str, str] = {}
    wanted: dict[str, tuple[SelectedField, ...]] = {}
    info: dict[str, dict[str, str]] = {}
    for key, selected in selection.collect(kind, details).items():
        name = selected[0].node.name.value
        entries[key] = f"={kind.name}" if name == "__typename" else name
        if name in {"nodes", "edges"}:
            wanted[key] = _row_fields(selection, kind, name, selected)
        elif name == "pageInfo":
            inner = selection.collect(unwrap_non_null(kind.fields[name].type)[0], selected)
            info[key] = {k: d[0].node.name.value for k, d in inner.items()}
    return PagePlan(entries, _rows_projection(wanted), info)


def _rows_projection(selected: Mapping[str, tuple[SelectedField, ...]]) -> Projection | None:
    if len(selected) > 1:
        return Projection([ObjectField(key, None, inner) for key, inner in selected.items()])
    return next((Projection(inner) for inner in selected.values()), None)


def _row_fields(
    selection: SelectionCompiler, kind: GraphQLObjectType, name: str, details: Details
) -> tuple[SelectedField, ...]:
    item: GraphQLObjectType = unwrap_non_null(unwrap_non_null(kind.fields[name].type)[0].of_type)[0]
    if name == "nodes":
        return selection.selected_fields(item, details, SelectionSource.of(item))
    return tuple(_edge_field(selection, item, key, d) for key, d in selection.collect(item, details).items())


def _edge_field(selection: SelectionCompiler, kind: GraphQLObjectType, key: str, details: Details) -> SelectedField:
    name = details[0].node.name.value
    if name == "__typename":
        return ConstantField(key, kind.name)
    if name == "cursor":
        return CursorField(key)
    node: GraphQLObjectType = unwrap_non_null(kind.fields[name].type)[0]
    return ObjectField(key, None, selection.selected_fields(node, details, SelectionSource.of(node)), required=True)
