"""Customers of a partner: one for each e-mail address, and a new one each time for people without an address."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Index, Table, func, text, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.customer import Customer
from store.core.clock import now
from store.core.row import CreatedOn, PartnerOwned
from store.database.loaders import is_any_of
from store.database.text_search import declare_searchable

IS_KNOWN = text("normal_email IS NOT NULL")
"""Those that lists have: people without an address, and those who were erased, are in none."""


class CustomerRow(PartnerOwned, CreatedOn, Customer, table=True):
    """A customer. `normal_email` is the e-mail address in lower case for look-ups; null if there is none."""

    __tablename__ = "customer"
    __table_args__ = (
        Index("customer_email_key", "partner_id", "normal_email", unique=True),
        Index("customer_created_on_list_idx", "partner_id", "created_on", "id", postgresql_where=IS_KNOWN),
        Index("customer_last_name_list_idx", "partner_id", "last_name", "id", postgresql_where=IS_KNOWN),
        Index("customer_newest_idx", "created_on", "id", postgresql_where=IS_KNOWN),
        Index("customer_name_idx", "last_name", "id", postgresql_where=IS_KNOWN),
    )
    normal_email: str | None = Field(default=None, max_length=254)


declare_searchable(
    cast("Table", CustomerRow.__table__),  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
    {"person_text": ("p", "search_text(first_name || ' ' || last_name || chr(10) || email)")},
)


@dataclass(frozen=True, slots=True)
class Person:
    """A person's data as received; empty means unknown."""

    first_name: str = ""
    last_name: str = ""
    email: str = ""

    @property
    def normal_email(self) -> str:
        """The address as it is matched: trimmed and in lower case."""
        return self.email.strip().lower()


async def customer_for(db: AsyncSession, partner_id: int, first_name: str, last_name: str, email: str) -> int | None:
    """The id of the partner's customer with this e-mail address, created if needed.

    Returns None if neither a name nor an address is known. Case does not matter. The last received names are stored; an
    empty name changes nothing. A person without an address is a new customer each time. Concurrent transactions with
    the same address get one customer. Transactions that need several customers must use `customers_for`.
    """
    who = Person(first_name, last_name, email)
    return (await customers_for(db, partner_id, [who]))[who]


async def customers_for(db: AsyncSession, partner_id: int, people: Iterable[Person]) -> Mapping[Person, int | None]:
    """`customer_for` for several people, in two statements for those with an address.

    Addresses are processed in one order, so that two transactions cannot deadlock.
    """
    people_once = dict.fromkeys(people)
    known = {who.normal_email: who for who in sorted(people_once, key=lambda who: who.normal_email) if who.normal_email}
    by_email = await _with_addresses(db, partner_id, list(known.values()))
    nameless = [who for who in people_once if not who.normal_email and (who.first_name or who.last_name)]
    rows = [CustomerRow(partner_id=partner_id, first_name=w.first_name, last_name=w.last_name) for w in nameless]
    db.add_all(rows)
    await db.flush()
    without = {who: row.id for who, row in zip(nameless, rows, strict=True)}
    return {who: by_email.get(who.normal_email, without.get(who)) for who in people_once}


async def _with_addresses(db: AsyncSession, partner_id: int, people: Sequence[Person]) -> Mapping[str, int]:
    """Customer ids by normalized address. `people` must be sorted by address."""
    if not people:
        return {}
    new = insert(CustomerRow).values(
        [
            {
                "partner_id": partner_id,
                "first_name": who.first_name,
                "last_name": who.last_name,
                "email": who.email.strip(),
                "normal_email": who.normal_email,
                "created_on": now(),
            }
            for who in people
        ]
    )
    there, excluded = CustomerRow, new.excluded
    first = func.coalesce(func.nullif(excluded.first_name, ""), there.first_name)
    last = func.coalesce(func.nullif(excluded.last_name, ""), there.last_name)
    upsert = new.on_conflict_do_update(
        index_elements=["partner_id", "normal_email"],
        set_={"first_name": first, "last_name": last},
        where=tuple_(there.first_name, there.last_name) != tuple_(first, last),
    )
    await db.exec(upsert)
    query = select(col(there.normal_email), col(there.id)).where(
        col(there.partner_id) == partner_id, is_any_of(col(there.normal_email), [who.normal_email for who in people])
    )
    return {email: id for email, id in (await db.exec(query)).all() if email is not None}
