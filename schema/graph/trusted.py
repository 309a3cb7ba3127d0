"""Reads files of trusted documents, as tools collect them from the code of clients."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

from graphql import DocumentNode, FieldNode, OperationDefinitionNode

SHA256 = "sha256:"
"""Prefix of a document id that is the digest of the document's text."""


class ManifestError(Exception):
    """A file of documents cannot be used; the message says why."""


def read_manifest(path: pathlib.Path) -> Mapping[str, str]:
    """The documents of a file by id. Raises ManifestError with the reason.

    The file is a JSON object of ids and documents, as Relay's compiler and GraphQL Code Generator write it, or an
    Apollo manifest: `{"operations": [{"id": …, "body": …}]}`.
    """
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ManifestError(f"{path} cannot be read: {error}.") from error
    listed = data.get("operations") if isinstance(data, dict) else None
    pairs = [_pair(entry) for entry in listed] if isinstance(listed, list) else list(_items(data))
    if not pairs or not all(isinstance(id, str) and id and isinstance(text, str) and text for id, text in pairs):
        raise ManifestError(
            f'{path} holds no documents: it is {{"<id>": "query …"}}, or a manifest of Apollo\'s tools.'
        )
    return {id.removeprefix(SHA256): text for id, text in pairs}


def _pair(entry: Any) -> tuple[Any, Any]:
    return (entry.get("id"), entry.get("body")) if isinstance(entry, dict) else (None, None)


def _items(data: Any) -> Any:
    return data.items() if isinstance(data, dict) else ()


def only_introspects(document: DocumentNode) -> bool:
    """Whether a document selects introspection fields only."""
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return all(
        isinstance(node, FieldNode) and node.name.value.startswith("__")
        for operation in operations
        for node in operation.selection_set.selections
    )
