"""What is held in memory for a while (carts, customers' sessions, counts): in this process, in Redis, or in a Redis Cluster.

`open_kv` chooses the engine; all of them keep every promise of `KeyValue`. Keys that are used together in one call must
share a hash tag (the part in braces, as in `coffret:{p7}:…`), so that a cluster keeps them on one node.
"""

from store.kv.connect import open_kv
from store.kv.memory import Room
from store.kv.protocol import Condition, Count, Expired, Expiries, KeyValue, Once, Record, When, Written

__all__ = [
    "Condition",
    "Count",
    "Expired",
    "Expiries",
    "KeyValue",
    "Once",
    "Record",
    "Room",
    "When",
    "Written",
    "open_kv",
]
