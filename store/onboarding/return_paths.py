"""Where somebody comes back to from a page of the payment provider: an address so short that every provider takes it."""

from store.core.settings import Settings
from store.kyc import PATH_LENGTH

PREFIX = "/k/"
LONGEST = 50
"""Characters that an identity check's return address may have, as the provider documents it."""


def return_url(settings: Settings, path: str) -> str:
    """The address that ends with `path`."""
    return f"{settings.public_url}{PREFIX}{path}"


def excess(settings: Settings) -> int:
    """By how many characters this service's own address is too long for that; 0 where it is not."""
    return max(0, len(return_url(settings, "x" * PATH_LENGTH)) - LONGEST)
