"""Ports for the servers that tests start."""

import contextlib
import itertools
import secrets
import socket

RANGE = range(20_000, 32_000)
"""Below the ports that systems give to outgoing connections, any of which could take a port between its draw and its use."""

_claims: list[socket.socket] = []


def free_port() -> int:
    """A TCP port of this machine that nobody listens on and that no other test draws while this process lives.

    The claim is a UDP socket of the same number, which other test processes fail to bind.
    """
    first = RANGE.start + secrets.randbelow(len(RANGE))
    for port in itertools.chain(range(first, RANGE.stop), range(RANGE.start, first)):
        claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with contextlib.suppress(OSError), socket.socket() as probe:
            claim.bind(("127.0.0.1", port))
            probe.bind(("127.0.0.1", port))
            _claims.append(claim)
            return port
        claim.close()
    raise OSError(f"No port from {RANGE.start} to {RANGE.stop} is free.")
