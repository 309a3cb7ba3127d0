"""The texts that the API declares: labels of fields, values and actions, the help under the fields of forms, and the
messages of errors.
"""

from collections.abc import Iterator

from graphql import GraphQLEnumType, GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType, get_named_type

from admin.forms.kinds import argument_fields, fields_of
from admin.graph.labels import label_of, value_label
from admin.graph.message_texts import api_texts
from admin.graph.schema_types import MONEY, TEXT, input_of, list_filter_of, list_order_of, queries, result_of
from admin.graph.selections import node_of
from admin.graph.words import CODES
from admin.pages.bulk_actions import bulk_actions
from admin.resources.imports import CSV_IMPORTS
from admin.resources.registry import SECTIONS, resources

TEXT_INPUT = "TextInput"


def extract(*_: object, **_options: object) -> Iterator[tuple[int, str, str, list[str]]]:
    """The texts in the form of Babel's extraction methods."""
    for text in sorted(schema_texts()):
        yield 1, "gettext", text, []


def schema_texts() -> set[str]:
    """All texts of the back office that come from the API and from the declarations of resources."""
    found = {section.name for section in SECTIONS}
    types = _Types()
    for resource in resources().values():
        found |= {resource.label, label_of(resource.type.name)}
        types.add(resource.type)
        types.add(list_filter_of(resource.query))
        types.add(list_order_of(resource.query))
        found |= {report.named for report in (*resource.reports, *resource.list_reports)}
        found |= {resource.sheets} - {""}
        found |= {related.named for related in resource.related}
        for report in (*resource.reports, *resource.list_reports):
            field = queries()[report.query]
            types.add(get_named_type(field.type))
            types.add_arguments(report.query)
        for bulk in bulk_actions(resource):
            found |= set(bulk.label.split(": "))
        if resource.slug in CSV_IMPORTS:
            types.add_form(CSV_IMPORTS[resource.slug].input)
        for action in resource.all_actions:
            found.add(resource.action_name(action))
            types.add_form(input_of(action.mutation))
            result = result_of(action.mutation)
            if result is not None:
                types.add(result[1])
    return found | types.texts | set(CODES.values()) | api_texts()


class _Types:
    """Collects the texts of types, each once."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self._seen: set[tuple[str, bool]] = {(TEXT, False), (MONEY, False), (TEXT_INPUT, False), (TEXT_INPUT, True)}

    def add_arguments(self, query: str) -> None:
        """The labels and the help of the arguments of a query."""
        for each in argument_fields(query):
            self.texts |= {label_of(each.name)} | ({each.help} if each.help else set())

    def add_form(self, kind: GraphQLInputObjectType) -> None:
        """The labels and the help of a form."""
        self.add(kind, with_help=True)

    def add(self, kind: GraphQLNamedType, *, with_help: bool = False) -> None:
        """The labels of a type and of all that it is composed of."""
        if (kind.name, with_help) in self._seen:
            return
        self._seen.add((kind.name, with_help))
        if isinstance(kind, GraphQLObjectType) and (node := node_of(kind)) is not None:
            self.add(node)
        elif isinstance(kind, GraphQLEnumType):
            self.texts |= {value_label(value) for value in kind.values}
        elif isinstance(kind, GraphQLObjectType | GraphQLInputObjectType):
            for name, field in kind.fields.items():
                self.texts.add(label_of(name))
                self.add(get_named_type(field.type), with_help=with_help)
        if with_help and isinstance(kind, GraphQLInputObjectType):
            self.texts |= {each.help for each in fields_of(kind) if each.help}
