"""Shapes: what stops the start, and values in their documented forms."""

import dataclasses
import datetime as dt
import enum
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
import pytest
import strawberry
from hypothesis import given
from hypothesis import strategies as st

from rest_compat.shapes import writers
from rest_compat.shapes.keys import FieldKey, ScalarList, ShapeError, decimal_string, number, or_null
from rest_compat.shapes.shape import InnerShape, Nested, ResourceShape, Spec
from rest_compat.shapes.writers import ValueWriter, enum_codes
from schema.core.text import Text
from schema.network.box import Box, BoxProduct
from schema.payment.transfer import Transfer
from schema.wallet import Wallet
from tests.example_cards import Card, CardStatus, Use

USE = ResourceShape("Use", Use, {"id": "id"})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"nb_nights": "night"}, "'nb_nights' of Gift card reads 'night', which Card does not publish; it publishes id, uuid, code,"),
        ({"pin": "pin_hash"}, "'pin' of Gift card reads 'pin_hash', which Card does not publish"),
        ({"name": "title.xx"}, "'name' of Gift card reads 'xx' of Text, which has en, fr, es"),
        ({"price": "balance.value"}, "'price' of Gift card reads 'value' of balance, which has amount, currency."),
        ({"shop": "issuer.slogan"}, "'shop' of Gift card reads 'slogan', which Issuer does not publish"),
        ({"value": "balance.amount"}, "'value' of Gift card reads a Decimal and does not say how it is written."),
        ({"code": decimal_string("code")}, "'code' of Gift card writes code as decimal string, but Card.code is str."),
        ({"code": number("created_at")}, "writes created_at as number, but Card.created_at is datetime."),
        ({"day": FieldKey("created_at", writers.DATE)}, "writes created_at as date, but Card.created_at is datetime."),
        ({"title": "title"}, "'title' of Gift card reads a Text and does not say how it is written."),
        ({"issuer": "issuer"}, "'issuer' of Gift card reads 'issuer', which is a resource of its own. Nest a shape there."),
        ({"use": "uses.label"}, "'use' of Gift card reads one value of many: 'uses' is a list. Nest a shape there."),
        ({"labels": ScalarList("uses.night")}, "'labels' of Gift card reads 'night', which Use does not publish"),
        ({"labels": ScalarList("code")}, "'labels' of Gift card lists values of 'code', which is not a list of resources."),
        ({"labels": ScalarList("issuer.slug")}, "'labels' of Gift card lists values of 'slug', which is not a list of resources."),
        ({"labels": ScalarList("uses.issuer.slug")}, "lists values of 'uses.issuer.slug', which is not a single non-null value."),
        ({"code": Nested("code", USE)}, "'code' of Gift card nests a shape in 'code', which is not an object."),
        ({"uses": Nested("title.en", USE)}, "nests a shape under 'title.en'"),
    ],
)  # fmt: skip
def test_a_key_that_cannot_be_read_stops_the_start(keys: Mapping[str, Spec], message: str) -> None:
    with pytest.raises(ShapeError) as stop:
        ResourceShape("Gift card", Card, keys)
    assert message in str(stop.value)


def test_computed_objects_are_nested_unless_they_need_a_permission() -> None:
    product = ResourceShape("Product", BoxProduct, {"id": "id"})
    shape = ResourceShape("Box", Box, {"id": "id", "products": Nested("products", product)})
    assert shape.properties["products"] == InnerShape(product, many=True)
    transfer = ResourceShape("Transfer", Transfer, {"status": "status"})
    with pytest.raises(ShapeError, match="'transfers' of Wallet nests 'transfers', which needs a permission"):
        ResourceShape("Wallet", Wallet, {"transfers": Nested("transfers", transfer)})


def test_keys_are_described_in_their_order() -> None:
    keys = {"shop": "issuer.slug", "id": "id", "name_en": "issuer.name.en"}
    assert list(ResourceShape("Card", Card, keys).properties) == list(keys)


async def test_one_value_of_each_related_row_is_an_array() -> None:
    shape = ResourceShape(
        "Card", Card, {"id": "id", "labels": ScalarList("uses.label"), "ids": ScalarList("uses.id", "Uses.")}
    )
    assert shape.rows is not None
    assert shape.rows.columns == ["id"]
    assert shape.properties["ids"] == {"type": "array", "items": {"type": "integer"}, "description": "Uses."}

    async def load(_link: Any, keys: Any, columns: Any) -> Any:
        assert (list(keys), columns) == ([7, 8], ["label", "id"])
        return {7: [(7, 1, "a", 1), (7, 2, "b", 2)]}

    assert await shape.render([("k", 7, 7), ("k", 8, 8)], load, columns=True) == [
        {"id": 7, "labels": ["a", "b"], "ids": [1, 2]},
        {"id": 8, "labels": [], "ids": []},
    ]


def test_a_closed_set_needs_a_number_for_each_member() -> None:
    with pytest.raises(LookupError, match="CardStatus has members without a documented number: BLOCKED"):
        enum_codes(CardStatus, {CardStatus.ACTIVE: 1})

    class Colour(enum.Enum):
        RED = "r"

    with pytest.raises(TypeError, match="Colour must be a StrEnum"):
        enum_codes(Colour, {Colour.RED: 1})


@dataclasses.dataclass(frozen=True)
class Line:
    """A plain value."""

    label: str
    amount: Decimal


@dataclasses.dataclass(frozen=True)
class Plain:
    """Something that no table holds."""

    id: uuid.UUID
    name: Text | None
    moment: dt.datetime
    day: dt.date | None
    zip: str
    tags: tuple[str, ...]
    lines: list[Line]
    line: Line | None
    by_id: dict[int, str]
    extra: dict[str, Any]
    weight: float
    missing: str | None = None


LINE = ResourceShape("Line", Line, {"label": "label", "amount": number("amount"), "text": decimal_string("amount")})
PLAIN = ResourceShape(
    "Plain",
    Plain,
    {
        "id": "id",
        "name_en": "name.en",
        "name_fr": or_null("name.fr"),
        "at": "moment",
        "ms": FieldKey("moment", writers.MILLISECONDS),
        "day": or_null("day"),
        "day_at": FieldKey("day", writers.DATE_AS_MOMENT),
        "zip": FieldKey("zip", writers.DIGITS),
        "tags": "tags",
        "lines": Nested("lines", LINE),
        "line": Nested("line", LINE),
        "by_id": "by_id",
        "extra": "extra",
        "weight": "weight",
        "missing": "missing",
        "label": "line.label",
    },
)
PARIS = dt.timezone(dt.timedelta(hours=1))
FULL = Plain(
    uuid.UUID(int=1),
    Text(en="One"),
    dt.datetime(2030, 1, 2, 3, 4, 5, 600, PARIS),
    dt.date(2030, 1, 2),
    "01234",
    ("a", "b"),
    [Line("x", Decimal(10)), Line("y", Decimal("0.5"))],
    Line("z", Decimal("1E+2")),
    {5: "red"},
    {"any": [1]},
    1.5,
)


async def render_plain(thing: Plain) -> bytes:
    """A plain value as JSON."""

    async def load(*_: Any) -> Any:
        raise AssertionError("nothing to load")

    (row,) = await PLAIN.render([thing], load)
    return orjson.dumps(row)


async def test_plain_values_are_written_in_their_forms() -> None:
    raw = await render_plain(FULL)
    assert orjson.loads(raw) == {
        "id": "00000000-0000-0000-0000-000000000001",
        "name_en": "One",
        "name_fr": None,
        "at": "2030-01-02T02:04:05.000600Z",
        "ms": 1893549845000,
        "day": "2030-01-02",
        "day_at": "2030-01-02T00:00:00.000000Z",
        "zip": 1234,
        "tags": ["a", "b"],
        "lines": [{"label": "x", "amount": 10.0, "text": "10.00"}, {"label": "y", "amount": 0.5, "text": "0.50"}],
        "line": {"label": "z", "amount": 100.0, "text": "100.00"},
        "by_id": {"5": "red"},
        "extra": {"any": [1]},
        "weight": 1.5,
        "missing": "",
        "label": "z",
    }
    assert b'"amount":10.00' in raw
    assert b'"amount":100.00' in raw


async def test_nothing_is_an_empty_string_or_null() -> None:
    nothing = dataclasses.replace(FULL, name=None, day=None, line=None, lines=[], tags=(), zip="2A004", missing=None)
    row = orjson.loads(await render_plain(nothing))
    assert list(row) == list(PLAIN.keys)
    assert (row["name_en"], row["name_fr"], row["label"], row["missing"]) == ("", None, "", "")
    assert (row["day"], row["day_at"], row["line"], row["lines"], row["zip"]) == (None, "", None, [], None)


def test_the_documentation_knows_what_may_be_null() -> None:
    shown = PLAIN.properties
    assert shown["name_fr"] == {"type": ["string", "null"], "description": "French."}
    assert shown["name_en"] == {"type": "string", "description": "English."}
    assert shown["missing"] == {"type": "string"}
    assert shown["tags"] == {"type": "array", "items": {"type": "string"}}
    assert (shown["lines"], shown["line"]) == (InnerShape(LINE, many=True), InnerShape(LINE, nullable=True))


BEGIN, END = dt.datetime(1, 1, 3), dt.datetime(9999, 12, 29)  # noqa: DTZ001 - hypothesis takes its bounds without a zone


@given(st.datetimes(BEGIN, END, timezones=st.timezones(), allow_imaginary=False))
def test_moments_are_utc_with_microseconds(moment: dt.datetime) -> None:
    assert writers.MOMENT.write is not None
    text = writers.MOMENT.write(moment)
    assert len(text) == len("2030-01-02T03:04:05.000000Z")
    assert dt.datetime.fromisoformat(text) == moment.astimezone(dt.UTC)


@given(st.decimals(min_value=-(10**10), max_value=10**10, places=2))
def test_numbers_are_exact(amount: Decimal) -> None:
    for writer in (writers.NUMBER, writers.DECIMAL_STRING):
        assert writer.write is not None
        assert Decimal(orjson.dumps(writer.write(amount)).decode().strip('"')) == amount


def test_a_list_may_be_written_as_a_whole() -> None:
    joined = ValueWriter("joined", (str,), {"type": "string"}, ",".join, many=True)

    @strawberry.type
    class Tagged:
        tags: list[str]

    shape = ResourceShape("Tagged", Tagged, {"tags": FieldKey("tags", joined)})
    assert shape.projection.objects is not None
    assert shape.projection.objects.serialize_many([Tagged(tags=["a", "b"])]) == [{"tags": "a,b"}]
