"""Fields that are computed from columns of the same object, the time and the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import strawberry

from schema.core.field_permission import FieldPermission

SHOWN_OF_CODE = 4
"""Last characters of a code that its masked form has, at most a quarter of it."""


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
    return _published(kind, Derived(columns), description, name)


def pass_url(wallet: str, *columns: str) -> Any:
    """Publish the URL of a pass. The columns are the state, the token of the document and the id of the issuer."""
    return derived(
        str | None,
        columns,
        f"The URL of its pass for {wallet}. Like that of the document it cannot be guessed and needs no authentication. Null "
        f"if there is no document, and if no key for {wallet} is installed.",
    )


def mask_code(code: str) -> str:
    """A code of which only the end can be read: `•••• AB3V`."""
    shown = min(SHOWN_OF_CODE, len(code) // SHOWN_OF_CODE)
    return f"•••• {code[-shown:]}" if shown else "••••"


def masked_code_field() -> Any:
    """Publish the end of the column `code`, for those who need not spend it."""
    value = Derived(("code",), lambda _context, code: mask_code(code))
    return _published(str, value, "The code with everything hidden but its last characters.", None)


def restricted_column(kind: Any, column: str, field_permission: FieldPermission, description: str, *, name: str) -> Any:
    """Publish a private column, by its name, as a value that is null for rows of other tenants."""
    rule = partial(visible_value, field_permission)
    return _published(kind | None, Derived((*field_permission.columns, column), rule), description, name)


def visible_value(field_permission: FieldPermission, context: Any, *values: Any) -> Any:
    """The last of the values if the caller sees that of an owner, whose columns have the others; else None."""
    *owner, value = values
    return value if context.is_visible(field_permission, field_permission.owner(owner)) else None


def _published(kind: Any, value: Derived, description: str, name: str | None) -> Any:
    def resolve(self: Any, info: strawberry.Info) -> Any:
        return value.required_rule(info.context, *(getattr(self, column) for column in value.columns))

    return strawberry.pydantic.field(
        resolve, graphql_type=kind, metadata={"compiled": value}, description=description, name=name
    )
