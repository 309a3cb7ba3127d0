"""Checks that a list can be read as it is asked for: its name, its filter, its order, its columns."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from resolvers.core.list_reader import ListColumn, ListPageRequest
from resolvers.core.operation import Call
from schema.core.errors import Forbidden, InvalidInput, Problem
from schema.core.input_errors import ProblemCollector
from schema.core.message_names import TemplatedMessage
from schema.export import CreateExport, ExportColumnInput
from store.audit.masking import mask

NO_SUCH_LIST = "There is no such list."
HAS_CODE = "Codes are not saved. Leave them out of the filter."
NO_SUCH_COLUMN = "The rows of this list have no single value there."


def check_list(call: Call, name: str) -> None:
    """Raise InvalidInput if there is no such list, and Forbidden if the caller may not read it."""
    access = call.services.lists.access(name)
    if access is None:
        raise InvalidInput.at("list", NO_SUCH_LIST)
    call.context.require(access)


def order_of(call: Call, name: str, order_by: str | None) -> str:
    """One of the orders of a list, by default its first. Raises InvalidInput for any other."""
    orders = call.services.lists.orders(name)
    if order_by and order_by not in orders:
        raise InvalidInput.at("order_by", TemplatedMessage("Send {known}.", known=orders))
    return order_by or orders[0]


def columns_of(call: Call, input: CreateExport) -> Sequence[tuple[ListColumn, str]]:
    """The columns of an export with their titles. Raises InvalidInput for those that the list does not have, and Forbidden
    for whole codes without the permission to manage what they stand for.
    """
    lists = call.services.lists
    if input.columns is None:
        own = [each for each in lists.columns(input.list) if not each.is_of_part]
        chosen = [(each, each.path) for each in own if input.include_codes or not each.is_code_address]
    else:
        chosen = _chosen_columns(call, input.list, input.columns)
    for column, _ in chosen:
        if input.include_codes and column.code_permission and not call.caller.may(column.code_permission):
            raise Forbidden(permission=f"permissions.{column.code_permission}")
    return chosen


def _chosen_columns(call: Call, name: str, columns: Sequence[ExportColumnInput]) -> list[tuple[ListColumn, str]]:
    read = [(call.services.lists.column(name, each.field), each.header or each.field) for each in columns]
    missing = [at for at, (column, _) in enumerate(read) if column is None]
    if missing:
        raise InvalidInput(*(Problem(("columns", at, "field"), "INVALID", NO_SUCH_COLUMN) for at in missing))
    return [(column, title) for column, title in read if column is not None]


async def check_filter(call: Call, name: str, filter: Mapping[str, Any]) -> None:
    """Raise InvalidInput for a filter that the list does not have."""
    lists = call.services.lists
    await check_readable(call, name, filter, lists.orders(name)[0], [lists.columns(name)[0].path])


async def check_readable(
    call: Call, name: str, filter: Mapping[str, Any], order_by: str, columns: Sequence[str]
) -> None:
    """Read the first row as the caller. Raises InvalidInput for the filter, and what the list raises."""
    request = ListPageRequest(list=name, columns=columns, filter=filter, order_by=order_by, first=1)
    await call.services.lists.read(call.services, call.caller, request)


async def check_saved_filter(call: Call, name: str, filter: Mapping[str, Any], order_by: str | None) -> None:
    """Raise InvalidInput with all that is wrong with a filter and an order of a list. A filter is stored without codes."""
    problems = ProblemCollector()
    check_list(call, name)
    with problems.collect():
        order_of(call, name, order_by)
    with problems.collect():
        if _has_code(filter):
            raise InvalidInput.at("filter", HAS_CODE)
        await check_filter(call, name, filter)
    problems.raise_problems()


def _has_code(filter: Mapping[str, Any]) -> bool:
    """Whether a filter has something that others may read in part only."""
    plain = json.loads(json.dumps(filter), parse_float=str)
    return bool(mask(plain) != plain)
