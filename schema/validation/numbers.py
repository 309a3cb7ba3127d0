"""Numbers as inputs: whole numbers and exact amounts, from JSON, forms, query strings and GraphQL."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import (
    chain_schema,
    float_schema,
    int_schema,
    no_info_plain_validator_function,
    str_schema,
    union_schema,
)

from schema.validation.templated_errors import templated_error

LARGEST_ID = 2**31 - 1
"""Row ids are PostgreSQL integers; GraphQL's Int has the same limit."""
LARGEST_INTEGER = 2**63 - 1
LARGEST_AMOUNT = Decimal("9999999999.99")
"""The limit of NUMERIC(12,2)."""

CENT = Decimal("0.01")
FLOAT_TOLERANCE = Decimal("0.000001")
"""The allowed distance of a JSON number from a cent: other languages print 0.1 + 0.2 as 0.30000000000000004."""

DECIMAL = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?", re.ASCII)
"""A decimal number in text. `Decimal` itself also accepts `1_0` and the digits of every script."""


def within_ids(value: Any) -> Any:
    """A value whose whole numbers are those that GraphQL's Int has. Raises PydanticCustomError."""
    for each in value if isinstance(value, list) else (value,):
        if isinstance(each, int) and abs(each) > LARGEST_ID:
            raise templated_error("out_of_range", "Send a number from -{most} to {most}.", most=LARGEST_ID)
    return value


@dataclass(frozen=True)
class WholeNumberRule:
    """Annotates an `int` that is sent as a JSON number or as digits: `5`, `5.0` and `"5"` are five; `true` and `5.5`
    are rejected.
    """

    ge: int = -LARGEST_INTEGER - 1
    le: int = LARGEST_INTEGER

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The whole validation is in pydantic-core, for speed: a cart has up to 600 of these."""
        digits = str_schema(strict=True, pattern=r"^\s*[+-]?[0-9]{1,40}(\.0+)?\s*$")
        whole = union_schema(
            [
                int_schema(strict=True),
                chain_schema([digits, int_schema()]),
                chain_schema([float_schema(strict=True, allow_inf_nan=False), int_schema()]),
            ],
            mode="left_to_right",
            custom_error_type="whole_number",
            custom_error_message="Send a whole number.",
        )
        return chain_schema([whole, int_schema(ge=self.ge, le=self.le)])

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "integer", "minimum": self.ge, "maximum": self.le}


WholeNumber = Annotated[int, WholeNumberRule()]
"""A whole number of at most 64 bits."""
RowId = Annotated[int, WholeNumberRule(ge=1, le=LARGEST_ID)]
"""The id of a database row."""
Ranking = Annotated[int, WholeNumberRule(ge=0, le=1_000_000_000)]
"""A position in a list, lowest first."""


def parse_amount(value: object) -> Decimal:
    """An amount of money from a JSON number, a string or a Decimal, exact to the cent.

    A JSON number within 0.000001 of a cent is rounded to it. A string may have at most two decimals. Raises
    `PydanticCustomError` for NaN, infinities, booleans and amounts of more than twelve digits.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise PydanticCustomError("amount", "Send an amount, such as 12.50.")
    if isinstance(value, float):
        return _from_float(value)
    if isinstance(value, str):
        text = value.strip()
        if not DECIMAL.fullmatch(text):
            raise PydanticCustomError("amount", "Send an amount, such as 12.50.")
        value = Decimal(text)
    if isinstance(value, int):
        value = Decimal(value)
    if not value.is_finite():
        raise PydanticCustomError("amount", "Send an amount, such as 12.50.")
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # finite numbers have one
    if abs(value) > LARGEST_AMOUNT:
        raise PydanticCustomError("amount_too_large", "This is more than 9999999999.99.")
    if exponent < -2:
        raise PydanticCustomError("amount_decimals", "An amount has two decimals at most.")
    return value.quantize(CENT) + 0  # + 0 turns -0.00 into 0.00


def _from_float(value: float) -> Decimal:
    if not math.isfinite(value):
        raise PydanticCustomError("amount", "Send an amount, such as 12.50.")
    if abs(value) > LARGEST_AMOUNT:
        raise PydanticCustomError("amount_too_large", "This is more than 9999999999.99.")
    sent = Decimal(repr(value))
    cents = sent.quantize(CENT)
    if abs(sent - cents) > FLOAT_TOLERANCE:
        raise PydanticCustomError("amount_decimals", "An amount has two decimals at most.")
    return cents + 0


@dataclass(frozen=True)
class AmountRule:
    """Annotates a `Decimal` that is an amount of money, sent as a JSON number or a string, with bounds."""

    ge: Decimal = -LARGEST_AMOUNT
    le: Decimal = LARGEST_AMOUNT
    positive: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self.validate)

    def validate(self, value: object) -> Decimal:
        """The parsed amount. Raises `PydanticCustomError` if it is not an amount or out of bounds."""
        amount = parse_amount(value)
        if self.positive and amount <= 0:
            raise PydanticCustomError("amount_too_small", "Send an amount above zero.")
        if amount < self.ge:
            raise templated_error("amount_too_small", "Send at least {least}.", least=str(self.ge))
        if amount > self.le:
            raise templated_error("amount_too_large", "Send at most {most}.", most=str(self.le))
        return amount

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        least: dict[str, Any] = {"exclusiveMinimum": 0} if self.positive else {"minimum": float(self.ge)}
        number = {"type": "number", "maximum": float(self.le), **least}
        return {"anyOf": [number, {"type": "string", "pattern": r"^-?\d{1,10}(\.\d{1,2})?$"}]}


MoneyAmount = Annotated[Decimal, AmountRule(ge=Decimal(0))]
"""An amount of money, zero or more."""
PositiveAmount = Annotated[Decimal, AmountRule(positive=True)]
"""An amount of money above zero."""
SignedAmount = Annotated[Decimal, AmountRule()]
"""An amount of money of either sign."""
