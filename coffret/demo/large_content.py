"""What vouchers of the large demo partner are made up from: people by language, towns, places of sale (`content/large.toml`)."""

from collections.abc import Mapping

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from coffret.demo.content import FOLDER, Count, read

_CONFIG = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_CONFIG)
class Speakers:
    """Who buys in one language. `weight` is how many of all do."""

    weight: Count
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    towns: tuple[tuple[str, str, str], ...]
    """Postal code, town and country."""
    messages: tuple[str, ...]


@dataclass(frozen=True, config=_CONFIG)
class LargeContent:
    """What is drawn from."""

    origins: tuple[str, ...]
    systems: tuple[str, ...]
    """Those that vouchers were imported from."""
    languages: Mapping[str, Speakers]


def load_large() -> LargeContent:
    """Read and check it; raises ValueError where the file is not as it should be."""
    return read(LargeContent, FOLDER / "large.toml")
