"""`Link` headers of a row: addresses that belong to it and have no key in its body."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rest_compat.http.responses import Header
from rest_compat.shapes.keys import or_null
from rest_compat.shapes.shape import ResourceShape


@dataclass(frozen=True)
class RowLink:
    """A link of a row: its relation, and the field that it is made of.

    The value is the URL itself, or with `path` the one in braces: `/api/wallets/{}/transfers/`. Without a value there
    is no link.
    """

    rel: str
    field: str
    path: str = ""


class RowLinks:
    """The links of a route. They are read with the documented keys, and taken out before these are sent."""

    def __init__(self, shape: ResourceShape, links: Sequence[RowLink]) -> None:
        self._links = {f"link {link.rel}": link for link in links}
        keys = {name: or_null(link.field) for name, link in self._links.items()}
        self.shape = ResourceShape(shape.name, shape.kind, {**shape.keys, **keys}) if keys else shape
        """The documented keys, and those of the links."""

    def take_from(self, row: dict[str, Any], public_url: str) -> list[Header]:
        """The headers of a row that was written in `shape`; the keys of its links are removed."""
        values = {link: row.pop(name) for name, link in self._links.items()}
        return [
            (b"link", f'<{_url_of(link, value, public_url)}>; rel="{link.rel}"'.encode("latin-1"))
            for link, value in values.items()
            if value is not None
        ]


def _url_of(link: RowLink, value: str, public_url: str) -> str:
    return public_url + link.path.format(value) if link.path else value
