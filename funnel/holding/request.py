"""The request of the holder of a gift card or voucher."""

from dataclasses import dataclass, field
from urllib.parse import urlencode

from funnel.core.public_pages import PublicRequest
from schema.network.holder import HolderPage

LANGUAGE_PATH = "/network/language/"
LIST_ID = "partners"
"""The id of the list of partners in the HTML."""


@dataclass
class HolderRequest(PublicRequest):
    """The request of a holder, with what its link shows."""

    page: HolderPage = field(kw_only=True)
    language_path = LANGUAGE_PATH

    def partners_url(self, page: int) -> str:
        """The URL of a page of the partners that match the search."""
        search = self.page.partners.search
        values = {"name": search.name, "place": search.place, "page": str(page) if page > 1 else ""}
        query = urlencode({name: value for name, value in values.items() if value})
        return f"{self.start}{'?' if query else ''}{query}#{LIST_ID}"
