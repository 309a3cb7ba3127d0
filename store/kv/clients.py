"""Makes redis-py's clients. Imported by installations with Redis only: it takes 8 MB and a tenth of a second."""

import datetime as dt
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import ReadOnlyError

from store.core.clock import Clock
from store.kv.server import ServerKeyValue

CONNECTIONS = 64
"""Per server and process."""
TIMEOUT = dt.timedelta(seconds=1)
"""The time limit for connecting, for a response, and for a free connection. A script takes microseconds."""
RETRIES = 2
DEFAULT_PORT = 6379


def open_server(url: str, clock: Clock) -> ServerKeyValue:
    """The engine on one server. Raises ValueError for an address that redis-py cannot read."""
    # A server that has become a replica refuses writes: reconnecting finds its successor behind the same name.
    client = Redis.from_url(url, retry_on_error=[ReadOnlyError], **_client_options())
    return ServerKeyValue(client, clock, connections=CONNECTIONS, timeout=TIMEOUT)


def open_cluster(scheme: str, address: str, clock: Clock) -> ServerKeyValue:
    """The engine on a cluster, of which the address names some nodes. Raises ValueError as above."""
    authority, separator, rest = address.partition("/") if "/" in address else address.partition("?")
    user, at, hosts = authority.rpartition("@")
    first, *others = hosts.split(",")
    nodes = [urlsplit(f"//{host}") for host in others]
    client = RedisCluster.from_url(
        f"{scheme}://{user}{at}{first}{separator}{rest}",
        startup_nodes=[ClusterNode(node.hostname or "localhost", node.port or DEFAULT_PORT) for node in nodes],
        **_client_options(),
    )
    return ServerKeyValue(client, clock, connections=CONNECTIONS, timeout=TIMEOUT)


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
