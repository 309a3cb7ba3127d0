"""Columns of whatever is given as a present."""

from typing import Any

from sqlmodel import Field

from schema.core.columns import datetime_column


def from_gifter_column() -> Any:
    """The column of the giver's name as it is printed."""
    return Field(
        default=None, max_length=160, description='The name printed after "from"; null for that of `gifterDetails`.'
    )


def send_on_column() -> Any:
    """The column of the time that a buyer has chosen for a present."""
    return datetime_column(
        "When it is, or was, e-mailed to its giftee; null if that was not left for later.", default=None, nullable=True
    )
