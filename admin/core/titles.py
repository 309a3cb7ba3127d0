"""The names of objects: "Order 12", or the name of a product in the reader's language."""

from collections.abc import Mapping, Sequence
from typing import Any

from admin.core.paths import ROOT
from admin.core.values import Reader, value_at
from admin.graph.labels import label_of
from admin.graph.schema_types import field_at
from admin.resources.registry import resources_by_type
from admin.resources.resource import Resource

TIMES = frozenset({"Date", "DateTime"})
MASKED_CODE = "maskedCode"
"""The field with the end of a code."""


def title_of(resource: Resource, row: Mapping[str, Any], reader: Reader, paths: Sequence[str] = ()) -> str:
    """The name of an object by the values of its title, or of some of its `paths`: "Order 6 · Marie Dupont". Its key
    names it if it has no such values.
    """
    parts: dict[str, list[str]] = {}
    paths = paths or _of_others(resource.title, reader) or resource.title
    for path in paths:
        value = value_at(row, path)
        text = reader.text(field_at(resource.type, path), path.rsplit(".", 1)[-1], value)
        if text:
            parts.setdefault(path.rpartition(".")[0] or path, []).append(text)
    texts = [" ".join(words) for words in parts.values()] or [str(row.get(resource.key, ""))]
    if paths[0] == MASKED_CODE or not any(character.isalpha() for character in texts[0]):
        texts[0] = f"{reader.translate(label_of(resource.type.name))} {texts[0]}"
    return " · ".join(texts)


def list_title(resource: Resource, reader: Reader) -> Sequence[str]:
    """The values that name an object in a list, where times have columns of their own."""
    paths = _of_others(resource.title, reader) or resource.title
    return [path for path in paths if str(field_at(resource.type, path).type).strip("!") not in TIMES] or paths


def _of_others(paths: Sequence[str], reader: Reader) -> Sequence[str]:
    """The paths without the name of the only partner that the reader has to do with."""
    return [path for path in paths if not (reader.is_partner and path.startswith("partner."))]


def url_of(resource: Resource, row: Mapping[str, Any]) -> str:
    """The address of the page of an object."""
    return f"{ROOT}{resource.slug}/{row[resource.key]}/"


def titles_of(type_name: str) -> Sequence[str]:
    """The fields to select of an object that another one leads to; none if it has no page of its own."""
    resource = resources_by_type().get(type_name)
    return () if resource is None else (resource.key, *resource.title)
