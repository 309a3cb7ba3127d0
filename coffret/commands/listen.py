"""`coffret listen`: shows events as they happen, and forwards them to a receiver that is being developed."""

import asyncio
import contextlib
import datetime as dt
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from rich.console import Console
from rich.text import Text

from coffret.commands.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.demo.seed import MARKETPLACE_USER, PASSWORD
from coffret.listen.api import Api, Away
from coffret.listen.feed import Feed, Happened
from coffret.listen.forwarding import Forwarder, Receipt
from coffret.listen.secret import listening_secret
from schema.event import EventType
from store.core.clock import clock, duration

EVERY = dt.timedelta(seconds=1)
HERE = ("127.0.0.1", "::1", "localhost")
COLOURS = {"cart": "cyan", "order": "green"}


@dataclass(frozen=True)
class Wanted:
    """What the command line says."""

    url: str = ""
    """Of the Coffret; empty: the one on this machine."""
    token: str = ""
    """Empty: the demo data's, for a Coffret on this machine."""
    forward_to: str = ""
    """Empty: nowhere."""
    events: Sequence[str] = ()
    """Patterns such as `order.*`; empty: all."""
    since: str = ""
    as_json: bool = False


class Display:
    """What a developer sees: events on standard output, all else on standard error when the events are JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._out = Console(highlight=False, soft_wrap=True)
        self._said = Console(highlight=False, soft_wrap=True, stderr=True) if as_json else self._out

    def say(self, text: str, style: str = "") -> None:
        """Something that is no event."""
        self._said.print(Text(text, style))

    def event(self, event: Happened) -> None:
        """An event."""
        if self._as_json:
            self._out.print(Text(event.body.decode()))
        colour = COLOURS.get(event.type.partition(".")[0], "magenta")
        when = f"{event.occurred_on.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S}"
        line = Text.assemble(
            (when, "dim"), "  ", (f"{event.type:<16}", colour), f"  {event.subject}  ", (event.key, "dim")
        )
        self._said.print(line)

    def receipt(self, receipt: Receipt) -> None:
        """What the receiver answered."""
        milliseconds = receipt.took // dt.timedelta(milliseconds=1)
        answer = (
            f"not delivered: {receipt.error}" if receipt.status is None else f"{receipt.status} in {milliseconds} ms"
        )
        self._said.print(Text.assemble(" " * 21, ("→ ", "dim"), (answer, "green" if receipt.taken else "red")))


def listen(wanted: Wanted) -> None:
    """Show and forward until interrupted."""
    display = Display(as_json=wanted.as_json)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(wanted, display))
    display.say("Stopped.")


async def run(wanted: Wanted, display: Display) -> None:
    """Show and forward until cancelled. Raises CommandError for what only the developer can put right."""
    types, since = chosen(wanted.events), moment(wanted.since)
    async with contextlib.AsyncExitStack() as stack:
        api = await stack.enter_async_context(Api(wanted.url or read_settings().public_url, wanted.token))
        forwarder = None
        if wanted.forward_to:
            secret = listening_secret()
            forwarder = await stack.enter_async_context(Forwarder(wanted.forward_to, secret))
        feed = Feed(api, since)
        try:
            who = await signed_in(api)
            await feed.start()
        except Away as away:
            raise CommandError(f"{away}. Is it running? `make run` starts one; --url names another.") from None
        display.say(f"Listening to {api.url}{who}. Ctrl-C stops it.")
        if forwarder is not None:
            display.say(f"Forwarding to {forwarder.url}, signed with {secret}")
        await follow(feed, types, forwarder, display)


async def signed_in(api: Api) -> str:
    """Have a token: the one given, or one of the demo data when the Coffret is on this machine. Answers whose, to be told."""
    if api.token:
        return ""
    if urlsplit(api.url).hostname in HERE and await api.log_in(MARKETPLACE_USER, PASSWORD):
        return f" as {MARKETPLACE_USER}"
    raise CommandError(
        "Which token? Make one with `coffret token create USERNAME`, and give it with --token or COFFRET_TOKEN."
    )


async def follow(feed: Feed, types: frozenset[str] | None, forwarder: Forwarder | None, display: Display) -> None:
    """Show and forward what happens, for ever. A Coffret that is away is waited for."""
    away = False
    while True:
        pause = EVERY
        try:
            async for event in feed.new():
                if types is None or event.type in types:
                    display.event(event)
                    if forwarder is not None:
                        display.receipt(await forwarder.send(event))
            if away:
                display.say("It answers again.", "green")
            away = False
        except Away as error:
            if not away:
                display.say(f"{error}. Waiting for it.", "yellow")
            away, pause = True, error.after
        await asyncio.sleep(pause.total_seconds())


def chosen(patterns: Sequence[str]) -> frozenset[str] | None:
    """The types of events that patterns match; None for all. A pattern that matches none is told."""
    known = [kind.value for kind in EventType]
    found = set()
    for pattern in (part.strip() for given in patterns for part in given.split(",")):
        matching = fnmatch.filter(known, pattern)
        if not matching:
            raise CommandError(f"No event is called {pattern}. There are: {', '.join(sorted(known))}.")
        found.update(matching)
    return frozenset(found) or None


def moment(since: str) -> dt.datetime | None:
    """The moment that lies so long ago, such as `10m` or `2h`."""
    if not since:
        return None
    try:
        return clock.now() - duration(since)
    except ValueError as error:
        raise CommandError(str(error)) from None
