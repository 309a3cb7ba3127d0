"""Fields that are computed from columns of the same object, the time and the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import strawberry


@dataclass(eq=False)
class Derived:
    """A field that is computed from columns of the same object. `@derives` in `resolvers/` declares its rule."""

    columns: tuple[str, ...]
    rule: Callable[..., Any] | None = None
    """Called with the context and the values of the columns (enums as stored); returns the value."""

    @property
    def required_rule(self) -> Callable[..., Any]:
        """The rule. Raises LookupError if none is declared."""
        if self.rule is None:
            raise LookupError(f"The value made of {', '.join(self.columns)} has no rule: declare one with `@derives`.")
        return self.rule


def derived(kind: Any, columns: tuple[str, ...], description: str, *, name: str | None = None) -> Any:
    """Publish a field that is computed from columns, the time and the settings, without a database query.

    `name` is its published name, if a private column already has that name.
    """
    value = Derived(columns)

    def resolve(self: Any, info: strawberry.Info) -> Any:
        return value.required_rule(info.context, *(getattr(self, column) for column in columns))

    return strawberry.pydantic.field(
        resolve, graphql_type=kind, metadata={"compiled": value}, description=description, name=name
    )
