"""Messages for users in place of pydantic's validation errors."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from schema.core.errors import Problem
from schema.core.message_names import WORDS, TemplatedMessage
from schema.validation.templated_errors import TEMPLATE

REQUIRED = "This field is required."

MESSAGES: Mapping[str, str] = {
    "missing": REQUIRED,
    "string_type": "Send a text.",
    "string_unicode": "This text contains invalid characters.",
    "string_too_short": "Use {min_length} or more characters.",
    "string_too_long": "Use at most {max_length} characters.",
    "string_pattern_mismatch": "This has the wrong format.",
    "bool_type": "Send true or false.",
    "bool_parsing": "Send true or false.",
    "int_type": "Send a whole number.",
    "int_parsing": "Send a whole number.",
    "int_parsing_size": "This number is too large.",
    "int_from_float": "Send a whole number.",
    "float_type": "Send a number.",
    "float_parsing": "Send a number.",
    "finite_number": "Send a number.",
    "decimal_type": "Send a number.",
    "decimal_parsing": "Send a number.",
    "greater_than": "Send more than {gt}.",
    "greater_than_equal": "Send {ge} or more.",
    "less_than": "Send less than {lt}.",
    "less_than_equal": "Send {le} or less.",
    "uuid_type": "Send a UUID.",
    "uuid_parsing": "Send a UUID.",
    "enum": "Send one of {expected}.",
    "literal_error": "Send one of {expected}.",
    "date_type": "Send a date, such as 2030-12-31.",
    "date_parsing": "Send a date, such as 2030-12-31.",
    "date_from_datetime_parsing": "Send a date, such as 2030-12-31.",
    "date_from_datetime_inexact": "Send a date without a time.",
    "datetime_type": "Send a date and time, such as 2030-12-31T12:00:00Z.",
    "datetime_parsing": "Send a date and time, such as 2030-12-31T12:00:00Z.",
    "datetime_from_date_parsing": "Send a date and time, such as 2030-12-31T12:00:00Z.",
    "is_instance_of": "Send a file.",
    "list_type": "Send a list.",
    "dict_type": "Send an object.",
    "model_type": "Send an object.",
    "model_attributes_type": "Send an object.",
    "too_long": "Send at most {max_length}.",
    "too_short": "Send at least {min_length}.",
}
"""pydantic error type -> message. Errors of our own types have their own messages."""

PROBLEM_CODES: Mapping[str, str] = {
    **dict.fromkeys(("missing", "blank"), "REQUIRED"),
    **dict.fromkeys(("string_too_long", "text_too_long", "too_much_markup"), "TOO_LONG"),
    "too_long": "TOO_MANY",
    **dict.fromkeys(
        ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "int_parsing_size"), "OUT_OF_RANGE"
    ),
    **dict.fromkeys(("amount_too_small", "amount_too_large"), "OUT_OF_RANGE"),
}
"""pydantic error type -> error code; other types have INVALID."""

_PYDANTIC_STEPS = frozenset({"[key]"})
"""Steps that pydantic adds to a path and that were not sent."""


def message_of(error: ErrorDetails) -> str:
    known = MESSAGES.get(error["type"])
    context: Mapping[str, Any] = error.get("ctx", {})
    if isinstance(words := context.get(WORDS), TemplatedMessage):
        return words
    if (template := context.get(TEMPLATE)) is not None:
        return TemplatedMessage(template, **{name: value for name, value in context.items() if name != TEMPLATE})
    if known is None:
        return error["msg"].removeprefix("Value error, ")
    return TemplatedMessage(known, **context) if context else known


def problems_of(error: ValidationError) -> tuple[Problem, ...]:
    """The problems of a validation error, each with the path of its field."""
    return tuple(
        Problem(
            tuple(step for step in found["loc"] if step not in _PYDANTIC_STEPS),
            PROBLEM_CODES.get(found["type"], "INVALID"),
            message_of(found),
        )
        for found in error.errors(include_url=False, include_input=False)
    )
