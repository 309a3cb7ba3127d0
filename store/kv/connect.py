"""Opens the key-value store at an address."""

from store.core.clock import Clock
from store.kv.memory import DEFAULT_MEMORY_LIMIT, MemoryKeyValue, MemoryLimit
from store.kv.protocol import KeyValueStore


def open_kv(redis_url: str, clock: Clock, limit: MemoryLimit = DEFAULT_MEMORY_LIMIT) -> KeyValueStore:
    """The engine at an address; it connects at its first use.

    `""` selects this process, within `limit`. `redis://host:port/0` and `rediss://…` (TLS) select a server;
    `redis+cluster://host:port,host:port` and `rediss+cluster://…` select a cluster, of which any node will do. User,
    password and the options of redis-py's URLs, such as `?ssl_ca_certs=/etc/ca.pem`, are part of the address. Raises
    ValueError for any other address.
    """
    if not redis_url:
        return MemoryKeyValue(clock, limit)
    scheme, _, address = redis_url.partition("://")
    from store.kv.clients import open_cluster, open_server  # redis-py, which the engine in this process does not need

    if scheme in {"redis", "rediss"} and address:
        return open_server(redis_url, clock)
    if scheme in {"redis+cluster", "rediss+cluster"} and address:
        return open_cluster(scheme.removesuffix("+cluster"), address, clock)
    raise ValueError(
        "REDIS_URL is redis://host:port/0, rediss://host:port/0 (TLS), redis+cluster://host:port,host:port or "
        "rediss+cluster://host:port,host:port."
    )
