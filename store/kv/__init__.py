"""Short-lived data (carts, customers' sessions, counts): in this process, in Redis, or in a Redis Cluster.

`open_kv` chooses the engine. All engines implement `KeyValueStore`. Keys that one call uses together must share a hash
tag (the part in braces, as in `coffret:{p7}:…`), so that a cluster stores them on one node.
"""

from store.kv.connect import open_kv
from store.kv.memory import MemoryLimit
from store.kv.protocol import (
    ExpiredRecord,
    ExpiryIndex,
    IdempotentWrite,
    Increment,
    KeyValueStore,
    Record,
    WindowCount,
    WriteCondition,
    WriteMode,
    WriteResult,
)

__all__ = [
    "ExpiredRecord",
    "ExpiryIndex",
    "IdempotentWrite",
    "Increment",
    "KeyValueStore",
    "MemoryLimit",
    "Record",
    "WindowCount",
    "WriteCondition",
    "WriteMode",
    "WriteResult",
    "open_kv",
]
