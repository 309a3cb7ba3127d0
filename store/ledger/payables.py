"""Payable items: what journals change about the earnings of partners. Each goes into one payout."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.ledger.accounts import LedgerAccount

EARNINGS = (Role.PARTNER, Role.PARTNER_NETWORK)
"""The accounts of what partners have earned and not received yet."""
WITHOUT_ITEMS = frozenset({Kind.PAYOUT_VALIDATED, Kind.PAYOUT_FAILED})
"""The journals that pay items out, or free them: they change no earnings of their own."""
INSERT = """
    INSERT INTO payable_item (journal_id, book_id, marketplace_id, partner_id, own_amount, network_amount, payable_on)
    SELECT j.id, j.book_id, j.marketplace_id, g.partner_id, g.own_amount, g.network_amount,
        coalesce((g.payable_at AT TIME ZONE m.time_zone)::date, j.effective_on)
    FROM unnest({journal_ids}::bigint[], {partner_ids}::int[], {own}::bigint[], {network}::bigint[], {payable_at}::timestamptz[])
        AS g (journal_id, partner_id, own_amount, network_amount, payable_at)
    JOIN ledger_journal j ON j.id = g.journal_id JOIN marketplace m ON m.id = j.marketplace_id
"""
"""Inserts items with the columns of `NewPayableItem`. It is run with the statement that inserts the entries."""
MOVE = text("""
    UPDATE payable_item i SET payable_on = CASE WHEN j.kind IN ('payment', 'capture')
        THEN coalesce((CAST(:payable_at AS timestamptz) AT TIME ZONE m.time_zone)::date, j.effective_on)
        ELSE greatest((CAST(:payable_at AS timestamptz) AT TIME ZONE m.time_zone)::date, j.effective_on) END
    FROM ledger_journal j JOIN marketplace m ON m.id = j.marketplace_id
    WHERE i.journal_id = j.id AND j.id = ANY(CAST(:journal_ids AS bigint[])) AND NOT EXISTS (
        SELECT 1 FROM payout_request r WHERE r.id = i.payout_request_id AND r.status <> 'to be validated')
""")


class PayableItemRow(SQLModel, table=True):
    """A change of a partner's earnings, written with its journal. All of a partner together are the balances of
    `partner` and `partner_network`, in each book; those in a validated payout request are not counted.

    It has no foreign keys, as entries have none: what it names is that of its journal and accounts.
    """

    __tablename__ = "payable_item"
    __table_args__ = (
        UniqueConstraint("journal_id", "partner_id", name="payable_item_key"),
        Index("payable_item_due_idx", "partner_id", "payable_on", postgresql_where=text("payout_request_id IS NULL")),
        Index(
            "payable_item_of_payout_idx", "payout_request_id", postgresql_where=text("payout_request_id IS NOT NULL")
        ),
        CheckConstraint("own_amount <> 0 OR network_amount <> 0", name="changes_something"),
    )
    id: int = Field(default=None, sa_type=BigInteger, primary_key=True)
    journal_id: int = Field(sa_type=BigInteger)
    book_id: int
    marketplace_id: int
    partner_id: int
    own_amount: int = Field(sa_type=BigInteger)
    """What lies in the partner's own wallet, in minor units; negative if it is less."""
    network_amount: int = Field(sa_type=BigInteger)
    """What lies in the marketplace's wallet."""
    payable_on: dt.date
    """The day that decides which payout it goes into, in the marketplace's time zone."""
    payout_request_id: int | None = Field(default=None)
    """The payout request that it is in. Cancelled ones, and those that failed, have none."""


@dataclass(frozen=True, slots=True)
class NewPayableItem:
    """What a journal changes about a partner's earnings, in minor units."""

    journal_id: int
    partner_id: int
    own_amount: int
    network_amount: int
    payable_at: dt.datetime | None


def payable_items(
    journal_id: int, kind: Kind, amounts: Iterable[tuple[LedgerAccount, int]], payable_at: dt.datetime | None
) -> Iterator[NewPayableItem]:
    """The payable items of a journal, by the amounts of its entries, debits positive."""
    if kind in WITHOUT_ITEMS:
        return
    earned: defaultdict[int, dict[Role, int]] = defaultdict(lambda: dict.fromkeys(EARNINGS, 0))
    for account, amount in amounts:
        if account.role in EARNINGS and account.owner_id is not None:
            earned[account.owner_id][account.role] -= amount
    for partner_id, by_role in earned.items():
        if any(by_role.values()):
            yield NewPayableItem(
                journal_id, partner_id, by_role[Role.PARTNER], by_role[Role.PARTNER_NETWORK], payable_at
            )


async def move_payable_items(db: AsyncSession, journal_ids: Sequence[int], payable_at: dt.datetime | None) -> None:
    """Have the items of journals count at another time; None: when each was recorded. What takes earnings back never counts
    before it was recorded. What is in a validated payout request stays as it is.
    """
    values = {"journal_ids": list(journal_ids), "payable_at": payable_at}
    await (await db.connection()).execute(MOVE, values)
