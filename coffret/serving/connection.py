"""A client connection with timeouts and graceful shutdown."""

import asyncio
import contextlib
import fcntl
import heapq
import sys
import termios
from typing import Any

from prometheus_client import Counter
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from coffret.serving.timeouts import ServerConfig

MAX_HEAD_BYTES = 65_536
"""Maximum size of a request's head."""
MIN_PROGRESS_BYTES = 4_096
"""Bytes that a client must send of a body, or receive of an answer, in each interval of `progress_seconds`."""
LINGER_SECONDS = 1.0
"""How long an idle connection stays open at shutdown: a request may already be on its way."""
CLOSED_CONNECTIONS = Counter(
    "coffret_connections_closed", "Connections closed by the server, by what it waited for.", ["waiting_for"]
)


class ClientConnection(HttpToolsProtocol):
    """uvicorn's connection with timeouts. It waits for a head, waits for a body, processes a request, or is idle."""

    config: ServerConfig

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = self.config.limits
        self.timeout_keep_alive = self._limits.idle_seconds  # type: ignore[assignment]  # uvicorn declares int; fractions work
        self.waiting_since = self.loop.time()
        self._head_timer: asyncio.TimerHandle | None = None
        self._body_timer: asyncio.TimerHandle | None = None
        self._drain_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._body_bytes = 0
        self._in_body = False
        self._stopping = False
        self._cycles: list[RequestResponseCycle] = []
        """Requests whose answers are incomplete. `cycle` is the last of them, not the one that runs."""
        self.connections.add(self)  # before it is made: the server's shutdown must not miss it

    @property
    def has_open_request(self) -> bool:
        """True if a request has an incomplete answer."""
        return self.cycle is not None and not self.cycle.response_complete

    # ---- protocol events

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the head timeout. Above the connection limit, close the slowest client or answer 503."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections and not self._evict_slowest():
            CLOSED_CONNECTIONS.labels("room").inc()
            self._send_error(503, "Too many connections. Try again later.", ((b"retry-after", b"5"),))
            return
        self._head_timer = self.loop.call_later(self._limits.header_seconds, self._on_head_timeout)
        if self._stopping:
            self._linger()

    def data_received(self, data: bytes) -> None:
        """Parse a part of a request and update the timeouts."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self.has_open_request and not self._in_body:
            self._await_head(len(data))
            return
        self._cancel_timer("_head_timer")
        self._head_bytes = 0
        if self._in_body:
            self._body_bytes += len(data)
            if self._body_timer is None:
                self._await_body()

    def on_headers_complete(self) -> None:
        self._in_body = True
        super().on_headers_complete()
        self._cycles = [*(each for each in self._cycles if not each.response_complete), self.cycle]
        if self._stopping:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer was written. The client may not have received it, and its request may still be incomplete."""
        self.waiting_since = self.loop.time()
        super().on_response_complete()
        self._await_final_drain()
        if self._stopping and not self.transport.is_closing():
            self._linger()

    def timeout_keep_alive_handler(self) -> None:
        self._close("idle")

    def pause_writing(self) -> None:
        """The client receives more slowly than we send."""
        super().pause_writing()
        if self._drain_timer is None:
            self._await_drain()

    def resume_writing(self) -> None:
        self._cancel_timer("_drain_timer")
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in ("_head_timer", "_body_timer", "_drain_timer"):
            self._cancel_timer(timer)
        self._unset_keepalive_if_required()
        self._notify_disconnect()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Stop gracefully: complete running requests, and ask clients to reconnect.

        An answer whose head was sent has promised that the connection stays open: it closes later, when idle.
        """
        self._stopping = True
        for cycle in self._cycles:
            if not cycle.response_started:
                cycle.keep_alive = False
        if self.transport is not None and not self.has_open_request:
            self._linger()

    # ---- timeouts

    def _await_head(self, received: int) -> None:
        if self._head_timer is None:
            self.waiting_since = self.loop.time()
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(self._limits.header_seconds, self._on_head_timeout)
        self._head_bytes += received
        if self._head_bytes > MAX_HEAD_BYTES:
            self._send_error(431, "The head of the request is too long.")

    def _on_head_timeout(self) -> None:
        if self._head_bytes:
            CLOSED_CONNECTIONS.labels("head").inc()
            self._send_error(408, "The request did not arrive in time.")
        else:
            self._close("head")

    def _await_body(self) -> None:
        self._body_bytes = 0
        self._body_timer = self.loop.call_later(self._limits.progress_seconds, self._on_body_timeout)

    def _on_body_timeout(self) -> None:
        """Close below MIN_PROGRESS_BYTES, unless we have paused reading or not yet sent 100 Continue."""
        ours = self.flow.read_paused or self.cycle.waiting_for_100_continue
        if not self._in_body:
            self._body_timer = None
        elif ours or self._body_bytes >= MIN_PROGRESS_BYTES:
            self._await_body()
        else:
            CLOSED_CONNECTIONS.labels("body").inc()
            self._send_error(408, "The body of the request did not arrive in time.")

    def _await_drain(self) -> None:
        left = self._unread_bytes()
        self._drain_timer = self.loop.call_later(self._limits.progress_seconds, self._on_drain_timeout, left)

    def _on_drain_timeout(self, before: int) -> None:
        left, self._drain_timer = self._unread_bytes(), None
        if not self.transport.get_write_buffer_size():
            return
        if before - left >= MIN_PROGRESS_BYTES:
            self._await_drain()
        else:
            CLOSED_CONNECTIONS.labels("reading").inc()
            self.transport.abort()

    def _unread_bytes(self) -> int:
        """Bytes of answers that the client has not received: uvicorn's write buffer and, on Linux, the socket's send
        queue.

        The send queue can be so large that the write buffer of a slow client does not shrink for a long time.
        """
        held = self._queued_bytes(termios.TIOCOUTQ) if sys.platform == "linux" else 0
        return self.transport.get_write_buffer_size() + held

    def _queued_bytes(self, queue: int) -> int:
        """Bytes in a queue of the socket, named by its ioctl; 0 if the socket is closed."""
        held = b"\0" * 4
        with contextlib.suppress(OSError):
            held = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), queue, held)
        return int.from_bytes(held, sys.byteorder)

    # ---- closing

    def _evict_slowest(self) -> bool:
        """Close the clients that have waited longest, several at once. Returns False if there are none to close."""
        open_now = [
            each
            for each in self.connections
            if isinstance(each, ClientConnection) and each.transport is not None and not each.transport.is_closing()
        ]
        if len(open_now) <= self._limits.connections:
            return True
        waiting = [each for each in open_now if each is not self and each.is_waiting_for_client]
        for each in heapq.nsmallest(
            max(1, len(waiting) // 16), waiting, key=lambda each: (each.has_open_request, each.waiting_since)
        ):
            CLOSED_CONNECTIONS.labels("room").inc()
            each.disconnect()
        return bool(waiting)

    @property
    def is_waiting_for_client(self) -> bool:
        """True if we wait for the client to send."""
        return self._in_body or not self.has_open_request

    def _send_error(self, status: int, text: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Answer an incomplete request with an error and close."""
        if not self.transport.is_closing() and not (self._in_body and self.cycle.response_started):
            said = text.encode()
            fields = (*self.server_state.default_headers, *headers, (b"content-type", b"text/plain; charset=utf-8"),
                      (b"content-length", str(len(said)).encode()), (b"connection", b"close"))  # fmt: skip
            lines = b"".join(b"%b: %b\r\n" % field for field in fields)
            self.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[status], lines, said))
        self.disconnect()

    def _linger(self) -> None:
        self.loop.call_later(LINGER_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        idle = not self.has_open_request and not self._head_bytes and not self.transport.is_closing()
        if idle and not self._queued_bytes(termios.FIONREAD):
            self.disconnect()

    def _close(self, because: str) -> None:
        CLOSED_CONNECTIONS.labels(because).inc()
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connection and signal the disconnect to running requests."""
        self._notify_disconnect()
        if not self.transport.is_closing():
            self.transport.close()
        self._await_final_drain()

    def _notify_disconnect(self) -> None:
        for cycle in self._cycles:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def _await_final_drain(self) -> None:
        """Apply the drain timeout to the bytes that are still buffered when nothing more is written."""
        if self._drain_timer is None and self.transport.get_write_buffer_size():
            self._await_drain()

    def _cancel_timer(self, timer: str) -> None:
        running: asyncio.TimerHandle | None = getattr(self, timer)
        if running is not None:
            running.cancel()
            setattr(self, timer, None)
