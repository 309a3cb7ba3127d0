"""Source data for the large demo partner's vouchers (`content/large.toml`): people by language, towns, origins."""

from collections.abc import Mapping

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from coffret.demo.content import FOLDER, Count, read_toml

_CONFIG = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_CONFIG)
class LanguagePeople:
    """Customers who speak one language. `weight` is their relative share."""

    weight: Count
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    towns: tuple[tuple[str, str, str], ...]
    """Postal code, town and country."""
    messages: tuple[str, ...]


@dataclass(frozen=True, config=_CONFIG)
class LargeContent:
    """The source data."""

    origins: tuple[str, ...]
    systems: tuple[str, ...]
    """The systems that vouchers were imported from."""
    languages: Mapping[str, LanguagePeople]


def load_large() -> LargeContent:
    """Load and validate the source data. Raises ValueError."""
    return read_toml(LargeContent, FOLDER / "large.toml")
