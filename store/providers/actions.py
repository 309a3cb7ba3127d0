"""Actions that a provider requires of a person."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum


class ActionKind(StrEnum):
    """The purpose of the provider's page."""

    HOSTED_PAYMENT = "hosted_payment"
    AUTHENTICATION = "authentication"
    IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class UserAction:
    """Redirect a person to `url`, which is complete. `expires_at` is None if the provider does not report it."""

    kind: ActionKind
    url: str
    expires_at: dt.datetime | None = None
