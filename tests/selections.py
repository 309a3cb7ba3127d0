"""What is read of rows, as a transport would say it."""

from store.database.projection import CompiledSerializer
from store.database.projection_fields import ScalarField


def selection_of(*columns: str) -> CompiledSerializer:
    """These columns."""
    return CompiledSerializer([ScalarField(name, name) for name in columns], bare=False, from_rows=True)
