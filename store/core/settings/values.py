"""Checks of values that several settings share."""

import pathlib


def split_list(value: object) -> object:
    """Split a list, which is written with commas."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def existing_file(value: pathlib.Path | None) -> pathlib.Path | None:
    """The file, which must exist."""
    if value is not None and not value.is_file():
        raise ValueError(f"{value} is no file.")
    return value
