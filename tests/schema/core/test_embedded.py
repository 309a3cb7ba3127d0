"""Columns that a resource publishes as one value."""

from decimal import Decimal

import pytest
from sqlmodel import Field
from strawberry.types import get_object_definition

from schema.core.derived import Derived
from schema.core.field_source import EmbeddedValue
from schema.core.money import money, money_column
from schema.core.resource import EmbeddedColumns, embedded_type, published_type
from schema.order.order import PostalAddress
from schema.voucher.voucher import VoucherGiftee
from store.tables import ROW_CLASSES
from store.voucher.vouchers import VoucherRow


def fields_of(columns: type[EmbeddedColumns]) -> dict[str, object]:
    """Name -> type of the fields of the published type."""
    return {
        field.python_name: field.type
        for field in get_object_definition(columns.embedded_value.kind, strict=True).fields
    }


def test_a_field_has_the_name_of_its_column_without_the_prefix() -> None:
    assert VoucherGiftee.embedded_value.columns == {
        "first_name": "giftee_first_name",
        "last_name": "giftee_last_name",
        "email": "giftee_email",
        "phone_number": "giftee_phone_number",
        "address": "recipient_address",
    }
    assert get_object_definition(VoucherGiftee.embedded_value.kind, strict=True).name == "VoucherGiftee"


def test_a_row_has_the_columns_and_is_read_as_the_value() -> None:
    row = VoucherRow(**VoucherGiftee(giftee_first_name="Noé", recipient_address="4 rue des Herbes").model_dump())
    value = VoucherGiftee.embedded_value.read_from(row)
    assert value.model_dump(exclude_none=True) == {"first_name": "Noé", "address": "4 rue des Herbes"}


def test_the_fields_of_a_value_that_is_null_as_a_whole_are_never_null() -> None:
    assert set(fields_of(PostalAddress).values()) == {str}
    assert PostalAddress.embedded_value.read_from(PostalAddress()) is None


def test_a_value_may_contain_an_amount() -> None:
    @embedded_type("What it costs.", prefix="fee_")
    class Fee(EmbeddedColumns):
        fee_name: str = Field(default="", description="What it is for.")
        fee_amount: Decimal = money_column()
        amount = money("fee_amount", description="The amount.")

    assert list(fields_of(Fee)) == ["name", "amount"]
    place = Fee.embedded_value.columns["amount"]
    assert isinstance(place, EmbeddedValue)
    assert place.columns == {"amount": "fee_amount", "currency": "currency"}


def test_a_name_for_a_column_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="Fee has no fee_title"):

        @embedded_type("What it costs.", names={"fee_title": "title"})
        class Fee(EmbeddedColumns):
            fee_name: str = ""


def test_a_column_that_is_hidden_is_published_as_a_value() -> None:
    def leaves(place: EmbeddedValue) -> set[str]:
        inner = (leaves(at) if isinstance(at, EmbeddedValue) else {at} for at in place.columns.values())
        return set().union(*inner)

    for row in ROW_CLASSES:
        if (kind := published_type(row)) is not None:
            fields = get_object_definition(kind, strict=True).fields
            places = [field.metadata.get("compiled") for field in fields]
            published = set().union(*(leaves(place) for place in places if isinstance(place, EmbeddedValue)))
            published |= {name for place in places if isinstance(place, Derived) for name in place.columns}
            hidden = {name for name, field in row.model_fields.items() if field.exclude}
            assert hidden <= published, f"{kind.__name__} publishes nothing of {hidden - published}."
