"""What is left of each row when the data of a person are erased: the values to write."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from schema.checkout.basket import Giftee
from schema.checkout.checkout import Buyer
from store.core.telemetry.logs import MASK
from store.order.orders import OrderRow
from store.order.refund_requests import RefundRequestRow
from store.payment.attempts import AttemptRow, AttemptState
from store.payment.snapshot import AttemptLine, Purchase
from store.personal_data.rows import GIFTEE, GIFTER, GiftRow, PersonRows, Roles

ORDER = (
    *("buyer_first_name", "buyer_last_name", "buyer_email", "buyer_phone", "recipient_name", "message"),
    *("address_line_1", "address_line_2", "postal_code", "city"),
    *("fulfilment_tracking_number", "fulfilment_tracking_url"),
)
"""The country stays: the VAT depends on it."""
CUSTOMER_OF_PAYMENT = ("customer_first_name", "customer_last_name", "customer_email")
CUSTOMER = ("first_name", "last_name", "email", "normal_email")
OF_GIFTER = (
    *("gifter_civility", "gifter_first_name", "gifter_last_name", "gifter_email", "gifter_address"),
    *(
        "gifter_postal_code",
        "gifter_city",
        "gifter_country",
        "gifter_wired_phone",
        "gifter_mobile_phone",
        "from_gifter",
    ),
)
OF_GIFTEE = (
    *("giftee_first_name", "giftee_last_name", "giftee_email", "giftee_phone_number", "recipient_address"),
    "to_giftee",
)
MESSAGE = "message"


def emptied(row: Any, names: Iterable[str]) -> Mapping[str, Any]:
    """The columns of a row with nothing in them, those that have something: null where that may be, else empty."""
    columns = row.__table__.c
    return {
        name: None if columns[name].nullable and name not in _WHOLE else ""
        for name in names
        if name in columns and getattr(row, name)
    }


_WHOLE = frozenset({"address_line_1", "address_line_2", "postal_code", "city"})
"""All or none of them are null."""


def emptied_order(order: OrderRow) -> Mapping[str, Any]:
    """An order without its buyer."""
    return emptied(order, ORDER)


def emptied_refund_request(request: RefundRequestRow) -> Mapping[str, Any]:
    """A request without its buyer. One that was declined must have an answer: its words go, not that there were some."""
    left = dict(emptied(request, ("customer_name", "customer_email", "reason")))
    if request.answer not in {"", MASK}:
        left["answer"] = MASK
    return left


def emptied_gift(gift: GiftRow, roles: Roles) -> Mapping[str, Any]:
    """A gift card or voucher without a person. The giftee of a buyer stays if others can reach it: by an address of its
    own.
    """
    names: set[str] = set()
    if GIFTER in roles:
        names |= {*OF_GIFTER, MESSAGE}
    if GIFTEE in roles or (GIFTER in roles and not gift.giftee_email):
        names |= {*OF_GIFTEE, MESSAGE}
    return emptied(gift, sorted(names))


NEVER_ORDERED = (AttemptState.FAILED, AttemptState.REFUNDED)


def is_erased_whole(person_rows: PersonRows, attempt: AttemptRow) -> bool:
    """Whether nobody is left in a checkout: its giftees go with the buyer if nothing was issued for them."""
    return person_rows.is_buyer(attempt) and attempt.state in NEVER_ORDERED


def emptied_attempt(person_rows: PersonRows, attempt: AttemptRow) -> Mapping[str, Any]:
    """A checkout without a person."""
    is_buyer, is_whole = person_rows.is_buyer(attempt), is_erased_whole(person_rows, attempt)
    left: dict[str, Any] = {}
    lines = tuple(
        _emptied_line(line, is_buyer=is_buyer, is_giftee=is_whole or person_rows.is_giftee(line))
        for line in attempt.lines
    )
    if lines != attempt.lines:
        left["lines"] = lines
    if is_buyer and attempt.buyer != (buyer := Buyer(country=attempt.buyer.country)):
        left["buyer"] = buyer
    return left


def _emptied_line(line: AttemptLine, *, is_buyer: bool, is_giftee: bool) -> AttemptLine:
    for name in ("voucher", "gift_card", "network_gift_card", "network_voucher"):
        purchase = getattr(line, name)
        if purchase is None:
            continue
        changes: dict[str, Any] = {}
        if is_buyer or is_giftee:
            changes = {"message": ""}
        if is_buyer:
            changes |= {"from_gifter": ""}
        if is_giftee or (is_buyer and not purchase.giftee.email):
            changes |= {"giftee": Giftee()} | ({"to_giftee": ""} if name == "voucher" else {})
        line = replace(line, **{name: replace(purchase, **changes)})
    return line


Emptied: TypeAlias = Sequence[tuple[Any, Mapping[str, Any]]]
"""Rows with what their columns become."""


def emptied_rows(person_rows: PersonRows) -> Mapping[str, Emptied]:
    """What is left of all rows, by their kind as `PersonalDataErasure` has it."""
    return {
        "customers": [(row, emptied(row, CUSTOMER)) for row in person_rows.customers],
        "orders": [(row, emptied_order(row)) for row in person_rows.orders],
        "checkouts": [(row, emptied_attempt(person_rows, row)) for row in person_rows.attempts],
        "payments": [(row, emptied(row, CUSTOMER_OF_PAYMENT)) for row in person_rows.payments],
        "payment_requests": [(row, emptied(row, CUSTOMER_OF_PAYMENT)) for row in person_rows.payment_requests],
        "refund_requests": [(row, emptied_refund_request(row)) for row in person_rows.refund_requests],
        "gifts": [(row, emptied_gift(row, person_rows.roles(row))) for row in person_rows.gifts],
    }


def texts_of(person_rows: PersonRows) -> Sequence[str]:
    """The texts about a person in these rows: those that an erasure takes."""
    found = ErasedTexts()
    for rows in emptied_rows(person_rows).values():
        for row, left in rows:
            found.add(row, left)
    return found.texts


@dataclass(slots=True)
class ErasedTexts:
    """The texts that are erased from rows."""

    texts: list[str] = field(default_factory=list)

    def add(self, row: Any, left: Mapping[str, Any]) -> None:
        """Add the texts that a row loses; `left` has what its changed columns become."""
        for name, after in left.items():
            before = getattr(row, name)
            if name == "buyer":
                self._add_contact(before, after)
            elif name == "lines":
                for old, new in zip(before, after, strict=True):
                    self._add_purchase(old.purchase, new.purchase)
            else:
                self._add(name, before)
        for prefix in ("", "buyer_", "gifter_", "giftee_", "customer_"):
            self._add_joined(row, prefix, left)

    def _add_purchase(self, before: Purchase | None, after: Purchase | None) -> None:
        if before is None or after is None:
            return
        self._add_contact(before.giftee, after.giftee)
        for name in ("message", "from_gifter", "to_giftee"):
            if getattr(before, name, "") != getattr(after, name, ""):
                self._add(name, getattr(before, name))

    def _add_contact(self, before: Buyer | Giftee, after: Buyer | Giftee) -> None:
        changed = [each.name for each in fields(before) if getattr(before, each.name) != getattr(after, each.name)]
        for name in changed:
            self._add(name, getattr(before, name))
        self._add_joined(before, "", changed)

    def _add(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value and not name.endswith("country"):
            self.texts.append(value)

    def _add_joined(self, of: Any, prefix: str, changed: Collection[str]) -> None:
        """As mails have them: a first and a last name, a postal code and a town."""
        for pair in (("first_name", "last_name"), ("postal_code", "city"), ("billing_postal_code", "billing_city")):
            names = [prefix + name for name in pair]
            if any(name in changed for name in names):
                self.texts.append(" ".join(getattr(of, name, None) or "" for name in names).strip())
