"""The names of objects: "Order 12", or the name of a product in the reader's language."""

from collections.abc import Mapping, Sequence
from typing import Any

from admin.core.paths import ROOT
from admin.core.values import Reader, value_at
from admin.graph.labels import label_of
from admin.graph.schema_types import field_at
from admin.resources.registry import resources_by_type
from admin.resources.resource import Resource


def title_of(resource: Resource, row: Mapping[str, Any], reader: Reader) -> str:
    """The name of an object by the values of its title; its key if it has none."""
    texts = [
        reader.text(field_at(resource.type, path), path.rsplit(".", 1)[-1], value_at(row, path))
        for path in resource.title
    ]
    title = ", ".join(filter(None, texts))
    if not title or not any(character.isalpha() for character in title):
        title = f"{reader.translate(label_of(resource.type.name))} {title or row.get(resource.key, '')}"
    return title


def url_of(resource: Resource, row: Mapping[str, Any]) -> str:
    """The address of the page of an object."""
    return f"{ROOT}{resource.slug}/{row[resource.key]}/"


def titles_of(type_name: str) -> Sequence[str]:
    """The fields to select of an object that another one leads to; none if it has no page of its own."""
    resource = resources_by_type().get(type_name)
    return () if resource is None else (resource.key, *resource.title)
