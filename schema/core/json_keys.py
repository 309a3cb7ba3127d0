"""Which keys of a value are left out where it is stored as JSON, so that what older releases stored stays as it is."""

from pydantic import Field

OMITTED_IF_NONE = Field(exclude_if=lambda value: value is None)
"""For a field of a stored value whose key is left out while it is None."""
OMITTED_IF_EMPTY = Field(exclude_if=lambda value: not value)
"""For a field of a stored value whose key is left out while it is None or empty. Midnight is neither."""
