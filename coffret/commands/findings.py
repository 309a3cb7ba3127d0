"""What `coffret doctor` finds."""

import dataclasses
from enum import StrEnum


class State(StrEnum):
    """What a check found."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one check found: a line on how it is, and one on how to put it right, empty where all is well."""

    name: str
    state: State
    found: str
    remedy: str = ""


def well(name: str, found: str) -> Finding:
    """All is well."""
    return Finding(name, State.OK, found)


def doubtful(name: str, found: str, remedy: str) -> Finding:
    """It works, and could work better."""
    return Finding(name, State.WARNING, found, remedy)


def wrong(name: str, found: str, remedy: str) -> Finding:
    """It does not work."""
    return Finding(name, State.FAILED, found, remedy)
