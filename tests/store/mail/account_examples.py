"""Messages about log-ins."""

import datetime as dt
import uuid
from typing import Any

from schema.account.change import AccountChange, ChangeActor
from store.mail.link_content import AccountChangeContent, AccountLinkContent

OWNER = {"first_name": "Ada", "username": "ada@partner.example", "organisation": "Gästehaus"}


def account_link(number: int) -> AccountLinkContent:
    """A link to choose a password."""
    return AccountLinkContent(link=uuid.UUID(int=number), **OWNER)


def account_change(change: AccountChange, **more: Any) -> AccountChangeContent:
    """A change by another user, with the name of a passkey or a token."""
    is_named = change in {AccountChange.PASSKEY_REGISTERED, AccountChange.PASSKEY_DELETED, AccountChange.TOKEN_CREATED}
    known: dict[str, Any] = {
        "name": "Till <b>" if is_named else "",
        "deletes_passkeys": True,
        "changed_on": dt.datetime(2026, 8, 23, 22, 30, tzinfo=dt.UTC),
        "time_zone": "Europe/Paris",
        "actor": ChangeActor.USER,
        "actor_username": "grace@market.example",
    }
    return AccountChangeContent(change=change, **OWNER | known | more)
