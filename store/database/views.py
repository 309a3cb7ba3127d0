"""Views that are read like tables. Revisions create them by hand, since Alembic compares tables only."""

VIEW = {"made_by": "view"}
"""The `info` of a row class whose table is a view."""
