"""The tests' own Redis servers start on a busy machine too."""

import pathlib
import threading

import pytest

from tests.servers.ports import free_port
from tests.servers.redis_servers import RedisCluster, RedisServer

HANDSHAKE_SECONDS = 1.0
"""What Redis gives a handshake at least, however short a node's timeout is."""


def test_a_port_is_drawn_once() -> None:
    ports = [free_port() for _ in range(200)]
    assert len(set(ports)) == len(ports)


@pytest.mark.redis
def test_a_server_whose_port_is_taken_by_another_says_so(redis_server: RedisServer, tmp_path: pathlib.Path) -> None:
    late = RedisServer(tmp_path)
    late.port = redis_server.port
    with pytest.raises(RuntimeError, match="already in use"):
        late.start()


@pytest.mark.redis
def test_a_cluster_meets_though_its_first_introduction_was_not_answered(redis_folder: pathlib.Path) -> None:
    cluster = RedisCluster(redis_folder, "--cluster-node-timeout", "500", masters=2)
    try:
        for node in cluster.nodes:
            node.start()
        cluster.share_slots()
        cluster.nodes[0].pause()
        resumed = threading.Timer(2 * HANDSHAKE_SECONDS, cluster.nodes[0].resume)
        resumed.start()
        cluster.meet()
        resumed.join()
    finally:
        cluster.kill()
