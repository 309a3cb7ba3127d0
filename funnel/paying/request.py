"""The request of a customer with a payment link."""

from dataclasses import dataclass, field

from funnel.core.public_pages import LinkRequest
from schema.payment.page import PaymentPage

LANGUAGE_PATH = "/pay/language/"


@dataclass
class PayingRequest(LinkRequest):
    """The request of a customer with a payment link."""

    page: PaymentPage = field(kw_only=True)
    """What the link showed when the request arrived."""
    flash_area = "pay"
    language_path = LANGUAGE_PATH

    @property
    def token(self) -> str:
        """The token in the link."""
        return str(self.http_request.path_params["token"])
