"""The published schema: written down as it is, described throughout, named alike."""

from collections.abc import Iterator

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    build_schema,
    get_named_type,
    specified_scalar_types,
)

from schema.root import schema, sdl
from tests.contract.declarations import ROOT

WRITTEN = ROOT / "schema/schema.graphql"
GRAPH: GraphQLSchema = schema._schema


def undescribed(graph: GraphQLSchema) -> Iterator[str]:
    """Whatever is published without a description."""
    for name, kind in graph.type_map.items():
        if name.startswith("__"):
            continue
        if not kind.description:
            yield name
        if isinstance(kind, GraphQLEnumType):
            yield from (f"{name}.{value}" for value, told in kind.values.items() if not told.description)
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            for field_name, field in kind.fields.items():
                yield from (f"{name}.{field_name}({a}:)" for a, told in field.args.items() if not told.description)
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
            yield from (f"{name}.{field}" for field, told in kind.fields.items() if not told.description)


def test_the_schema_that_is_written_down_is_the_one_that_runs() -> None:
    assert WRITTEN.read_text() == sdl(), "The schema has changed: run `make schema`, look at the difference, commit it."


def test_everything_published_is_described() -> None:
    found = list(undescribed(GRAPH))
    assert not found, (
        "Say what these are, for readers of the schema: the description of the field in schema/, the text after a "
        f"member's value, the docstring of the class. {', '.join(found)}"
    )


def test_the_tests_find_what_is_not_described() -> None:
    graph = build_schema(
        """
        "Everything." type Query { "A word." word("How often." times: Int, loud: Boolean): Size, more: Int }
        enum Size { "Large." LARGE SMALL }
        "An input." input Words { first: String }
        """
    )
    found = [f"{name}" for name in undescribed(graph) if name not in {"Int", "Boolean", "String"}]
    assert found == ["Query.word(loud:)", "Query.more", "Size", "Size.SMALL", "Words.first"]


@pytest.mark.parametrize("name", [name for name in GRAPH.type_map if not name.startswith("__")])
def test_descriptions_are_sentences_for_users(name: str) -> None:
    kind = GRAPH.type_map[name]
    texts = {name: kind.description}
    if isinstance(kind, GraphQLEnumType):
        texts |= {f"{name}.{value}": told.description for value, told in kind.values.items()}
    if isinstance(kind, GraphQLObjectType | GraphQLInputObjectType):
        texts |= {f"{name}.{field}": told.description for field, told in kind.fields.items()}
    for where, text in texts.items():
        assert text is not None
        assert "{" not in text, f"{where} has a gap that nothing fills: {text}"
        assert text.strip() == text, where
        if name != "ErrorCode":  # the words of the errors themselves
            assert text[-1] in ".`!", f"{where} is no sentence: {text}"


def test_every_amount_of_money_has_its_currency() -> None:
    """A Decimal that is answered is part of a `Money`, or its description says "percent"."""
    for name, kind in GRAPH.type_map.items():
        if name.startswith("__") or name == "Money" or not isinstance(kind, GraphQLObjectType):
            continue
        for field_name, field in kind.fields.items():
            if get_named_type(field.type).name == "Decimal":
                assert "percent" in (field.description or "").lower(), (
                    f"{name}.{field_name} is an amount: use money(…)."
                )


def test_a_mutation_takes_one_input_and_answers_a_payload_both_named_after_it() -> None:
    mutation = GRAPH.mutation_type
    assert mutation is not None
    for name, field in mutation.fields.items():
        named = name[:1].upper() + name[1:]
        assert str(field.type) == f"{named}Payload!"
        assert {argument: str(told.type) for argument, told in field.args.items()} == {"input": f"{named}Input!"}
        payload = get_named_type(field.type)
        assert isinstance(payload, GraphQLObjectType)
        assert str(payload.fields["userErrors"].type) == "[UserError!]!"
        assert len(payload.fields) <= 2


def test_what_nobody_grants_is_no_permission() -> None:
    permission = GRAPH.type_map["Permission"]
    assert isinstance(permission, GraphQLEnumType)
    assert {"PUBLIC", "AUTHENTICATED", "PARTNER", "CUSTOMER"}.isdisjoint(permission.values)
    assert "VIEW_CATALOGUE" in permission.values


def test_inputs_end_in_input_and_filters_in_filter() -> None:
    for name, kind in GRAPH.type_map.items():
        if isinstance(kind, GraphQLInputObjectType):
            assert name.endswith(("Input", "Filter")), name


def test_what_fails_at_the_root_takes_nothing_else_with_it() -> None:
    assert GRAPH.query_type is not None
    required = [name for name, field in GRAPH.query_type.fields.items() if isinstance(field.type, GraphQLNonNull)]
    assert required == [], f"One refusal here would null all data: make {', '.join(required)} nullable."


def test_scalars_name_their_specification() -> None:
    own = [kind for kind in GRAPH.type_map.values() if isinstance(kind, GraphQLScalarType)]
    unspecified = {kind.name for kind in own if not kind.specified_by_url} - specified_scalar_types.keys()
    assert unspecified == set()
