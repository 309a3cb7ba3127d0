"""A connection of a client: it is waited for so long and no longer, and ends in order."""

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

LONGEST_HEAD = 65_536
"""Bytes of a request's head."""
LEAST = 4_096
"""Bytes by which a body, or the reading of an answer, has to come on each time that we look."""
LINGER = 1.0
"""Seconds that an idle connection is kept open when we stop: a request may be on its way already."""
CLOSED = Counter(
    "coffret_connections_closed", "Connections that we closed, by what they kept us waiting for.", ["waiting_for"]
)


class Connection(HttpToolsProtocol):
    """uvicorn's connection with bounds. It waits for a head, then for a body, or it works on an answer, or it is idle."""

    config: ServerConfig

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience = self.config.patience
        self.timeout_keep_alive = self._patience.idle  # type: ignore[assignment]  # seconds may be parts of one
        self.since = self.loop.time()
        self._head: asyncio.TimerHandle | None = None
        self._body: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._body_bytes = 0
        self._in_body = False
        self._stopping = False
        self._cycles: list[RequestResponseCycle] = []
        """Requests that have come and whose answers are not complete; `cycle` is the last one, and not the one that runs."""

    @property
    def under_way(self) -> bool:
        """Whether there is a request whose answer is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    # ---- what a connection goes through

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        if len(self.connections) > self._patience.connections and not self._make_room():
            CLOSED.labels("room").inc()
            self._answer(503, "Too many connections. Come again.", ((b"retry-after", b"5"),))
            return
        self._head = self.loop.call_later(self._patience.headers, self._late_head)

    def data_received(self, data: bytes) -> None:
        """Something of a request has come."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self.under_way and not self._in_body:
            self._await_head(len(data))
            return
        self._end("_head")
        self._head_bytes = 0
        if self._in_body:
            self._body_bytes += len(data)
            if self._body is None:
                self._await_body()

    def on_headers_complete(self) -> None:
        """The head of a request is there."""
        self._in_body = True
        super().on_headers_complete()
        self._cycles = [*(each for each in self._cycles if not each.response_complete), self.cycle]
        if self._stopping:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """The whole request is there."""
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer was written, though perhaps not read, and perhaps before its request was there."""
        self.since = self.loop.time()
        super().on_response_complete()
        self._await_last_reading()

    def timeout_keep_alive_handler(self) -> None:
        """No further request has come."""
        self._close("idle")

    def pause_writing(self) -> None:
        """The client does not read as fast as we write."""
        super().pause_writing()
        if self._reading is None:
            self._await_reading()

    def resume_writing(self) -> None:
        """It has read."""
        self._end("_reading")
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        for timer in ("_head", "_body", "_reading"):
            self._end(timer)
        self._unset_keepalive_if_required()
        self._tell_gone()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The process is about to stop: what is under way is answered, and the client told to connect anew."""
        self._stopping = True
        if self.under_way:
            for cycle in self._cycles:
                cycle.keep_alive = False
        else:
            self.loop.call_later(LINGER, self._close_unless_used)

    # ---- what is waited for

    def _await_head(self, received: int) -> None:
        if self._head is None:
            self.since = self.loop.time()
            self._head_bytes = 0
            self._head = self.loop.call_later(self._patience.headers, self._late_head)
        self._head_bytes += received
        if self._head_bytes > LONGEST_HEAD:
            self._answer(431, "The head of the request is too long.")

    def _late_head(self) -> None:
        if self._head_bytes:
            CLOSED.labels("head").inc()
            self._answer(408, "The request did not come in time.")
        else:
            self._close("head")

    def _await_body(self) -> None:
        self._body_bytes = 0
        self._body = self.loop.call_later(self._patience.progress, self._late_body)

    def _late_body(self) -> None:
        """Less than `LEAST` has come, unless it is we who have not read, or have not asked for it yet."""
        ours = self.flow.read_paused or self.cycle.waiting_for_100_continue
        if not self._in_body:
            self._body = None
        elif ours or self._body_bytes >= LEAST:
            self._await_body()
        else:
            CLOSED.labels("body").inc()
            self._answer(408, "The body of the request did not come in time.")

    def _await_reading(self) -> None:
        left = self._unread()
        self._reading = self.loop.call_later(self._patience.progress, self._late_reading, left)

    def _late_reading(self, before: int) -> None:
        left, self._reading = self._unread(), None
        if not self.transport.get_write_buffer_size():
            return
        if before - left >= LEAST:
            self._await_reading()
        else:
            CLOSED.labels("reading").inc()
            self.transport.abort()

    def _unread(self) -> int:
        """Bytes of answers that the client has not received: ours, and, where Linux tells, what it holds for us, which may be
        so much that long nothing of ours goes out to a slow client.
        """
        held = b"\0" * 4
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                held = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, held)
        return self.transport.get_write_buffer_size() + int.from_bytes(held, sys.byteorder)

    # ---- how it ends

    def _make_room(self) -> bool:
        """Close those who have kept us waiting longest, several at a time; tells whether there is any."""
        open_now = [
            each for each in self.connections if isinstance(each, Connection) and not each.transport.is_closing()
        ]
        if len(open_now) <= self._patience.connections:
            return True
        waiting = [each for each in open_now if each is not self and each.waits]
        for each in heapq.nsmallest(max(1, len(waiting) // 16), waiting, key=lambda each: (each.under_way, each.since)):
            CLOSED.labels("room").inc()
            each.leave()
        return bool(waiting)

    @property
    def waits(self) -> bool:
        """Whether it is the client who is waited for, and not we."""
        return self._in_body or not self.under_way

    def _answer(self, status: int, text: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Refuse a request that is not complete, and close."""
        if not self.transport.is_closing() and not (self._in_body and self.cycle.response_started):
            said = text.encode()
            fields = (*self.server_state.default_headers, *headers, (b"content-type", b"text/plain; charset=utf-8"),
                      (b"content-length", str(len(said)).encode()), (b"connection", b"close"))  # fmt: skip
            lines = b"".join(b"%b: %b\r\n" % field for field in fields)
            self.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[status], lines, said))
        self.leave()

    def _close_unless_used(self) -> None:
        if not self.under_way and not self._head_bytes:
            self.leave()

    def _close(self, because: str) -> None:
        CLOSED.labels(because).inc()
        self.leave()

    def leave(self) -> None:
        """Close; the requests under way learn that their client is gone."""
        self._tell_gone()
        if not self.transport.is_closing():
            self.transport.close()
        self._await_last_reading()

    def _tell_gone(self) -> None:
        for cycle in self._cycles:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def _await_last_reading(self) -> None:
        """What was written and not read yet is waited for as well, also where nothing more is to be written."""
        if self._reading is None and self.transport.get_write_buffer_size():
            self._await_reading()

    def _end(self, timer: str) -> None:
        running: asyncio.TimerHandle | None = getattr(self, timer)
        if running is not None:
            running.cancel()
            setattr(self, timer, None)
