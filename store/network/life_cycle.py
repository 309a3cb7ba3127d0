"""The life of what networks sell, gift cards and vouchers alike: issued, activated, extended, expired, cancelled.

What a network owes for one is in the ledger all the time, less its `unowed_amount`.
"""

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import NotExtendable
from schema.event import EventType
from schema.network.usage import NOTHING
from store.core.state_machine import StateMachine
from store.database.unique_codes import add_with_unique_codes
from store.event.data import datetime_data
from store.event.events import NewEvent, emit
from store.gift_card.states import Limited
from store.ledger.books import book_of_marketplace
from store.ledger.posting import Journal, post
from store.network.postings import (
    NetworkLiability,
    breakage_journal,
    breakage_reversal_journal,
    issue_journal,
    issue_journals,
    void_journal,
)
from store.network.states import check_activatable, check_not_over
from store.partner.partners import MarketplaceRow


class SoldGood(Limited, Protocol):
    """A gift card or a voucher of a network."""

    id: int
    code: str
    normal_code: str
    status: Any
    is_test: bool
    expires_on: dt.datetime | None
    unowed_amount: Decimal


G = TypeVar("G", bound=SoldGood)


class LifeCycle(ABC, Generic[G]):
    """What happens to one kind of goods. Rows that exist are locked by the caller."""

    row: type[G]
    name: ClassVar[str]
    """How its events begin."""
    states: StateMachine[Any]
    status: Any
    """The enumeration of its statuses."""
    usable: ClassVar[Collection[StrEnum]]
    """The statuses of what can be used."""
    code_key: ClassVar[str]
    network_id: ClassVar[str]
    """The column of its network."""
    books_breakage: ClassVar[str]
    """The column of the network's setting."""

    @abstractmethod
    def liability_of(self, good: G) -> NetworkLiability:
        """What a network owes for one."""

    @abstractmethod
    def is_issued_as_test(self, good: G) -> bool:
        """True if a new one moves no real money."""

    @abstractmethod
    def left(self, good: G) -> Decimal:
        """The part of its value that is not used."""

    @abstractmethod
    async def status_by_rest(self, db: AsyncSession, good: G) -> StrEnum:
        """Its status while it is valid, by what is used and what is left."""

    @abstractmethod
    async def open(self, db: AsyncSession, book_id: int, goods: Sequence[G]) -> None:
        """Complete new rows, which belong to a book."""

    @abstractmethod
    def event_data(self, good: G) -> Mapping[str, Any]:
        """What its events say. They never contain the code, which is worth money."""

    def network_of(self, good: G) -> int:
        network_id: int = getattr(good, self.network_id)
        return network_id

    def event(self, action: str, good: G, partner_id: int | None = None, **more: Any) -> NewEvent:
        """An event with its state after a change, for the network, and for the partner where it was used. `more` adds keys."""
        kind, data = EventType(f"{self.name}.{action}"), {**self.event_data(good), **more}
        return NewEvent(kind, str(good.id), data, partner_id=partner_id, marketplace_id=self.network_of(good))

    async def issue(self, db: AsyncSession, *goods: G) -> None:
        """Store new ones of one network, all of them to try with or none, and post what is left of their value, unless they
        are drafts or cancelled. Those without a code of their own get a random one.
        """
        if not goods:
            return
        is_test = self.is_issued_as_test(goods[0])
        await self.open(db, await book_of_marketplace(db, self.network_of(goods[0]), is_live=not is_test), goods)
        for good in goods:
            good.is_test = is_test
            if good.status in (self.status.DRAFT, self.status.CANCELLED):
                good.unowed_amount = self.left(good)
        await add_with_unique_codes(db, goods, self.code_key)
        owed = [(self.liability_of(good), self.left(good)) for good in goods if not good.unowed_amount]
        await post(db, await issue_journals(db, owed))
        await emit(db, *(self.event("issued", good) for good in goods))

    async def activate(self, db: AsyncSession, good: G, now: dt.datetime) -> bool:
        """Let a draft be used, since it is paid; returns False if it is paid already. Raises InvalidTransition for other
        statuses, Expired for a draft whose end is past.
        """
        if good.status in self.usable:
            return False
        check_activatable(self.states, good.status, self.status.DRAFT, self.status.PAID)
        check_not_over(good.expires_on, now)
        self.states.change(good, self.status.PAID)
        good.unowed_amount = NOTHING
        await post(db, [await issue_journal(db, self.liability_of(good), self.left(good))])
        await emit(db, self.event("activated", good))
        return True

    async def cancel(self, db: AsyncSession, good: G, refunded: Decimal = NOTHING) -> bool:
        """Cancel it; returns False if it is cancelled already. What is left of it is owed no more. `refunded` is what goes
        back to its buyer next: as much of what was booked as breakage is no income after all.
        """
        liability, booked = self.liability_of(good), NOTHING
        if good.status is self.status.EXPIRED:
            booked = min(good.unowed_amount, refunded)
        owed = self.left(good) - good.unowed_amount + booked
        expired_on = good.expires_on
        if not self.states.change(good, self.status.CANCELLED):
            return False
        good.unowed_amount = self.left(good)
        if booked and expired_on is not None:
            await post(db, [breakage_reversal_journal(liability, booked, expired_on)])
        await post(db, [await void_journal(db, liability, owed, refunded=refunded)])
        await emit(db, self.event("cancelled", good))
        return True

    async def extend(self, db: AsyncSession, good: G, expires_on: dt.datetime) -> None:
        """Extend its validity. What has expired can be used again; what was booked as breakage is owed again.

        Raises NotExtendable for what never expires, is used up or cancelled.
        """
        old = good.expires_on
        if old is None or good.status not in (self.status.DRAFT, *self.usable, self.status.EXPIRED):
            raise NotExtendable
        good.expires_on = expires_on
        if good.status is self.status.EXPIRED:
            self.states.change(good, await self.status_by_rest(db, good))
            booked, good.unowed_amount = good.unowed_amount, NOTHING
            await post(db, [breakage_reversal_journal(self.liability_of(good), booked, old)])
        await emit(db, self.event("extended", good, old_expires_on=datetime_data(old)))

    async def take_back(self, db: AsyncSession, good: G, amount: Decimal, returned_by: str) -> Sequence[Journal]:
        """Set the status of what a used amount has come back to. An expired one stays expired: the amount is not owed if
        its network books breakage; returns the journal then. `returned_by` names what has brought it back.
        """
        if good.status is not self.status.EXPIRED:
            self.states.change(good, await self.status_by_rest(db, good))
            return ()
        network = await db.get_one(MarketplaceRow, self.network_of(good))
        if good.expires_on is None or not getattr(network, self.books_breakage):
            return ()
        good.unowed_amount += amount
        return [breakage_journal(self.liability_of(good), amount, good.expires_on, returned_by)]

    async def expire(self, db: AsyncSession, now: dt.datetime, most: int) -> int:
        """Expire at most `most` that are due, oldest first; returns their number. Locked ones are skipped.

        What they have left stays owed, unless their network books it as breakage.
        """
        row, network_id = self.row, getattr(self.row, self.network_id)
        due = (
            select(row, getattr(MarketplaceRow, self.books_breakage))
            .join(MarketplaceRow, col(MarketplaceRow.id) == network_id)
            .where(col(row.status).in_(self.usable), col(row.expires_on) <= now)
            .order_by(col(row.expires_on), col(row.id))
            .limit(most)
            .with_for_update(skip_locked=True, of=row)
        )
        rows = (await db.exec(due)).all()
        journals = list[Journal]()
        for good, books_breakage in rows:
            self.states.change(good, self.status.EXPIRED)
            if books_breakage and good.expires_on is not None:
                good.unowed_amount = self.left(good)
                journals.append(breakage_journal(self.liability_of(good), self.left(good), good.expires_on))
        await post(db, journals)
        await emit(db, *(self.event("expired", good) for good, _ in rows))
        return len(rows)
