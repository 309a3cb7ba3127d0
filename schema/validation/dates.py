"""Days as clients send them: written out, never as seconds since 1970."""

import datetime as dt
import re
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from schema.validation.contact import EmptyIsNothing

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _written_out(value: Any) -> Any:
    """Pydantic reads a number, and digits in a text, as seconds since 1970: `"86400"` as 2 January of it."""
    if value is None or isinstance(value, dt.date) or (isinstance(value, str) and _DAY.match(value)):
        return value
    raise PydanticCustomError("day", "Send a date, such as 2030-12-31.")


Day = Annotated[dt.date, BeforeValidator(_written_out)]
"""A day: `2030-12-31`, or its midnight as it was answered, `2030-12-31T00:00:00.000000Z`."""
MaybeDay = Annotated[Day | None, EmptyIsNothing]
"""The same; null and `""` are none."""
