"""Shared code of the adapter's mixins."""

import datetime as dt
from typing import TypeVar
from urllib.parse import quote, urlsplit

import structlog

from store.core.clock import Clock
from store.providers.accounts import Address
from store.providers.actions import ActionKind, UserAction
from store.providers.errors import ProviderError
from store.providers.mangopay.client import Client, segment
from store.providers.mangopay.creation import CreationResult
from store.providers.mangopay.objects import Created, Json, PendingAction
from store.providers.money import MinorAmount

AUTHENTICATION_LASTS = dt.timedelta(minutes=10)
"""Lifetime of an authentication session."""
_TAG_LENGTH = 255
_RETURN_LENGTH = 1000
"""Maximum length of an encoded return URL. The whole link must be shorter than 2 000 characters."""


C = TypeVar("C", bound=Created)
log = structlog.stdlib.get_logger(__name__)


class AdapterMixin:
    """Base of the adapter's mixins, each of which implements some of the port's calls."""

    name = "mangopay"
    _client: Client
    _clock: Clock

    async def _read_again(self, collection: str, result: CreationResult[C]) -> C:
        """The created object, read again if it comes from a stored response.

        The object exists, so a failed read returns the snapshot: an error would look like a failed creation.
        """
        snapshot = result.object
        if not result.looked_up:
            return snapshot
        try:
            return await self._client.get(f"{collection}/{segment(snapshot.id)}", type(snapshot))
        except ProviderError as error:
            details = {"provider": self.name, "collection": collection, "id": snapshot.id, "error": str(error)}
            log.warning("a new object could not be read again", **details)
            return snapshot


def return_parameter(return_url: str) -> str:
    """The query parameter that leads back from an authentication link.

    Raises ValueError, before anything is sent, if it is too long.
    """
    parameter = f"returnUrl={quote(return_url, safe='')}"
    if len(parameter) > _RETURN_LENGTH:
        raise ValueError("An authentication link has no room for so long a return URL.")
    return parameter


def authentication(url: str, parameter: str, begun: dt.datetime | None) -> UserAction:
    """An authentication session that began at `begun`.

    The provider's page shows an error for a link without the parameter.
    """
    separator = "&" if urlsplit(url).query else "?"
    expires_at = begun + AUTHENTICATION_LASTS if begun else None
    return UserAction(ActionKind.AUTHENTICATION, f"{url}{separator}{parameter}", expires_at)


def optional_authentication(
    pending: PendingAction | None, parameter: str, begun: dt.datetime | None
) -> UserAction | None:
    """The authentication session of a response, if it has one."""
    return None if pending is None else authentication(pending.redirect_url, parameter, begun)


def tag(reference: str) -> str:
    """Our reference, which Mangopay stores with the object. Raises ValueError if it is too long."""
    if len(reference) > _TAG_LENGTH:
        raise ValueError(f"A reference has at most {_TAG_LENGTH} characters.")
    return reference


def money(amount: MinorAmount) -> Json:
    return {"Currency": amount.currency, "Amount": amount.minor}


def address_body(address: Address) -> Json:
    optional = {"AddressLine2": address.line_2, "Region": address.region}
    return {
        "AddressLine1": address.line_1,
        **{name: text for name, text in optional.items() if text},
        "City": address.city,
        "PostalCode": address.postal_code,
        "Country": address.country,
    }
