"""What the preview of a bulk action has told of each object, and its confirmation is bound to."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import orjson

from funnel.core.forms import Form
from schema.core.errors import MalformedBody

FIELD = "_basis"


class Previewed(Protocol):
    """An object in a preview."""

    @property
    def key(self) -> str:
        """The key of the object."""

    @property
    def basis(self) -> Mapping[str, str]:
        """What was told of it; empty if that binds nothing."""


def basis_of(outcomes: Sequence[Previewed]) -> str:
    """What a preview has told of its objects, for the form that confirms it; empty if that binds nothing."""
    by_key = {each.key: each.basis for each in outcomes if each.basis}
    return orjson.dumps(by_key).decode() if by_key else ""


def read_basis(form: Form) -> Mapping[str, Mapping[str, str]]:
    """What the form of a preview has told, by the keys of its objects. Raises MalformedBody."""
    try:
        by_key = orjson.loads(form.get(FIELD) or b"{}")
        return {key: {name: str(value) for name, value in basis.items()} for key, basis in by_key.items()}
    except (orjson.JSONDecodeError, AttributeError) as error:
        raise MalformedBody(reason="it was changed on its way") from error
