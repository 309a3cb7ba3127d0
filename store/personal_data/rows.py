"""The rows about a person, or about one order: found by e-mail address, or by the order, and locked."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, Text, cast, func, or_, type_coerce
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.personal_data.export import PersonalGiftKind, PersonalGiftRole
from store.customer import CustomerRow
from store.database.loaders import is_any_of
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderRow
from store.order.refund_requests import RefundRequestRow
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow
from store.payment.requests import PaymentRequestRow
from store.payment.snapshot import AttemptLine
from store.personal_data.customers import is_without_sales
from store.voucher.vouchers import VoucherRow

GIFTER, GIFTEE = PersonalGiftRole.GIFTER, PersonalGiftRole.GIFTEE
BOTH = frozenset(PersonalGiftRole)
GiftRow: TypeAlias = VoucherRow | GiftCardRow | NetworkVoucherRow
Roles: TypeAlias = frozenset[PersonalGiftRole]
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PersonKey:
    """A person at a partner: the normalized e-mail address, and the network whose gift cards and vouchers count too."""

    partner_id: int
    email: str
    network_id: int | None = None


@dataclass(slots=True)
class PersonRows:
    """The rows about a person at a partner. Without a person they are about everybody that an order names."""

    partner_id: int
    person: PersonKey | None = None
    orders: Sequence[OrderRow] = ()
    attempts: Sequence[AttemptRow] = ()
    payments: Sequence[PaymentRow] = ()
    payment_requests: Sequence[PaymentRequestRow] = ()
    refund_requests: Sequence[RefundRequestRow] = ()
    customers: Sequence[CustomerRow] = ()
    gifts: list[GiftRow] = field(default_factory=list)

    def groups(self) -> Iterator[Sequence[Any]]:
        """The rows of each table."""
        yield from (self.attempts, [gift for gift in self.gifts if isinstance(gift, GiftCardRow)])
        yield from ([gift for gift in self.gifts if isinstance(gift, kind)] for kind in (VoucherRow, NetworkVoucherRow))
        yield from (self.payments, self.payment_requests, self.orders, self.refund_requests, self.customers)

    def roles(self, gift: GiftRow) -> Roles:
        """What the person has to do with a gift card or voucher."""
        if self.person is None:
            return BOTH
        is_buyer = gift.order_id is not None and gift.order_id in {order.id for order in self.orders}
        gives = is_buyer or gift.gifter_email.lower() == self.person.email
        gets = (gift.giftee_email or "").lower() == self.person.email
        return frozenset(role for role, is_so in ((GIFTER, gives), (GIFTEE, gets)) if is_so)

    def is_giftee(self, line: AttemptLine) -> bool:
        """Whether the person receives what a line buys: by the address there, or by the one that it was corrected to since."""
        if self.person is None or line.purchase is None:
            return self.person is None
        if line.purchase.giftee.email.lower() == self.person.email:
            return True
        return any(
            getattr(line, f"{kind_of(gift).value}_id") == gift.id and GIFTEE in self.roles(gift) for gift in self.gifts
        )

    def is_buyer(self, attempt: AttemptRow) -> bool:
        """Whether the person is the buyer of a checkout."""
        return (
            self.person is None
            or attempt.buyer.email.lower() == self.person.email
            or attempt.id in {order.attempt_id for order in self.orders}
        )


def kind_of(gift: GiftRow) -> PersonalGiftKind:
    """The kind of a gift card or voucher."""
    if isinstance(gift, VoucherRow):
        return PersonalGiftKind.VOUCHER
    if isinstance(gift, NetworkVoucherRow):
        return PersonalGiftKind.NETWORK_VOUCHER
    return PersonalGiftKind.GIFT_CARD if gift.network_id is None else PersonalGiftKind.NETWORK_GIFT_CARD


async def rows_of_person(db: AsyncSession, person: PersonKey) -> PersonRows:
    """All rows about a person, in ascending order of their ids."""
    at, email = person.partner_id, person.email
    orders = await _all(db, OrderRow, at, _is(OrderRow.buyer_email, email))
    order_ids = [order.id for order in orders]
    buyer = type_coerce(col(AttemptRow.buyer), JSONB)["email"].astext
    in_lines = func.strpos(func.lower(cast(col(AttemptRow.lines), Text)), email) > 0
    gifts = await _gifts(db, person, order_ids)
    of_gifts = [gift.order_id for gift in gifts if gift.order_id is not None]
    sold = await _all(db, OrderRow, at, is_any_of(col(OrderRow.id), of_gifts))
    bought_ids = {order.attempt_id for order in (*orders, *sold)}
    bought = col(AttemptRow.id).in_(bought_ids)
    attempts = await _all(db, AttemptRow, at, or_(func.lower(buyer) == email, in_lines, bought))
    return PersonRows(
        partner_id=at,
        person=person,
        orders=orders,
        attempts=[each for each in attempts if each.id in bought_ids or email in _emails_of(each)],
        payments=await _all(
            db, PaymentRow, at, or_(_is(PaymentRow.customer_email, email), col(PaymentRow.order_id).in_(order_ids))
        ),
        payment_requests=await _all(db, PaymentRequestRow, at, _is(PaymentRequestRow.customer_email, email)),
        refund_requests=await _all(
            db,
            RefundRequestRow,
            at,
            or_(_is(RefundRequestRow.customer_email, email), col(RefundRequestRow.order_id).in_(order_ids)),
        ),
        customers=await _all(db, CustomerRow, at, col(CustomerRow.normal_email) == email),
        gifts=gifts,
    )


def _emails_of(attempt: AttemptRow) -> set[str]:
    """The addresses of the buyer and the giftees of a checkout, in lower case."""
    giftees = {line.purchase.giftee.email.lower() for line in attempt.lines if line.purchase is not None}
    return {attempt.buyer.email.lower(), *giftees}


async def rows_of_order(db: AsyncSession, order: OrderRow) -> PersonRows:
    """All rows that an order has made, whoever they name. Gift cards and vouchers of a network are its own."""
    at, of_order = order.partner_id, order.id
    gifts: list[GiftRow] = []
    for kind in (VoucherRow, GiftCardRow):
        gifts += await _all(db, kind, at, col(kind.order_id) == of_order)
    person_rows = PersonRows(
        partner_id=at,
        orders=[order],
        attempts=await _all(db, AttemptRow, at, col(AttemptRow.id) == order.attempt_id),
        payments=await _all(db, PaymentRow, at, col(PaymentRow.order_id) == of_order),
        refund_requests=await _all(db, RefundRequestRow, at, col(RefundRequestRow.order_id) == of_order),
        gifts=gifts,
    )
    person_rows.customers = await _unused_customers(db, person_rows)
    return person_rows


async def rows_of_checkout(db: AsyncSession, attempt: AttemptRow) -> PersonRows:
    """All rows of a checkout that became no order, whoever they name."""
    at = attempt.partner_id
    payments = await _all(db, PaymentRow, at, col(PaymentRow.attempt_id) == attempt.id)
    person_rows = PersonRows(partner_id=at, attempts=[attempt], payments=payments)
    person_rows.customers = await _unused_customers(db, person_rows)
    return person_rows


async def _gifts(db: AsyncSession, person: PersonKey, order_ids: Collection[int]) -> list[GiftRow]:
    found: list[GiftRow] = []
    for kind in (VoucherRow, GiftCardRow):
        named = _is(kind.gifter_email, person.email), _is(kind.giftee_email, person.email)
        found += await _all(db, kind, person.partner_id, or_(*named, col(kind.order_id).in_(order_ids)))
    if person.network_id is not None:
        cards, emails = GiftCardRow.__table__.c, [person.email]  # type: ignore[attr-defined]  # SQLModel's stubs lack __table__
        of_network = cards.network_id == person.network_id, cards.partner_id.is_(None), cards.emails.contains(emails)
        found += (await db.exec(select(GiftCardRow).where(*of_network).order_by(cards.id))).all()
        vouchers = NetworkVoucherRow.__table__.c  # type: ignore[attr-defined]  # as above
        named = vouchers.marketplace_id == person.network_id, vouchers.emails.contains(emails)
        found += (await db.exec(select(NetworkVoucherRow).where(*named).order_by(vouchers.id))).all()
    return found


async def _unused_customers(db: AsyncSession, person_rows: PersonRows) -> Sequence[CustomerRow]:
    """The customers whom these orders, payments and vouchers name, and nothing else."""
    row, orders, payments = CustomerRow, person_rows.orders, person_rows.payments
    vouchers = [gift for gift in person_rows.gifts if isinstance(gift, VoucherRow)]
    ids = {id for each in vouchers for id in (each.gifter_id, each.giftee_id)} | {each.customer_id for each in payments}
    emails = {order.buyer_email.lower() for order in orders} - {""}
    among = or_(col(row.id).in_(ids - {None}), col(row.normal_email).in_(emails))
    but = [each.id for each in orders], [each.id for each in payments], [each.id for each in vouchers]
    return await _all(db, row, person_rows.partner_id, among, is_without_sales(*but))


async def lock_rows(db: AsyncSession, person_rows: PersonRows) -> bool:
    """Lock and reload rows. False if somebody else holds one of them: then it never waits, so it cannot deadlock. Of an order
    or a checkout, customers for whom something was entered until then are left out.
    """
    for rows in person_rows.groups():
        if not rows:
            continue
        kind = type(rows[0])
        query = select(kind).where(kind.__table__.c.id.in_([row.id for row in rows]))
        locked = await db.exec(query.with_for_update(skip_locked=True).execution_options(populate_existing=True))
        if len(locked.all()) < len(rows):
            return False
    if person_rows.person is None:
        locked_ids = {row.id for row in person_rows.customers}
        person_rows.customers = await _unused_customers(db, person_rows)
        return locked_ids.issuperset(row.id for row in person_rows.customers)
    return True


def _is(column: Any, email: str) -> ColumnElement[bool]:
    is_same: ColumnElement[bool] = func.lower(col(column)) == email
    return is_same


async def _all(db: AsyncSession, kind: type[R], partner_id: int, *which: ColumnElement[bool]) -> Sequence[R]:
    columns = kind.__table__.c  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
    query = select(kind).where(columns.partner_id == partner_id, *which).order_by(columns.id)
    return (await db.exec(query)).all()
