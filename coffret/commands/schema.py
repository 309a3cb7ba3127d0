"""`coffret schema`: the published GraphQL schema."""

import pathlib

from rich.console import Console
from schema.root import schema


def write(output: pathlib.Path | None) -> None:
    """Write the schema to a file, or to standard output."""
    text = schema.as_str().rstrip() + "\n"
    if output is None:
        Console(highlight=False).print(text, end="", markup=False, soft_wrap=True)
    else:
        output.write_text(text)
