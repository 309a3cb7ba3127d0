"""Payouts to a bank, as the shortest durable call there is: a row, what is sent, what is recorded, what is refused."""

import asyncio
import datetime as dt
import enum
import uuid
from dataclasses import dataclass, field

from sqlalchemy import MetaData
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, ProviderChecks, Recording, RefusedCall
from resolvers.core.services import Services
from schema.core.columns import enum_column
from store.core.clock import clock
from store.core.provider_process import CheckedRow, CheckIntervals, ReferencedRow
from store.core.state_machine import StateMachine
from store.job.jobs import JobKind
from store.providers.errors import InvalidRequest, TransientError

METADATA = MetaData()


class PayoutState(enum.StrEnum):
    """The state of a payout."""

    BEGUN = "begun"
    SENT = "sent"
    DONE = "done"
    REFUSED = "refused"


S = PayoutState
TRANSITIONS = StateMachine("A payout", {S.BEGUN: {S.SENT, S.DONE, S.REFUSED}, S.SENT: {S.DONE}})
INTERVALS = CheckIntervals(
    by_age=((dt.timedelta(minutes=3), dt.timedelta(seconds=30)), (dt.timedelta(hours=1), dt.timedelta(minutes=5))),
    longest=dt.timedelta(days=1),
)


class Own(SQLModel):
    """The base of the table that only these tests have."""

    metadata = METADATA


class PayoutRow(Own, CheckedRow, ReferencedRow, table=True):
    """A payout, stored before the bank is asked for it."""

    __tablename__ = "example_payout"
    id: uuid.UUID = Field(default_factory=uuid.uuid4, primary_key=True)
    key: uuid.UUID = Field(default_factory=uuid.uuid4)
    state: PayoutState = enum_column(PayoutState, "State.", default=S.BEGUN)
    tries: int = 0


@dataclass(frozen=True)
class Movement:
    """What the bank says about a payout."""

    id: str
    state: PayoutState


@dataclass
class Bank:
    """A bank that makes one payout for a key. A test decides what it answers, and when."""

    movements: dict[uuid.UUID, Movement] = field(default_factory=dict)
    calls: int = 0
    fails: Exception | None = None
    """Raised after the payout was made, as when the answer is lost; a refusal makes none."""
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.answers.set()

    async def pay_out(self, key: uuid.UUID) -> Movement:
        """Make a payout, or find the one of this key."""
        self.calls += 1
        if not isinstance(self.fails, InvalidRequest):
            self.movements.setdefault(key, Movement(f"po_{len(self.movements)}", S.SENT))
        return await self._answer(key)

    async def read(self, key: uuid.UUID) -> Movement:
        """The payout of a key."""
        return await self._answer(key)

    async def _answer(self, key: uuid.UUID) -> Movement:
        known = self.movements.get(key)
        self.called.set()
        await self.answers.wait()
        if self.fails is not None:
            raise self.fails
        if known is None:
            raise TransientError("There is none yet.")
        return known

    def finish(self, key: uuid.UUID) -> None:
        """The money has arrived."""
        self.movements[key] = Movement(self.movements[key].id, S.DONE)


async def _lock(db: AsyncSession, row: PayoutRow) -> PayoutRow:
    return (await db.exec(select(PayoutRow).where(col(PayoutRow.id) == row.id).with_for_update())).one()


async def _record(_: Recording, row: PayoutRow, movement: Movement) -> PayoutRow:
    if TRANSITIONS.allows(row.state, movement.state):
        row.state, row.provider_id = movement.state, movement.id
    row.tries += 1
    row.check_on = next_check(row, clock.now())
    return row


async def _refuse(_: Recording, row: PayoutRow, refused: RefusedCall[PayoutRow]) -> None:
    if row.key == refused.row.key and row.state is S.BEGUN:
        row.state, row.check_on = S.REFUSED, None


def next_check(row: PayoutRow, now: dt.datetime) -> dt.datetime | None:
    """Every half minute until it is final."""
    return None if row.state in {S.DONE, S.REFUSED} else now + dt.timedelta(seconds=30)


PAYOUT = ProviderCall(lock=_lock, record=_record, refuse=_refuse)


def checks_at(bank: Bank) -> ProviderChecks[PayoutRow]:
    """The checks of payouts at a bank."""

    async def check(services: Services, id: uuid.UUID) -> None:
        row = await read(services, id)
        await PAYOUT.look_up(services, row, bank.read(row.key))

    return ProviderChecks(row=PayoutRow, job=JobKind.SEND_MAIL, next_check=next_check, check=check)


async def begin(services: Services) -> PayoutRow:
    """Store a payout that is due."""
    row = PayoutRow(check_on=clock.now())
    async with services.db.sessions() as db, db.begin():
        db.add(row)
    return row


async def read(services: Services, id: uuid.UUID) -> PayoutRow:
    """The stored payout."""
    async with services.db.sessions() as db:
        return await db.get_one(PayoutRow, id)
