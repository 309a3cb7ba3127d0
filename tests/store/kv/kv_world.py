"""Every operation of a store of keys and values, to be tried on servers that a test has broken."""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable

from schema.cart.cart import Cart
from store.core.clock import clock
from store.kv import Expired, Expiries, KeyValue, When, open_kv
from store.kv import Once as Keep

LIFE = dt.timedelta(hours=2)
KEY = "test:{p1}:record"


async def its_version(version: int) -> bytes:
    """An answer that tells the version."""
    return b"%d" % version


KEEP = Keep("test:{p1}:once", b"f", LIFE, its_version)
EXPIRIES = Expiries("test:{p1}:expiries", LIFE, LIFE, dt.timedelta(days=3))
OPERATIONS: dict[str, Callable[[KeyValue], Awaitable[object]]] = {
    "get": lambda kv: kv.get(KEY),
    "touch": lambda kv: kv.touch(KEY, LIFE),
    "write": lambda kv: kv.write(KEY, b"1", LIFE),
    "write if": lambda kv: kv.write(KEY, b"1", LIFE, when=When.PRESENT),
    "write once": lambda kv: kv.write(KEY, b"1", LIFE, once=KEEP),
    "write noted": lambda kv: kv.write(f"{KEY}:noted", b"1", LIFE, expiries=EXPIRIES),
    "expired": lambda kv: kv.expired(EXPIRIES, most=1),
    "cross off": lambda kv: kv.cross_off(EXPIRIES, [Expired(f"{KEY}:noted", 1, None)]),
    "delete": lambda kv: kv.delete(KEY),
    "increment": lambda kv: kv.increment(f"{KEY}:count", LIFE),
    "ping": lambda kv: kv.ping(),
}


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncIterator[KeyValue]:
    """A store at an address."""
    kv = open_kv(url, clock)
    try:
        yield kv
    finally:
        await kv.aclose()


async def an_answer(_cart: Cart) -> bytes:
    """An answer that is always the same."""
    return b"answer"
