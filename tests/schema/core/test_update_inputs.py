"""Inputs of updates, derived from those that create."""

from typing import Any

import pytest
import strawberry
from pydantic import ValidationError
from strawberry.types import get_object_definition
from strawberry.types.base import StrawberryMaybe, StrawberryOptional

from schema.catalogue.prototype_input import CreateVoucherPrototype, UpdateVoucherPrototype
from schema.product.input import CreateProduct, UpdateProduct, UpdateProductVariant


def test_an_update_has_the_fields_of_the_create_input_in_their_order() -> None:
    fields = [field.python_name for field in get_object_definition(UpdateProduct, strict=True).fields]
    assert fields == ["id", *(name for name in CreateProduct.model_fields if name != "partner_uuid")]


def test_a_field_may_be_omitted_and_is_null_only_where_the_resource_may_be() -> None:
    definition = get_object_definition(UpdateProductVariant, strict=True)
    kinds: dict[str, Any] = {field.python_name: field.type for field in definition.fields if field.python_name != "id"}
    assert all(isinstance(kind, StrawberryMaybe) for kind in kinds.values())
    nullable = {name for name, kind in kinds.items() if isinstance(kind.of_type, StrawberryOptional)}
    assert nullable == {"stock"}


def test_a_field_keeps_its_limits_and_its_description() -> None:
    with pytest.raises(ValidationError):
        UpdateProductVariant.model_validate({"id": 1, "sku": strawberry.Some("x" * 65)})
    described = {
        kind: get_object_definition(kind, strict=True).get_field("cover_image")
        for kind in (CreateVoucherPrototype, UpdateVoucherPrototype)
    }
    create, update = (field.description for field in described.values() if field is not None)
    assert create == update
