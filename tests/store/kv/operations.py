"""Every operation of a store of keys and values, to be tried on servers that a test has broken."""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable

from schema.cart.cart import Cart
from store.core.clock import Clock, clock
from store.kv import ExpiredRecord, ExpiryIndex, Increment, KeyValueStore, WriteMode, open_kv
from store.kv import IdempotentWrite as Keep

LIFE = dt.timedelta(hours=2)
KEY = "test:{p1}:record"


class ProcessClock(Clock):
    """The clock of one process: it follows the others, and may be behind them."""

    def __init__(self) -> None:
        super().__init__()
        self.behind = dt.timedelta()

    def now(self) -> dt.datetime:
        return clock.now() - self.behind

    def timestamp(self) -> float:
        return clock.timestamp() - self.behind.total_seconds()


async def its_version(version: int) -> bytes:
    """An answer that tells the version."""
    return b"%d" % version


KEEP = Keep("test:{p1}:once", b"f", LIFE, its_version)
EXPIRIES = ExpiryIndex("test:{p1}:expiries", LIFE, LIFE, dt.timedelta(days=3))
OPERATIONS: dict[str, Callable[[KeyValueStore], Awaitable[object]]] = {
    "get": lambda kv: kv.get(KEY),
    "touch": lambda kv: kv.touch(KEY, LIFE),
    "write": lambda kv: kv.write(KEY, b"1", LIFE),
    "write if": lambda kv: kv.write(KEY, b"1", LIFE, when=WriteMode.PRESENT),
    "write once": lambda kv: kv.write(KEY, b"1", LIFE, idempotent=KEEP),
    "write noted": lambda kv: kv.write(f"{KEY}:noted", b"1", LIFE, expiry_index=EXPIRIES),
    "expired": lambda kv: kv.expired(EXPIRIES, limit=1),
    "cross off": lambda kv: kv.acknowledge(EXPIRIES, [ExpiredRecord(f"{KEY}:noted", 1, None)]),
    "delete": lambda kv: kv.delete(KEY),
    "increment": lambda kv: kv.increment(f"{KEY}:count", LIFE),
    "increment all": lambda kv: kv.increment_all(Increment(f"{KEY}:count", LIFE), Increment(f"{KEY}:other", LIFE)),
    "ping": lambda kv: kv.ping(),
}


@contextlib.asynccontextmanager
async def open_store(url: str, at: Clock = clock) -> AsyncIterator[KeyValueStore]:
    """A store at an address."""
    kv = open_kv(url, at)
    try:
        yield kv
    finally:
        await kv.aclose()


async def an_answer(_cart: Cart) -> bytes:
    """An answer that is always the same."""
    return b"answer"
