"""Vouchers as they are read: lists of them, one by its code, and what follows from the time."""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.voucher.voucher import Voucher, VoucherKind, VoucherState
from store.core.codes import normal
from store.document.addresses import DocumentKind, document_url
from store.document.source import NOT_PRINTED
from store.voucher import rules
from store.voucher.vouchers import VoucherRow  # noqa: F401 - the table of vouchers

LONGEST_TERM = 200
"""Of a text that is searched for, in characters."""


@closed_set
class VoucherSort(ClosedSet):
    """How to order vouchers."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    ENDING = "expires_on", "Those first that stop working first; those without an end last."
    ENDING_DESCENDING = "-expires_on", "Those first that work longest; those without an end before them."


@writable_as(Voucher)
class VoucherFilter(OfPartner):
    """Which vouchers. Texts are found anywhere, whatever the case and the accents; both ends of a period belong to it."""

    code: Annotated[str | None, AfterValidator(lambda sent: sent and normal(sent)), Where("normal_code")] = Field(
        default=None, description="The code, however it is spaced."
    )
    state: Annotated[VoucherState | None, Where("state")] = None
    states: Annotated[list[VoucherState] | None, Where("state", "in")] = Field(
        default=None, description="In one of these states."
    )
    kind: Annotated[VoucherKind | None, Where("kind")] = None
    voucher_prototype_id: Annotated[int | None, Where("voucher_prototype_id")] = None
    prototype_name: Annotated[str | None, Where("name_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="In the prototype's name that day, in any language."
    )
    gifter: Annotated[str | None, Where("gifter_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="In the name or the e-mail address of who gave it."
    )
    giftee: Annotated[str | None, Where("giftee_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="In the name or the e-mail address of whom it is for."
    )
    origin: Annotated[str | None, Where("origin_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="In where it was sold."
    )
    gifter_id: Annotated[int | None, Where("gifter_id")] = Field(default=None, description="The customer who gave it.")
    giftee_id: Annotated[int | None, Where("giftee_id")] = Field(default=None, description="The customer it is for.")
    order_id: Annotated[int | None, Where("order_id")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Made at this time or later."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Made at this time or earlier."
    )
    expires_from: Annotated[dt.datetime | None, Where("expires_on", ">=")] = Field(
        default=None, description="Stops working at this time or later."
    )
    expires_until: Annotated[dt.datetime | None, Where("expires_on", "<=")] = Field(
        default=None, description="Stops working at this time or earlier."
    )


vouchers = Listing(Voucher, VoucherFilter, VoucherSort, Permission.VIEW_VOUCHER, "The vouchers you see, newest first.")
voucher = Lookup(
    Voucher,
    "normal_code",
    "voucher",
    Permission.VIEW_VOUCHER,
    "A voucher by its code, however it is spaced, or by its id.",
)
voucher_with_id = Lookup(Voucher, "id", "voucher", Permission.VIEW_VOUCHER, "A voucher by its id.")


class _Facts(NamedTuple):
    """What the rules look at, made of columns."""

    state: VoucherState
    expires_on: dt.datetime | None
    activated_on: dt.datetime | None = None
    kind: VoucherKind = VoucherKind.SOLD
    purchase_price_amount: Decimal = Decimal()


@derives(Voucher, "is_usable")
def _is_usable(context: Context, state: str, activated_on: Any, expires_on: Any) -> bool:
    return rules.is_usable(_Facts(VoucherState(state), expires_on, activated_on), context.services.clock.now())


@derives(Voucher, "is_extendable")
def _is_extendable(context: Context, state: str, expires_on: Any) -> bool:
    return rules.is_extendable(_Facts(VoucherState(state), expires_on), context.services.clock.now())


@derives(Voucher, "is_refundable")
def _is_refundable(context: Context, state: str, kind: str, expires_on: Any, paid: Decimal) -> bool:
    facts = _Facts(VoucherState(state), expires_on, kind=VoucherKind(kind), purchase_price_amount=paid)
    return rules.is_refundable(facts, context.services.clock.now())


@derives(Voucher, "last_day")
def _last_day(context: Context, expires_on: dt.datetime | None) -> dt.date | None:
    return None if expires_on is None else expires_on.astimezone(ZoneInfo(context.asking.time_zone)).date()


@derives(Voucher, "document_url")
def _document_url(context: Context, state: str, token: str) -> str | None:
    return None if state in NOT_PRINTED else document_url(context.services.settings, DocumentKind.VOUCHER, token)
