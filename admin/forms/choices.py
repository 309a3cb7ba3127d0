"""The choices of references: the objects that a field may lead to, by their names."""

from collections.abc import Iterator, Mapping

from graphql import GraphQLInputObjectType

from admin.core.request import AdminRequest
from admin.core.titles import title_of
from admin.core.values import value_at
from admin.forms.form_fields import Choices
from admin.forms.kinds import Kind, fields_of, reference_key
from admin.graph.schema_types import list_filter_of
from admin.graph.selections import value_selection
from admin.resources.resource import Resource

MOST = 100
"""Choices of a list. With more of them the reference is typed."""
DEEPEST = 4


def references_in(kind: GraphQLInputObjectType, level: int = 0) -> Iterator[tuple[str, Resource]]:
    """The references in an input type at any depth: name and target."""
    for each in fields_of(kind):
        if each.kind in (Kind.REFERENCE, Kind.REFERENCES) and each.target is not None:
            yield each.name, each.target
        elif each.kind in (Kind.GROUP, Kind.ROWS) and level < DEEPEST:
            yield from references_in(each.input, level + 1)


async def choices_of(
    request: AdminRequest, kind: GraphQLInputObjectType, hidden: frozenset[str], partner_uuid: str | None = None
) -> Mapping[str, Choices]:
    """The choices of all references, of a partner's own objects where the list tells them apart."""
    targets = {name: to for name, to in references_in(kind) if name not in hidden and request.may(to.access)}
    if not targets:
        return {}
    parts, variables = [], dict[str, object]()
    for name, to in targets.items():
        own = partner_uuid is not None and "partnerUuid" in list_filter_of(to.query).fields
        argument = ", filter: {partnerUuid: $partner}" if own else ""
        if own:
            variables["partner"] = partner_uuid
        paths = dict.fromkeys((reference_key(name), *to.title))
        selected = " ".join(value_selection(to.type, path) for path in paths)
        parts.append(
            f"{name}: {to.query}(first: {MOST}{argument}) {{ nodes {{ {selected} }} pageInfo {{ hasNextPage }} }}"
        )
    declared = "($partner: UUID)" if variables else ""
    answer = await request.run(f"query{declared} {{ {' '.join(parts)} }}", variables)
    answer.check()
    found = {}
    for name, to in targets.items():
        page = answer.data.get(name)
        if page and not page["pageInfo"]["hasNextPage"]:
            found[name] = [
                (str(value_at(row, reference_key(name))), title_of(to, row, request.reader)) for row in page["nodes"]
            ]
    return found
