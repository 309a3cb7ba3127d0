"""`Link` headers of a row: addresses that belong to it and have no key in its body."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resolvers.core.context import Context
from rest_compat.http.responses import Header
from rest_compat.shapes.keys import FieldKey, or_null
from rest_compat.shapes.shape import ResourceShape
from schema.core.errors import Forbidden
from schema.core.field_permission import FieldPermission


@dataclass(frozen=True)
class RowLink:
    """A link of a row: its relation, and the field that it is made of.

    The value is the URL itself, or with `path` the one in braces: `/api/wallets/{}/transfers/`. Without a value there
    is no link.
    """

    rel: str
    field: str
    path: str = ""
    field_permission: FieldPermission | None = None
    """Who can open it: a caller with the permission, who sees the owner. None: whoever sees the row."""
    owner: tuple[()] | tuple[str, str] = ()
    """The fields with the ids of the owner."""


class RowLinks:
    """The links of a route. They are read with the documented keys, and taken out before these are sent."""

    def __init__(self, shape: ResourceShape, links: Sequence[RowLink]) -> None:
        self._links = {f"link {link.rel}": link for link in links}
        self._owners = {name: [f"{name} {field}" for field in link.owner] for name, link in self._links.items()}
        keys = {name: or_null(link.field) for name, link in self._links.items()}
        for name, link in self._links.items():
            keys |= dict(zip(self._owners[name], map(FieldKey, link.owner), strict=True))
        self.shape = ResourceShape(shape.name, shape.kind, {**shape.keys, **keys}) if keys else shape
        """The documented keys, and those of the links."""

    def take_from(self, row: dict[str, Any], context: Context) -> list[Header]:
        """The headers of a row that was written in `shape`, of the links that the caller can open; their keys are removed."""
        headers: list[Header] = []
        for name, link in self._links.items():
            value, owner = row.pop(name), tuple(row.pop(key) for key in self._owners[name])
            if value is not None and _can_open(context, link, owner):
                url = _url_of(link, value, context.services.settings.public_url)
                headers.append((b"link", f'<{url}>; rel="{link.rel}"'.encode("latin-1")))
        return headers


def _can_open(context: Context, link: RowLink, owner: tuple[Any, ...]) -> bool:
    try:
        return link.field_permission is None or context.is_visible(link.field_permission, owner)
    except Forbidden:
        return False


def _url_of(link: RowLink, value: str, public_url: str) -> str:
    return public_url + link.path.format(value) if link.path else value
