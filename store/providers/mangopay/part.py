"""What the parts of the adapter share: how calls are made, and what is written alike in several of them."""

import datetime as dt
from typing import Annotated, TypeVar
from urllib.parse import quote, urlsplit

import structlog
from pydantic import StringConstraints

from store.core.clock import Clock
from store.providers.accounts import Address
from store.providers.actions import ActionKind, UserAction
from store.providers.errors import ProviderError
from store.providers.mangopay.client import Client, Made, segment
from store.providers.mangopay.objects import Created, Json, Wire

AUTHENTICATION_LASTS = dt.timedelta(minutes=10)
"""How long an authentication session can be used."""
_TAG_LENGTH = 255
_RETURN_LENGTH = 1000
"""Characters of a return URL, encoded. The whole link has less than 2 000, and the provider's part is the rest."""


C = TypeVar("C", bound=Created)
log = structlog.stdlib.get_logger(__name__)


class Part:
    """A part of the adapter: some of the port's calls."""

    name = "mangopay"
    _client: Client
    _clock: Clock

    async def _read_again(self, collection: str, made: Made[C]) -> C:
        """What was made, as it is now. It exists, so that a failure to read it must not look like one to make it."""
        snapshot = made.object
        if not made.looked_up:
            return snapshot
        try:
            return await self._client.get(f"{collection}/{segment(snapshot.id)}", type(snapshot))
        except ProviderError as error:
            told = {"provider": self.name, "collection": collection, "id": snapshot.id, "error": str(error)}
            log.warning("new object could not be read again", **told)
            return snapshot


class PendingAction(Wire):
    """Where a person authenticates."""

    redirect_url: Annotated[str, StringConstraints(min_length=1)]


def returning(return_url: str) -> str:
    """What an authentication link needs to lead back. ValueError: the address is too long, and nothing must be sent."""
    parameter = f"returnUrl={quote(return_url, safe='')}"
    if len(parameter) > _RETURN_LENGTH:
        raise ValueError("An authentication link has no room for so long a return URL.")
    return parameter


def authentication(url: str, parameter: str, begun: dt.datetime | None) -> UserAction:
    """An authentication session that began then. The provider's page shows an error unless its link has the parameter."""
    separator = "&" if urlsplit(url).query else "?"
    expires_at = begun + AUTHENTICATION_LASTS if begun else None
    return UserAction(ActionKind.AUTHENTICATION, f"{url}{separator}{parameter}", expires_at)


def to_authenticate(pending: PendingAction | None, parameter: str, begun: dt.datetime | None) -> UserAction | None:
    """The authentication session that an answer tells of, if it does."""
    return None if pending is None else authentication(pending.redirect_url, parameter, begun)


def tag(reference: str) -> str:
    """Our name for an object, which the provider keeps with it."""
    if len(reference) > _TAG_LENGTH:
        raise ValueError(f"A reference has at most {_TAG_LENGTH} characters.")
    return reference


def address_body(address: Address) -> Json:
    """A postal address on the wire."""
    optional = {"AddressLine2": address.line_2, "Region": address.region}
    return {
        "AddressLine1": address.line_1,
        **{name: text for name, text in optional.items() if text},
        "City": address.city,
        "PostalCode": address.postal_code,
        "Country": address.country,
    }
