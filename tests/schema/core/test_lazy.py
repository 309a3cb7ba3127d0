"""Types that lead to each other are named by their place, and are the types themselves once all is declared."""

import strawberry
from strawberry.types import get_object_definition

from schema.catalogue.option import VoucherOption, VoucherOptionLink
from schema.catalogue.prototype import VoucherPrototype
from schema.core.field_source import Relation
from schema.core.lazy import resolve_type


def test_a_place_is_the_type_that_stands_there() -> None:
    assert resolve_type("schema.catalogue.option:VoucherOptionLink") is VoucherOptionLink
    assert resolve_type(VoucherOption) is VoucherOption
    assert Relation("schema.catalogue.prototype:VoucherPrototype", "id").target is VoucherPrototype


def test_what_is_published_of_it_leads_there_and_back() -> None:
    for kind, name, to in (
        (VoucherOption, "prototype_links", VoucherOptionLink),
        (VoucherOptionLink, "option", VoucherOption),
        (VoucherOptionLink, "prototype", VoucherPrototype),
        (VoucherPrototype, "option_links", VoucherOptionLink),
    ):
        field = get_object_definition(kind, strict=True).get_field(name)
        assert field is not None
        assert field.metadata["compiled"].target is to


@strawberry.type
class Query:
    """A graph that ends where it began."""

    option: VoucherOption = strawberry.field(description="An option.")


def test_the_schema_has_them_in_both_directions() -> None:
    sdl = strawberry.Schema(Query).as_str()
    assert "prototypeLinks: [VoucherOptionLink!]!" in sdl
    assert "prototype: VoucherPrototype!" in sdl
    assert "optionLinks: [VoucherOptionLink!]!" in sdl
