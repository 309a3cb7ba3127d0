"""Closing a listening socket while clients connect."""

import asyncio
import contextlib
import ctypes
import socket
import struct
import sys

import uvicorn

SO_ATTACH_FILTER = 26
"""Linux's socket option that attaches a packet filter; Python has no name for it."""
DROP_SYN = ((0x30, 0, 0, 13), (0x54, 0, 0, 0x12), (0x15, 0, 1, 0x02), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF))
"""Classic BPF: load the TCP flags; drop a segment that has SYN but not ACK; pass all others."""
HANDSHAKE_SECONDS = 0.2
"""How long those who have begun to connect are waited for."""


def hold_new_clients(listener: socket.socket) -> None:
    """Let nobody begin to connect from now on. On Linux; elsewhere it does nothing.

    The kernel resets a client that connects between the last `accept` and the closing. One whose SYN is dropped asks
    again a second later, and is refused, or served by a server that listens then.
    """
    if sys.platform == "linux":
        program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in DROP_SYN))
        with contextlib.suppress(OSError):
            listener.setsockopt(
                socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(DROP_SYN), ctypes.addressof(program))
            )


class GracefulServer(uvicorn.Server):
    """uvicorn's server of a single process: nobody connects while it closes its sockets."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in sockets or []:
            hold_new_clients(listener)
        await asyncio.sleep(HANDSHAKE_SECONDS)
        await super().shutdown(sockets)
