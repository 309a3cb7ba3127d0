"""The calls that the provider allows to the whole account, and who may use them while few are left.

Whoever runs work says once what it is for (`calling_as`): the worker, for its jobs and schedules. Everything else is a
request, for which a person or a program waits.
"""

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class CallClass(StrEnum):
    """What a call is for, the most urgent first."""

    CUSTOMER = "customer"
    """A person waits. Never held back before the provider itself refuses."""
    PAYOUT = "payout"
    """What is due, and what the provider has notified."""
    SWEEP = "sweep"
    """Checks in the background, which can be made later."""


_CALLS: ContextVar[CallClass] = ContextVar("calls", default=CallClass.CUSTOMER)


def call_class() -> CallClass:
    """What the calls of this task are for."""
    return _CALLS.get()


@contextlib.contextmanager
def calling_as(kind: CallClass) -> Iterator[None]:
    """Make calls of a class, also in tasks that start within."""
    token = _CALLS.set(kind)
    try:
        yield
    finally:
        _CALLS.reset(token)


@dataclass(frozen=True, slots=True)
class CallAllowance:
    """What a response reports of one period: how many calls are left of how many, and until when."""

    left: int
    limit: int
    resets_in: float
    """Seconds."""

    @property
    def share(self) -> float:
        """The part that is left, from 0 to 1."""
        return self.left / self.limit if self.limit else 0.0


class CallBudget(Protocol):
    """The budget of one account at the provider, shared by all processes."""

    async def admit(self) -> None:
        """Return if this task may call now. Raises `CallHeldBack`."""

    async def record(self, allowances: Sequence[CallAllowance], refused_for: float | None = None) -> None:
        """Record what a response reports. `refused_for`: it refused the call, and would refuse others so many seconds."""
