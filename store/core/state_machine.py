"""State machines: which state may follow which, who may bring it about, and what a refused transition raises."""

import enum
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from schema.core.errors import InvalidTransition
from schema.core.permission import Permission

S = TypeVar("S", bound=enum.StrEnum)


class HasStatus(Protocol[S]):
    """A row with a status."""

    status: S


@dataclass(frozen=True)
class StateMachine(Generic[S]):
    """The states that may follow each state; a state that is not listed is final.

    Where callers ask for transitions, each names the permission that it needs.
    """

    thing: str
    """What has the state, with its article: "A voucher"."""
    transitions: Mapping[S, AbstractSet[S] | Mapping[S, Permission]]
    asked_for: bool = False
    """True if callers ask for transitions, so that a refused one is theirs to correct. Otherwise it is a defect."""

    def allows(self, old: S, new: S) -> bool:
        """True if `new` may follow `old`. No state follows itself."""
        return new in self.transitions.get(old, ())

    def require(self, old: S, new: S) -> S:
        """The new state. Raises InvalidTransition, or RuntimeError if transitions are not asked for by callers."""
        if self.allows(old, new):
            return new
        if self.asked_for:
            raise InvalidTransition(thing=self.thing, old=old, new=new)
        raise RuntimeError(f"{self.thing} does not go from {old} to {new}.")

    def change(self, row: HasStatus[S], new: S) -> bool:
        """Change the status of a locked row; returns False if it has that status. Raises what `require` raises."""
        if row.status is new:
            return False
        row.status = self.require(row.status, new)
        return True

    def permission(self, old: S, new: S) -> Permission | None:
        """The permission that a transition needs; None if it needs none, or is not allowed."""
        following = self.transitions.get(old, frozenset())
        return None if isinstance(following, AbstractSet) else following.get(new)
