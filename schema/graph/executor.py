"""graphql-core's executor, with compiled projections for lists, connections and objects.

A selection that cannot be compiled, or that fails while it is rendered, falls back to graphql-core, so values, messages
and paths are the same. Each fallback is counted and logged. Only this module knows the internals of the executors of
graphql-core and Strawberry.
"""

import inspect
from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Any, TypeAlias

import structlog
from graphql import Executor as CoreExecutor
from graphql import GraphQLObjectType
from prometheus_client import Counter
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from resolvers.core.lists.connection import Connection
from resolvers.core.lists.page_query import LazyRow, PageQuery
from schema.core.errors import AppError, NotFound
from schema.graph.pages import PagePlan, plan_page
from schema.graph.selection import Details, SelectionCompiler, is_connection, unwrap_non_null
from store.database.projection import Projection
from store.database.projection_fields import CannotCompile

log = structlog.get_logger(__name__)
FALLBACKS = Counter("coffret_graphql_fallbacks", "Selections that graphql-core executes.", ["type", "reason"])

Plan: TypeAlias = Projection | PagePlan | None
Plans: TypeAlias = dict[Hashable, tuple[Any, Plan]]
"""Compiled selections by type, places in the document and conditions. They hold the nodes, so that Python does not
reuse a node's id.
"""
MOST_PLANS = 64


class Executor(CoreExecutor[Any]):
    """Executes one operation. `plans` belongs to its document; `conditions` are the variables of its directives.

    It replaces Strawberry's executor, which is built for incremental delivery, and provides what Strawberry's resolvers
    read.
    """

    operation_extensions: dict[str, Any] | None = None
    build_resolve_info = StrawberryGraphQLCoreExecutionContext.build_resolve_info

    def __init__(
        self,
        *arguments: Any,
        plans: Plans | None = None,
        conditions: tuple[str, ...] = (),
        compiled: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.compiled = compiled
        self.plans: Plans = {} if plans is None else plans
        self.conditions = tuple(self.variable_values.coerced.get(name) for name in conditions)

    # ---- plans

    def plan(self, kind: GraphQLObjectType, details: Details) -> Plan:
        """The compiled selection of a type; None if graphql-core executes it."""
        if not self.compiled or kind.name.startswith("__"):
            return None
        key = (kind.name, self.conditions, *(id(d.node) for d in details))
        kept = self.plans.get(key)
        if kept is None:
            kept = ([d.node for d in details], self._compile(kind, details))
            if len(self.plans) < MOST_PLANS:
                self.plans[key] = kept
        if kept[1] is None:
            FALLBACKS.labels(kind.name, "selection").inc()
        return kept[1]

    def _compile(self, kind: GraphQLObjectType, details: Details) -> Plan:
        selection = SelectionCompiler(lambda of, places: self.collect_subfields(of, places).grouped_field_set)
        try:
            return plan_page(selection, kind, details) if is_connection(kind) else selection.projection(kind, details)
        except CannotCompile as way_out:
            log.info("graphql-core executes a selection that cannot be compiled", type=kind.name, because=str(way_out))
            return None

    def _log_failure(self, kind: GraphQLObjectType, error: Exception) -> None:
        """Count and log a failed selection. graphql-core then raises the error again, with its path."""
        if isinstance(error, AppError):
            return  # the client's mistake, not the compiler's
        FALLBACKS.labels(kind.name, "failure").inc()
        log.warning("a compiled selection failed", type=kind.name, because=repr(error))

    # ---- values

    def complete_list_value(
        self, return_type: Any, field_details_list: Any, info: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        """Serialize a list of objects at once."""

        def plain() -> Any:
            return super(Executor, self).complete_list_value(
                return_type, field_details_list, info, path, result, position_context
            )

        kind = unwrap_non_null(return_type.of_type)[0]
        if not isinstance(kind, GraphQLObjectType) or not isinstance(result, list | tuple) or not result:
            return plain()
        plan = self.plan(kind, field_details_list)
        if not isinstance(plan, Projection) or plan.objects is None or not _holds_only_objects(result):
            return plain()
        return self._render(kind, plan, result, path, plain, lambda written: written)

    def complete_object_value(
        self, return_type: Any, field_details_list: Any, info: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        """Serialize an object, a page of a list, or a lazy row."""

        def plain(value: Any = result) -> Any:
            return super(Executor, self).complete_object_value(
                return_type, field_details_list, info, path, value, position_context
            )

        if isinstance(result, LazyRow):
            return self._render_lookup(return_type, self.plan(return_type, field_details_list), result, plain)
        plan = self.plan(return_type, field_details_list)
        if isinstance(plan, PagePlan) and isinstance(result, Connection) and isinstance(result.rows, PageQuery):
            return self._render_page(return_type, plan, result.rows, plain)
        if not isinstance(plan, Projection) or plan.objects is None:
            return plain()
        return self._render(return_type, plan, (result,), path, plain, lambda written: written[0])

    def _render(
        self,
        kind: GraphQLObjectType,
        plan: Projection,
        objects: Any,
        path: Any,
        plain: Callable[[], Any],
        of: Callable[[list[Any]], Any],
    ) -> Any:
        assert plan.objects is not None
        if plan.objects.needs_loading:
            # Inside a list, graphql-core's loaders batch the relations of all rows; rendering single objects would not.
            return plain() if _within_list(path) else self._render_with_relations(kind, plan, objects, plain, of)
        try:
            return of(plan.objects.serialize_many(objects))
        except Exception as error:  # noqa: BLE001 - graphql-core raises it again
            self._log_failure(kind, error)
            return plain()

    async def _render_with_relations(
        self,
        kind: GraphQLObjectType,
        plan: Projection,
        objects: Any,
        plain: Callable[[], Any],
        of: Callable[[list[Any]], Any],
    ) -> Any:
        try:
            return of(await plan.render(objects, self.context_value.loaders.load))
        except Exception as error:  # noqa: BLE001 - graphql-core raises it again
            self._log_failure(kind, error)
            return await _await_if_needed(plain())

    async def _render_page(
        self, kind: GraphQLObjectType, plan: PagePlan, page: PageQuery[Any], plain: Callable[[], Any]
    ) -> Any:
        try:
            return await plan.render(page, self.context_value.loaders.load)
        except Exception as error:  # noqa: BLE001 - graphql-core raises it again
            self._log_failure(kind, error)
            return await _await_if_needed(plain())

    async def _render_lookup(
        self, kind: GraphQLObjectType, plan: Plan, lazy_row: LazyRow[Any], plain: Callable[[Any], Any]
    ) -> Any:
        """The row, or null when the caller may see no such row."""
        try:
            if not isinstance(plan, Projection) or plan.rows is None:
                return await _await_if_needed(plain(await lazy_row.object()))
            row, load = await lazy_row.fetch(plan.rows, self.context_value.loaders.load)
        except NotFound:
            return None
        except AppError:
            raise
        except Exception as error:  # noqa: BLE001 - graphql-core raises it again
            return await self._fall_back(kind, error, lazy_row, plain)
        try:
            return (await plan.render((row,), load, columns=True))[0]
        except Exception as error:  # noqa: BLE001 - graphql-core raises it again, with its field
            return await self._fall_back(kind, error, lazy_row, plain)

    async def _fall_back(
        self, kind: GraphQLObjectType, error: Exception, row: LazyRow[Any], plain: Callable[[Any], Any]
    ) -> Any:
        self._log_failure(kind, error)
        return await _await_if_needed(plain(await row.object()))


def _holds_only_objects(items: Iterable[Any]) -> bool:
    """True if a list has no nulls, errors or awaitables."""
    return not any(item is None or isinstance(item, Exception) or inspect.isawaitable(item) for item in items)


def _within_list(path: Any) -> bool:
    while path is not None:
        if isinstance(path.key, int):
            return True
        path = path.prev
    return False


async def _await_if_needed(value: Any | Awaitable[Any]) -> Any:
    return await value if inspect.isawaitable(value) else value
