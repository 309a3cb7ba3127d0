"""The request of a buyer with the link to an order."""

from dataclasses import dataclass, field

from funnel.core.public_pages import LinkRequest
from schema.order.page import FIND_PATH, OrderPage

LANGUAGE_PATH = f"{FIND_PATH}language/"


@dataclass
class OrderRequest(LinkRequest):
    """The request of a buyer, with the order that the link shows."""

    page: OrderPage = field(kw_only=True)
    flash_area = "order"
    language_path = LANGUAGE_PATH

    @property
    def token(self) -> str:
        """The token in the link."""
        return str(self.http_request.path_params["token"])
