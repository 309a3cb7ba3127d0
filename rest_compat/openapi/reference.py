"""What the documentation says of each route: `operations.csv` names the operations, `operations.toml` describes them."""

import csv
import functools
import pathlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rest_compat.http.route import RestRoute

OPERATIONS = pathlib.Path(__file__).parents[1] / "operations.csv"
TEXTS = pathlib.Path(__file__).parents[1] / "operations.toml"


@dataclass(frozen=True)
class Reference:
    """The words for one route."""

    id: str
    """The documented name of the operation: the `operationId`, and the anchor on the page."""
    title: str
    text: str
    """What it does, in paragraphs."""
    kind: str
    """`query` or `mutation`."""
    field: str
    """The field of the graph that does the same: `me`, `giftCard(code)`, `voucherPrototype.optionLinks`; `-` for none."""
    graphql: str
    """An example document."""
    query: str = ""
    """An example of the parameters, for a GET that needs some."""

    def id_of(self, route: RestRoute, verb: str) -> str:
        """The `operationId` of one method: the first one has the documented name."""
        return self.id if verb == route.verbs[0] else f"{self.id}_{verb.lower()}"


ReferenceOf: TypeAlias = Callable[[RestRoute], Reference]


@functools.cache
def _references() -> Mapping[tuple[str, str], Reference]:
    """By method and path. TypeError for a text that no operation has, or that lacks a part."""
    texts = tomllib.loads(TEXTS.read_text())
    references: dict[tuple[str, str], Reference] = {}
    with OPERATIONS.open(newline="") as file:
        for row in csv.DictReader(file):
            if (text := texts.pop(row["id"], None)) is not None:
                reference = Reference(id=row["id"], kind=row["graphql_kind"], field=row["graphql_field"], **text)
                references[row["rest_method"], row["rest_path"]] = reference
    if texts:
        raise TypeError(f"{TEXTS.name} describes operations that {OPERATIONS.name} does not name: {', '.join(texts)}.")
    return references


def reference_of(route: RestRoute) -> Reference:
    """The words for a route. TypeError for a route without."""
    reference = _references().get((route.methods, route.documented_path or route.path))
    if reference is None:
        raise TypeError(f"{route.methods} {route.path} needs a title and a text: add its id to {TEXTS.name}.")
    return reference
