"""Signed links to the page of an order. They name no number, and stay valid."""

from uuid import UUID

from schema.order.page import FIND_PATH
from store.core.settings import Settings
from store.core.signed_links import BadLink, read_link, sign_link

PURPOSE = "order"


def order_path(settings: Settings, uuid: UUID | str) -> str:
    """The path of the page, on any host: `/orders/<token>/`."""
    return f"{FIND_PATH}{sign_link(settings, PURPOSE, [UUID(str(uuid)).hex])}/"


def order_url(settings: Settings, uuid: UUID | str, site_domain: str) -> str:
    """The full URL of the page, at the shop's own host."""
    return f"{settings.funnel_scheme}://{site_domain}{order_path(settings, uuid)}"


def read_order_token(settings: Settings, token: str) -> UUID | None:
    """The uuid of the order that a link names; None if the link is forged."""
    try:
        (hexadecimal,) = read_link(settings, PURPOSE, token)
        return UUID(hex=hexadecimal)
    except (BadLink, ValueError, TypeError, AttributeError):
        return None
