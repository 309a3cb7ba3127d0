"""Which promise of the database was about to be broken."""

from sqlalchemy.exc import IntegrityError


def broken(error: IntegrityError) -> str:
    """The name of the constraint that refused a statement; empty when the server did not tell."""
    cause = getattr(error.orig, "__cause__", None)
    return getattr(cause, "constraint_name", None) or ""
