"""What a provider asks a person to do."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum


class ActionKind(StrEnum):
    """What a person is sent to a provider's page for."""

    HOSTED_PAYMENT = "hosted_payment"
    AUTHENTICATION = "authentication"
    IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class UserAction:
    """Send a person there; the address is complete. `expires_at` is None when the provider does not say."""

    kind: ActionKind
    url: str
    expires_at: dt.datetime | None = None
