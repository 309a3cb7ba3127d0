"""`coffret schema`: the published GraphQL schema."""

import pathlib
import sys

from schema.root import sdl


def write(output: pathlib.Path | None) -> None:
    """Write the schema to `output`, or to standard output if it is None."""
    if output is None:
        sys.stdout.write(sdl())
    else:
        output.write_text(sdl())
