"""Queries of the checkout: payment attempts, usable codes, and the reservations of a running payment."""

import datetime as dt
import hashlib
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from sqlalchemy import bindparam, literal_column, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import SelectOfScalar

from schema.checkout.checkout import CheckoutKey, OfferedProduct, ProductChoice
from schema.coupon.coupon import CouponTarget
from store.checkout.offers import ShopProduct
from store.core.codes import normalize
from store.coupon.coupons import CouponRow
from store.coupon.rules import is_running
from store.database.loaders import is_any_of
from store.database.transaction_reader import DatabaseReader
from store.gift_card.acceptance import is_accepted_at
from store.gift_card.gift_cards import GiftCardRow, UsableCard
from store.gift_card.modes import is_in_mode_of
from store.network.card_payments import is_of_network, usable_card
from store.partner.partners import PartnerRow
from store.payment.attempts import LIVE, AttemptRow, AttemptState


def session_digest(session_id: str) -> str:
    """The SHA-256 of the session id.

    Attempts store it because the session id itself would give access to the session.
    """
    return hashlib.sha256(session_id.encode()).hexdigest()


async def lock_checkout(db: AsyncSession, cart_id: uuid.UUID, digest: str) -> None:
    """Serialize the start and completion of payments of this session for this cart.

    The advisory lock lasts until the end of the transaction. Take it before any row lock.
    """
    name = f"{cart_id}:{digest}"
    await (await db.connection()).execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name}
    )


async def latest_attempt(
    db: AsyncSession, partner_id: int, key: CheckoutKey, *, live: bool = False, lock: bool = False
) -> AttemptRow | None:
    """The newest attempt of this session for the latest version of this cart, a completed one first.

    With `live`, live ones only.
    """
    query = latest_attempt_query()
    if live:
        query = query.where(col(AttemptRow.state).in_(LIVE))
    query = query.execution_options(populate_existing=True)
    values = latest_attempt_values(partner_id, key)
    return (await db.exec(query.with_for_update() if lock else query, params=values)).one_or_none()


def latest_attempt_query() -> SelectOfScalar[AttemptRow]:
    """The query of `latest_attempt`, whose parameters are the `latest_attempt_values`."""
    ordered = col(AttemptRow.state) == bindparam("completed")
    return (
        select(AttemptRow)
        .where(
            col(AttemptRow.partner_id) == bindparam("partner_id"),
            is_any_of(col(AttemptRow.kind), name="kinds"),
            col(AttemptRow.cart_id) == bindparam("cart_id"),
            col(AttemptRow.session_digest) == bindparam("session_digest"),
        )
        .order_by(col(AttemptRow.cart_last_modified).desc(), ordered.desc(), col(AttemptRow.created_on).desc())
        .limit(literal_column("1"))
    )


def latest_attempt_values(partner_id: int, key: CheckoutKey) -> dict[str, object]:
    return {
        "partner_id": partner_id,
        "kinds": list(key.kind.contents),
        "cart_id": key.cart_id,
        "session_digest": session_digest(key.session_id),
        "completed": AttemptState.COMPLETED,
    }


async def load_attempt(db: DatabaseReader, attempt_id: uuid.UUID) -> AttemptRow | None:
    query = select(AttemptRow).where(col(AttemptRow.id) == attempt_id).execution_options(populate_existing=True)
    async with db.read_sessions() as session:
        return (await session.exec(query)).one_or_none()


async def lock_attempt(db: AsyncSession, attempt_id: uuid.UUID) -> AttemptRow | None:
    """The attempt, locked and reloaded."""
    query = select(AttemptRow).where(col(AttemptRow.id) == attempt_id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one_or_none()


@dataclass(frozen=True, slots=True)
class OwnReservations:
    """The reservations of this customer's running payment, which the next payment may use again."""

    stock: Mapping[tuple[int, int | None], int] = field(default_factory=dict)
    coupons: frozenset[int] = frozenset()
    cards: Mapping[int, Decimal] = field(default_factory=dict)

    @classmethod
    def of(cls, attempt: AttemptRow | None) -> "OwnReservations":
        """The reservations of a live attempt that holds any; else empty."""
        if attempt is None or not attempt.held or attempt.state not in LIVE:
            return cls()
        stock: dict[tuple[int, int | None], int] = {}
        for line in attempt.lines:
            if line.counted and line.product_id is not None:
                key = (line.product_id, line.variant_id)
                stock[key] = stock.get(key, 0) + line.quantity
        coupons = frozenset(coupon.id for coupon in attempt.coupons)
        return cls(stock, coupons, {card.id: card.amount for card in attempt.cards})

    def without_reservations(self, products: Mapping[int, ShopProduct]) -> dict[int, ShopProduct]:
        """The products, their stock increased by these reservations."""
        if not self.stock:
            return dict(products)
        return {i: replace(sold, offered=self._with_returned_stock(sold.offered)) for i, sold in products.items()}

    def _with_returned_stock(self, product: OfferedProduct) -> OfferedProduct:
        def more(available: int | None, key: tuple[int, int | None]) -> int | None:
            return None if available is None else available + self.stock.get(key, 0)

        variants = tuple(replace(v, available=more(v.available, (product.id, v.id))) for v in product.variants)
        own = sum(n for (p, v), n in self.stock.items() if p == product.id and (v is not None) == bool(variants))
        available = None if product.available is None else product.available + own
        return replace(product, variants=variants, available=available)


async def reservations_elsewhere(
    db: DatabaseReader, partner_id: int, key: CheckoutKey
) -> list[tuple[OwnReservations, AttemptRow]]:
    """The reservations of live payments that other sessions started for the same cart."""
    table = AttemptRow
    query = select(table).where(
        col(table.partner_id) == partner_id,
        is_any_of(col(table.kind), key.kind.contents),
        col(table.cart_id) == key.cart_id,
        col(table.session_digest) != session_digest(key.session_id),
        col(table.state).in_(LIVE),
        col(table.held),
    )
    async with db.read_sessions() as session:
        return [(OwnReservations.of(attempt), attempt) for attempt in (await session.exec(query)).all()]


async def stock_held_by_others(
    db: DatabaseReader, partner_id: int, key: CheckoutKey
) -> Mapping[tuple[int, int | None], int]:
    """The stock that live payments for other carts hold, by product and variant."""
    table = AttemptRow
    query = select(table).where(
        col(table.partner_id) == partner_id,
        col(table.cart_id) != key.cart_id,
        col(table.state).in_(LIVE),
        col(table.held),
    )
    held: Counter[tuple[int, int | None]] = Counter()
    async with db.read_sessions() as session:
        for attempt in (await session.exec(query)).all():
            held.update(OwnReservations.of(attempt).stock)
    return held


async def usable_codes(
    db: DatabaseReader,
    partner_id: int,
    codes: Sequence[str],
    now: dt.datetime,
    own: OwnReservations,
    targets: Iterable[CouponTarget],
    *,
    takes_gift_cards: bool,
) -> list[CouponRow | UsableCard]:
    """The usable coupons and gift cards for these codes, in the order of the codes: coupons for one of the `targets`,
    gift cards of the partner, and of its network if the partner takes part in them.

    Gift cards pay nothing of the network: each purchase would restart the validity of the money.
    """
    normal_codes = [normalize(code) for code in codes]
    if not normal_codes:
        return []
    of_coupons = col(CouponRow.partner_id) == partner_id, col(CouponRow.normal_code).in_(normal_codes)
    of_cards = col(GiftCardRow.normal_code).in_(normal_codes), is_accepted_at(partner_id), is_in_mode_of(partner_id)
    async with db.read_sessions() as session:
        coupons = (await session.exec(select(CouponRow).where(*of_coupons))).all()
        cards = (await session.exec(select(GiftCardRow).where(*of_cards))).all()
        partner = await session.get(PartnerRow, partner_id) if any(map(is_of_network, cards)) else None
    usable: dict[str, CouponRow | UsableCard] = {}
    for card in cards if takes_gift_cards else ():
        found = usable_card(card, partner, now, held=own.cards.get(card.id, Decimal("0.00")))
        if found is not None:
            usable[card.normal_code] = found
    for coupon in coupons:
        if is_running(coupon, now, targets, own_uses=int(coupon.id in own.coupons)):
            usable[coupon.normal_code] = coupon
    return [usable[code] for code in dict.fromkeys(normal_codes) if code in usable]


def product_ids_of(choices: Sequence[ProductChoice]) -> list[int]:
    """The distinct product ids, without those outside the range of a 32-bit integer."""
    return sorted({c.product_id for c in choices if 0 < c.product_id < 2**31})
