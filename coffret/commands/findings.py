"""The findings of `coffret doctor`."""

import dataclasses
from enum import StrEnum


class CheckState(StrEnum):
    """The state of a checked item."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one check.

    `message` describes the state; `remedy` says how to fix it, empty if nothing is to fix.
    """

    name: str
    state: CheckState
    message: str
    remedy: str = ""


def passed(name: str, message: str) -> Finding:
    return Finding(name, CheckState.OK, message)


def warning(name: str, message: str, remedy: str) -> Finding:
    """A finding that does not stop the installation from working."""
    return Finding(name, CheckState.WARNING, message, remedy)


def failed(name: str, message: str, remedy: str) -> Finding:
    return Finding(name, CheckState.FAILED, message, remedy)
