"""Values that follow from other fields of the same object, the time and the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import strawberry


@dataclass(eq=False)
class Derived:
    """A value made of columns of the same object by a rule, which `@derives` in `resolvers/` declares."""

    columns: tuple[str, ...]
    rule: Callable[..., Any] | None = None
    """From whoever asks and the values of the columns, closed sets as stored, to the value."""

    @property
    def made_by(self) -> Callable[..., Any]:
        """The rule; LookupError before it was declared."""
        if self.rule is None:
            raise LookupError(
                f"Nothing says how a value is made of {', '.join(self.columns)}: declare it with `@derives`."
            )
        return self.rule


def derived(kind: Any, columns: tuple[str, ...], description: str, *, name: str | None = None) -> Any:
    """A plain value that follows from columns, the time and the settings: no statement is needed for it.

    `name` is the one it is published by, where it is that of a column that is private.
    """
    value = Derived(columns)

    def resolve(self: Any, info: strawberry.Info) -> Any:
        return value.made_by(info.context, *(getattr(self, column) for column in columns))

    return strawberry.pydantic.field(
        resolve, graphql_type=kind, metadata={"compiled": value}, description=description, name=name
    )
