"""What a visitor sees on the page of a legal text."""

import datetime as dt
from dataclasses import dataclass

from schema.checkout.brand import Brand
from schema.core.text import Text
from schema.legal.legal_document import LegalDocumentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalPage:
    """The page of a version of a legal text."""

    path: str
    brand: Brand
    site_domain: str
    """The host of the partner's shop, which serves it besides the service's own."""
    kind: LegalDocumentKind
    content: Text
    website: Text
    time_zone: str
    published_on: dt.datetime
    replaced_on: dt.datetime | None
    """When it was replaced or retired; None while it is in force."""
    current: Text | None
    """The address of the version in force, if this one is not; None also if there is none."""
