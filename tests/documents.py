"""The documentation, read: its code blocks, and a demo installation that they are tried on."""

import contextlib
import json
import pathlib
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.applications import Starlette

from coffret.app import create_app
from coffret.demo.payments import load_demo
from coffret.demo.seed import seed
from store.core.clock import clock
from store.core.settings import Settings
from tests.described import HELD

ROOT = pathlib.Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])
A_TIME = 10**12
_BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A block of code: its language, what else stands beside it, its text, and its line in the page."""

    language: str
    note: str
    text: str
    line: int


def blocks(page: pathlib.Path) -> Iterator[Block]:
    """The code blocks of a page."""
    whole = page.read_text()
    for found in _BLOCK.finditer(whole):
        yield Block(found[1], found[2], found[3], whole.count("\n", 0, found.start()) + 1)


def links(page: pathlib.Path) -> Iterator[str]:
    """Where a page leads."""
    yield from _LINK.findall(_BLOCK.sub("", page.read_text()))


@dataclass
class Example:
    """A request as a page shows it, and the answer it shows."""

    line: int
    asked: Block
    variables: dict[str, Any] = field(default_factory=dict)
    answer: Any = None


def examples(page: pathlib.Path) -> list[Example]:
    """The requests of a page, in order: `graphql` and `sh` blocks, each with the JSON that follows."""
    found: list[Example] = []
    for block in blocks(page):
        if block.language == "graphql" or block.text.startswith("curl "):
            found.append(Example(block.line, block))
        elif block.language == "json" and block.note == "variables":
            found[-1].variables = json.loads(block.text)
        elif block.language == "json" and block.note == "answer":
            found[-1].answer = json.loads(block.text)
    return found


def fits(shown: Any, real: Any) -> bool:
    """Whether an answer is the one shown; `…` in a text stands for anything, a time in milliseconds for any other."""
    if isinstance(shown, Mapping):
        return isinstance(real, Mapping) and list(shown) == list(real) and all(fits(shown[k], real[k]) for k in shown)
    if isinstance(shown, list):
        return isinstance(real, list) and len(shown) == len(real) and all(map(fits, shown, real))
    if isinstance(shown, int) and shown > A_TIME:
        return isinstance(real, int) and real > A_TIME
    if isinstance(shown, str) and "…" in shown:
        return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), str(real), re.DOTALL) is not None
    return bool(shown == real) and type(shown) is type(real)


@dataclass
class Installation:
    """A demo installation as a reader has it after `make run`, with what the shell would remember."""

    client: httpx.AsyncClient
    app: Starlette
    transport: httpx.ASGITransport
    remembered: dict[str, str] = field(default_factory=dict)

    async def graphql(self, example: Example) -> Any:
        """Run a document, as the first demo partner unless the page says otherwise; answers the body without costs."""
        headers = {} if example.asked.note == "as nobody" else {"Authorization": f"Token {self.remembered['TOKEN']}"}
        said = {"query": example.asked.text, "variables": example.variables}
        body = (await self.client.post("/graphql/", json=said, headers=headers)).json()
        if "extensions" not in (example.answer or {}):
            body.pop("extensions", None)
        return body

    async def curl(self, example: Example) -> Any:
        """Do what a `curl` command does; remembers a `token` as TOKEN and an `id` as CART."""
        words = [
            re.sub(r"\$([A-Z]+)\b", lambda name: self.remembered[name[1]], word)
            for word in shlex.split(example.asked.text.replace("\\\n", " "))
        ]
        response = await self.client.send(_request(self.client, words))
        body = response.json()
        for key, name in (("token", "TOKEN"), ("id", "CART")):
            if key in body:
                self.remembered[name] = str(body[key])
        return body


def _request(client: httpx.AsyncClient, words: list[str]) -> httpx.Request:
    method, url, headers, data = "", "", {}, None
    arguments = iter(words[1:])
    for word in arguments:
        if word == "-H":
            name, _, value = next(arguments).partition(": ")
            headers[name] = value
        elif word in {"-d", "--data"}:
            data = next(arguments)
        elif word == "-X":
            method = next(arguments)
        elif not word.startswith("-"):
            url = word
    if data is not None:
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")  # as curl does
    return client.build_request(method or ("GET" if data is None else "POST"), url, headers=headers, content=data)


@contextlib.asynccontextmanager
async def demo_installation(
    database_url: str, folder: pathlib.Path, *, with_payments: bool = False
) -> AsyncIterator[Installation]:
    """The application over the demo data; `with_payments` as `make run` has it, which takes longer."""
    networks = ["127.0.0.0/8", "::1"]
    settings = Settings(
        database_url=database_url, data_dir=folder, funnel_scheme="http", webhook_networks_allowed=networks
    )
    app = create_app(settings, run_background=False)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", event_hooks=HELD) as client,
    ):
        container = app.state.container
        services, sandbox = container.services, container.sandbox
        made = load_demo(services, sandbox) if with_payments else seed(services.db, settings, clock, sandbox)
        assert await made is not None
        yield Installation(client, app, transport)
