"""What the lists of gift cards and vouchers of networks, and those of their usages, are filtered by alike."""

import datetime as dt
from typing import Annotated

from pydantic import AfterValidator, Field

from resolvers.core.lists.filters import OfMarketplace, OfPartner, Where
from store.core.codes import normalize


class GoodFilter(OfMarketplace):
    """A filter of gift cards or vouchers."""

    code: Annotated[str | None, AfterValidator(lambda sent: sent and normalize(sent)), Where("normal_code")] = Field(
        default=None, description="Only the one with this code, in any spelling."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only those issued at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only those issued at or before this time."
    )
    expires_from: Annotated[dt.datetime | None, Where("expires_on", ">=")] = Field(
        default=None, description="Only those that expire at or after this time."
    )
    expires_until: Annotated[dt.datetime | None, Where("expires_on", "<=")] = Field(
        default=None, description="Only those that expire at or before this time."
    )


class UsageFilter(OfPartner):
    """A filter of usages."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(
        default=None, description="Only usages that count, or only cancelled ones."
    )
    used_from: Annotated[dt.datetime | None, Where("used_on", ">=")] = Field(
        default=None, description="Only usages at or after this time."
    )
    used_until: Annotated[dt.datetime | None, Where("used_on", "<=")] = Field(
        default=None, description="Only usages at or before this time."
    )
