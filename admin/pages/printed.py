"""The picture of a document whose code was shown just now, within the page that shows it: no address has it."""

import base64
from typing import Any

from admin.core.request import AdminRequest
from funnel.core.pages import HEADERS
from resolvers.document import draw_document

ADDRESS = "documentUrl"
"""The field with the address of a document."""
WITH_PICTURE = HEADERS["Content-Security-Policy"].replace("img-src 'self'", "img-src 'self' data:")
"""The policy of a page with such a picture."""


async def picture_of(request: AdminRequest, value: Any) -> str:
    """The document that the outcome of a change names, as the source of an image; empty if it names none."""
    url = value.get(ADDRESS) if isinstance(value, dict) else None
    picture = await draw_document(request.context, url) if url else None
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}" if picture else ""
