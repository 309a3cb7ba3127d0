"""Vouchers: list, lookups and time-dependent fields."""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.voucher.voucher import Voucher, VoucherKind, VoucherState
from store.core.codes import normalize
from store.document.addresses import DocumentKind, document_url
from store.document.source import UNPRINTABLE_STATES
from store.voucher import rules


@graphql_enum
class VoucherSort(DescribedEnum):
    """Sort order of vouchers."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    ENDING = "expires_on", "Earliest expiry first; those without expiry last."
    ENDING_DESCENDING = "-expires_on", "Latest expiry first; those without expiry before all others."


@graphql_input_for(Voucher)
class VoucherFilter(OfPartner):
    """Filter for vouchers. Texts match any part, ignoring case and accents. Periods include both ends."""

    code: Annotated[str | None, AfterValidator(lambda sent: sent and normalize(sent)), Where("normal_code")] = Field(
        default=None, description="Only the voucher with this code, in any spelling."
    )
    state: Annotated[VoucherState | None, Where("state")] = None
    states: Annotated[list[VoucherState] | None, Where("state", "in")] = Field(
        default=None, description="Only vouchers in one of these states."
    )
    kind: Annotated[VoucherKind | None, Where("kind")] = None
    voucher_prototype_id: Annotated[int | None, Where("voucher_prototype_id")] = None
    prototype_name: Annotated[str | None, Where("name_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only vouchers whose prototype name at the time of issue contains this, in any language.",
    )
    gifter: Annotated[str | None, Where("gifter_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only vouchers whose gifter's name or e-mail address contains this.",
    )
    giftee: Annotated[str | None, Where("giftee_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only vouchers whose giftee's name or e-mail address contains this.",
    )
    origin: Annotated[str | None, Where("origin_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="Only vouchers whose `origin` contains this."
    )
    gifter_id: Annotated[int | None, Where("gifter_id")] = Field(
        default=None, description="Only vouchers whose gifter is the customer with this id."
    )
    giftee_id: Annotated[int | None, Where("giftee_id")] = Field(
        default=None, description="Only vouchers whose giftee is the customer with this id."
    )
    order_id: Annotated[int | None, Where("order_id")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only vouchers issued at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only vouchers issued at or before this time."
    )
    expires_from: Annotated[dt.datetime | None, Where("expires_on", ">=")] = Field(
        default=None, description="Only vouchers that expire at or after this time."
    )
    expires_until: Annotated[dt.datetime | None, Where("expires_on", "<=")] = Field(
        default=None, description="Only vouchers that expire at or before this time."
    )


vouchers = Listing(
    Voucher, VoucherFilter, VoucherSort, Permission.VIEW_VOUCHER, "The vouchers visible to you, newest first."
)
voucher = Lookup(
    Voucher,
    "normal_code",
    "voucher",
    Permission.VIEW_VOUCHER,
    "A voucher by its code, in any spelling, or by its id.",
)
voucher_with_id = Lookup(Voucher, "id", "voucher", Permission.VIEW_VOUCHER, "A voucher by its id.")


class _VoucherColumns(NamedTuple):
    """The columns that the voucher rules need."""

    state: VoucherState
    expires_on: dt.datetime | None
    activated_on: dt.datetime | None = None
    kind: VoucherKind = VoucherKind.SOLD
    purchase_price_amount: Decimal = Decimal()
    frozen_on: dt.datetime | None = None
    refunded_on: dt.datetime | None = None


@derives(Voucher, "is_usable")
def _is_usable(
    context: Context, state: str, activated_on: Any, expires_on: Any, frozen_on: Any, refunded_on: Any
) -> bool:
    columns = _VoucherColumns(
        VoucherState(state), expires_on, activated_on, frozen_on=frozen_on, refunded_on=refunded_on
    )
    return rules.is_usable(columns, context.services.clock.now())


@derives(Voucher, "is_extendable")
def _is_extendable(context: Context, state: str, expires_on: Any, refunded_on: Any) -> bool:
    columns = _VoucherColumns(VoucherState(state), expires_on, refunded_on=refunded_on)
    return rules.is_extendable(columns, context.services.clock.now())


@derives(Voucher, "is_refundable")
def _is_refundable(
    context: Context, state: str, kind: str, expires_on: Any, paid: Decimal, frozen_on: Any, refunded_on: Any
) -> bool:
    columns = _VoucherColumns(
        state=VoucherState(state),
        expires_on=expires_on,
        kind=VoucherKind(kind),
        purchase_price_amount=paid,
        frozen_on=frozen_on,
        refunded_on=refunded_on,
    )
    return rules.is_refundable(columns, context.services.clock.now())


@derives(Voucher, "last_day")
def _last_day(context: Context, expires_on: dt.datetime | None) -> dt.date | None:
    return None if expires_on is None else expires_on.astimezone(ZoneInfo(context.required_caller.time_zone)).date()


@derives(Voucher, "document_url")
def voucher_document_url(context: Context, state: str, token: str) -> str | None:
    return None if state in UNPRINTABLE_STATES else document_url(context.services.settings, DocumentKind.VOUCHER, token)
