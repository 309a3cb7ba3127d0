"""graphql-core's executor, except that lists, connections and objects are written by compiled projections where they can be.

What cannot be compiled, and what fails while it is written, is left to graphql-core, so values, messages and paths are the
same; each such case is counted and logged. This is the one place that knows graphql-core's and Strawberry's inner parts.
"""

import inspect
from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Any, TypeAlias

import structlog
from graphql import Executor as CoreExecutor
from graphql import GraphQLObjectType
from prometheus_client import Counter
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from resolvers.core.listing import Connection, Found
from schema.core.errors import AppError, NotFound
from schema.graph.pages import PagePlan, plan_page
from schema.graph.selection import Details, Selection, is_connection, strip
from store.database.projection import Projection
from store.database.projection_fields import CannotCompile

log = structlog.get_logger(__name__)
FALLBACKS = Counter("coffret_graphql_fallbacks", "Selections left to graphql-core.", ["type", "reason"])

Plan: TypeAlias = Projection | PagePlan | None
Plans: TypeAlias = dict[Hashable, tuple[Any, Plan]]
"""Compiled selections by type, places in the document and conditions. The nodes are kept, so that no id is used again."""
MOST_PLANS = 64


class Executor(CoreExecutor[Any]):
    """Executes one operation. `plans` belongs to its document; `conditions` name the variables its directives depend on.

    Not Strawberry's own executor, which is made for incremental delivery, but with what Strawberry's resolvers read.
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
        """The compiled selection of a type; None where it is for graphql-core."""
        if not self.compiled or kind.name.startswith("__"):
            return None
        key = (kind.name, self.conditions, *(id(d.node) for d in details))
        kept = self.plans.get(key)
        if kept is None:
            kept = ([d.node for d in details], self._made(kind, details))
            if len(self.plans) < MOST_PLANS:
                self.plans[key] = kept
        if kept[1] is None:
            FALLBACKS.labels(kind.name, "selection").inc()
        return kept[1]

    def _made(self, kind: GraphQLObjectType, details: Details) -> Plan:
        selection = Selection(lambda of, places: self.collect_subfields(of, places).grouped_field_set)
        try:
            return plan_page(selection, kind, details) if is_connection(kind) else selection.projection(kind, details)
        except CannotCompile as way_out:
            log.info("a selection is left to graphql-core", type=kind.name, because=str(way_out))
            return None

    def _failed(self, kind: GraphQLObjectType, error: Exception) -> None:
        """graphql-core finds the mistake again, and tells it with its path."""
        if isinstance(error, AppError):
            return  # the client's mistake, not the compiler's
        FALLBACKS.labels(kind.name, "failure").inc()
        log.warning("a compiled selection failed", type=kind.name, because=repr(error))

    # ---- values

    def complete_list_value(
        self, return_type: Any, field_details_list: Any, info: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        """A list of objects in one go."""

        def plain() -> Any:
            return super(Executor, self).complete_list_value(
                return_type, field_details_list, info, path, result, position_context
            )

        kind = strip(return_type.of_type)[0]
        if not isinstance(kind, GraphQLObjectType) or not isinstance(result, list | tuple) or not result:
            return plain()
        plan = self.plan(kind, field_details_list)
        if not isinstance(plan, Projection) or plan.objects is None or not _whole(result):
            return plain()
        return self._written(kind, plan, result, path, plain, lambda written: written)

    def complete_object_value(
        self, return_type: Any, field_details_list: Any, info: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        """An object, a page of a list, or a row that is not fetched yet."""

        def plain(found: Any = result) -> Any:
            return super(Executor, self).complete_object_value(
                return_type, field_details_list, info, path, found, position_context
            )

        if isinstance(result, Found):
            return self._looked_up(return_type, self.plan(return_type, field_details_list), result, plain)
        plan = self.plan(return_type, field_details_list)
        if isinstance(plan, PagePlan) and isinstance(result, Connection):
            return self._paged(return_type, plan, result, plain)
        if not isinstance(plan, Projection) or plan.objects is None:
            return plain()
        return self._written(return_type, plan, (result,), path, plain, lambda written: written[0])

    def _written(
        self,
        kind: GraphQLObjectType,
        plan: Projection,
        objects: Any,
        path: Any,
        plain: Callable[[], Any],
        of: Callable[[list[Any]], Any],
    ) -> Any:
        assert plan.objects is not None
        if plan.objects.open:
            # Within a list graphql-core's loaders gather the relations of all its rows; one object at a time would not.
            return plain() if _within_list(path) else self._followed(kind, plan, objects, plain, of)
        try:
            return of(plan.objects.many(objects))
        except Exception as error:  # noqa: BLE001 - whatever it is, graphql-core finds it again
            self._failed(kind, error)
            return plain()

    async def _followed(
        self,
        kind: GraphQLObjectType,
        plan: Projection,
        objects: Any,
        plain: Callable[[], Any],
        of: Callable[[list[Any]], Any],
    ) -> Any:
        try:
            return of(await plan.render(objects, self.context_value.load.level))
        except Exception as error:  # noqa: BLE001 - whatever it is, graphql-core finds it again
            self._failed(kind, error)
            return await _settled(plain())

    async def _paged(
        self, kind: GraphQLObjectType, plan: PagePlan, page: Connection[Any], plain: Callable[[], Any]
    ) -> Any:
        try:
            return await plan.render(page.rows, self.context_value.load.level)
        except Exception as error:  # noqa: BLE001 - whatever it is, graphql-core finds it again
            self._failed(kind, error)
            return await _settled(plain())

    async def _looked_up(
        self, kind: GraphQLObjectType, plan: Plan, found: Found[Any], plain: Callable[[Any], Any]
    ) -> Any:
        """The row, or null when the caller may see no such row."""
        try:
            if not isinstance(plan, Projection) or plan.rows is None:
                return await _settled(plain(await found.object()))
            row = await found.page(plan.rows.columns)
        except NotFound:
            return None
        except AppError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, graphql-core finds it again
            return await self._once_more(kind, error, found, plain)
        try:
            return (await plan.render((row,), self.context_value.load.level, columns=True))[0]
        except Exception as error:  # noqa: BLE001 - whatever it is, graphql-core finds it again, and at which field
            return await self._once_more(kind, error, found, plain)

    async def _once_more(
        self, kind: GraphQLObjectType, error: Exception, found: Found[Any], plain: Callable[[Any], Any]
    ) -> Any:
        self._failed(kind, error)
        return await _settled(plain(await found.object()))


def _whole(items: Iterable[Any]) -> bool:
    """Whether a list holds objects only: no nulls, no errors, nothing to wait for."""
    return not any(item is None or isinstance(item, Exception) or inspect.isawaitable(item) for item in items)


def _within_list(path: Any) -> bool:
    while path is not None:
        if isinstance(path.key, int):
            return True
        path = path.prev
    return False


async def _settled(value: Any | Awaitable[Any]) -> Any:
    return await value if inspect.isawaitable(value) else value
