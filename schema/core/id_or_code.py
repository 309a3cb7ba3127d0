"""Codes that people type."""

from typing import Annotated

from pydantic import Field

from schema.core.resource import SchemaModel
from schema.validation.numbers import RowId

Code = Annotated[str, Field(min_length=1, max_length=80)]


class IdOrCode(SchemaModel):
    """A gift card or voucher, identified by its id or by its code."""

    id: RowId | None = Field(default=None, description="Its id; send either the id or the code.")
    code: Code | None = Field(
        default=None, description="Its code; case, hyphens and spaces are ignored. Send either the id or the code."
    )
