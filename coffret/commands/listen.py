"""`coffret listen`: shows events as they happen and forwards them to a receiver under development."""

import asyncio
import contextlib
import datetime as dt
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from rich.console import Console
from rich.text import Text

from coffret.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.demo.users import MARKETPLACE_USER, PASSWORD
from coffret.listen.api import ApiClient, ApiUnavailable
from coffret.listen.feed import EventFeed, ReceivedEvent
from coffret.listen.forwarding import Forwarder, ForwardResult
from coffret.listen.secret import listening_secret
from schema.event import EventType
from store.core.clock import clock, parse_duration

POLL_INTERVAL = dt.timedelta(seconds=1)
LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")
COLOURS = {"cart": "cyan", "order": "green"}


@dataclass(frozen=True)
class ListenOptions:
    """The options of the command line."""

    url: str = ""
    """Base URL of the server; empty: the one on this machine."""
    token: str = ""
    """API token; empty: a token of the demo data, if the server is on this machine."""
    forward_to: str = ""
    """URL of the receiver; empty: events are not forwarded."""
    events: Sequence[str] = ()
    """Patterns such as `order.*`; empty: all."""
    since: str = ""
    as_json: bool = False


class Display:
    """Prints events. With `as_json`, standard output receives JSON only and everything else goes to standard error."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._out = Console(highlight=False, soft_wrap=True)
        self._notes_console = Console(highlight=False, soft_wrap=True, stderr=True) if as_json else self._out

    def note(self, text: str, style: str = "") -> None:
        """Print a message that is not an event."""
        self._notes_console.print(Text(text, style))

    def event(self, event: ReceivedEvent) -> None:
        if self._as_json:
            self._out.print(Text(event.body.decode()))
        colour = COLOURS.get(event.type.partition(".")[0], "magenta")
        when = f"{event.occurred_on.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S}"
        line = Text.assemble(
            (when, "dim"), "  ", (f"{event.type:<16}", colour), f"  {event.subject}  ", (event.key, "dim")
        )
        self._notes_console.print(line)

    def delivery(self, receipt: ForwardResult) -> None:
        """Print the receiver's answer."""
        milliseconds = receipt.duration // dt.timedelta(milliseconds=1)
        answer = (
            f"not delivered: {receipt.error}" if receipt.status is None else f"{receipt.status} in {milliseconds} ms"
        )
        self._notes_console.print(
            Text.assemble(" " * 21, ("→ ", "dim"), (answer, "green" if receipt.is_delivered else "red"))
        )


def listen(options: ListenOptions) -> None:
    display = Display(as_json=options.as_json)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(options, display))
    display.note("Stopped.")


async def run(options: ListenOptions, display: Display) -> None:
    """Show and forward until cancelled. Raises CommandError for an error that a retry cannot fix."""
    types, since = event_types_matching(options.events), parse_since(options.since)
    async with contextlib.AsyncExitStack() as stack:
        api = await stack.enter_async_context(ApiClient(options.url or read_settings().public_url, options.token))
        forwarder = None
        if options.forward_to:
            secret = listening_secret()
            forwarder = await stack.enter_async_context(Forwarder(options.forward_to, secret))
        feed = EventFeed(api, since)
        try:
            who = await log_in(api)
            await feed.start()
        except ApiUnavailable as away:
            raise CommandError(f"{away}. Is it running? `make run` starts one; --url names another.") from None
        display.note(f"Listening to {api.url}{who}. Ctrl-C stops it.")
        if forwarder is not None:
            display.note(f"Forwarding to {forwarder.url}, signed with {secret}")
        await follow(feed, types, forwarder, display)


async def log_in(api: ApiClient) -> str:
    """Log in with the demo data if no token is set and the server is on this machine.

    Returns a suffix for the welcome line. Raises CommandError if there is no token.
    """
    if api.token:
        return ""
    if urlsplit(api.url).hostname in LOOPBACK_HOSTS and await api.log_in(MARKETPLACE_USER, PASSWORD):
        return f" as {MARKETPLACE_USER}"
    raise CommandError(
        "A token is required. Create one with `coffret token create USERNAME`, and pass it with --token or COFFRET_TOKEN."
    )


async def follow(feed: EventFeed, types: frozenset[str] | None, forwarder: Forwarder | None, display: Display) -> None:
    """Poll forever; print and forward each event. Retries while the server is unavailable."""
    away = False
    while True:
        pause = POLL_INTERVAL
        try:
            async for event in feed.poll():
                if types is None or event.type in types:
                    display.event(event)
                    if forwarder is not None:
                        display.delivery(await forwarder.send(event))
            if away:
                display.note("The server answers again.", "green")
            away = False
        except ApiUnavailable as error:
            if not away:
                display.note(f"{error}. Waiting for it.", "yellow")
            away, pause = True, error.retry_after
        await asyncio.sleep(pause.total_seconds())


def event_types_matching(patterns: Sequence[str]) -> frozenset[str] | None:
    """The event types that the patterns match; None for all. Raises CommandError for a pattern that matches none."""
    known = [kind.value for kind in EventType]
    found = set()
    for pattern in (part.strip() for given in patterns for part in given.split(",")):
        matching = fnmatch.filter(known, pattern)
        if not matching:
            raise CommandError(f"No event is called {pattern}. There are: {', '.join(sorted(known))}.")
        found.update(matching)
    return frozenset(found) or None


def parse_since(since: str) -> dt.datetime | None:
    """The moment that lies a duration such as `10m` or `2h` in the past; None for an empty text."""
    if not since:
        return None
    try:
        return clock.now() - parse_duration(since)
    except ValueError as error:
        raise CommandError(str(error)) from None
