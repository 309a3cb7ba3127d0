"""Opens the key-value store at an address."""

import datetime as dt
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import ReadOnlyError

from store.core.clock import Clock
from store.kv.memory import DEFAULT_MEMORY_LIMIT, MemoryKeyValue, MemoryLimit
from store.kv.protocol import KeyValueStore
from store.kv.server import ServerKeyValue

CONNECTIONS = 64
"""Per server and process."""
TIMEOUT = dt.timedelta(seconds=1)
"""The time limit for connecting, for a response, and for a free connection. A script takes microseconds."""
RETRIES = 2
DEFAULT_PORT = 6379


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
    client: Redis | RedisCluster
    if scheme in {"redis", "rediss"} and address:
        client = _server(redis_url)
    elif scheme in {"redis+cluster", "rediss+cluster"} and address:
        client = _cluster(scheme.removesuffix("+cluster"), address)
    else:
        raise ValueError(
            "REDIS_URL is redis://host:port/0, rediss://host:port/0 (TLS), redis+cluster://host:port,host:port or "
            "rediss+cluster://host:port,host:port."
        )
    return ServerKeyValue(client, clock, connections=CONNECTIONS, timeout=TIMEOUT)


def _server(url: str) -> Redis:
    # A server that has become a replica refuses writes: reconnecting finds its successor behind the same name.
    return Redis.from_url(url, retry_on_error=[ReadOnlyError], **_client_options())


def _cluster(scheme: str, address: str) -> RedisCluster:
    authority, separator, rest = address.partition("/") if "/" in address else address.partition("?")
    user, at, hosts = authority.rpartition("@")
    first, *others = hosts.split(",")
    nodes = [urlsplit(f"//{host}") for host in others]
    return RedisCluster.from_url(
        f"{scheme}://{user}{at}{first}{separator}{rest}",
        startup_nodes=[ClusterNode(node.hostname or "localhost", node.port or DEFAULT_PORT) for node in nodes],
        **_client_options(),
    )


def _client_options() -> dict[str, Any]:
    seconds = TIMEOUT.total_seconds()
    return {
        "client_name": "coffret",
        "health_check_interval": 30,
        "max_connections": CONNECTIONS,
        "retry": Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.2), RETRIES),
        "socket_connect_timeout": seconds,
        "socket_timeout": None,  # ServerKeyValue has its own timeouts
    }
