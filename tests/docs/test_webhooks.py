"""docs/webhooks.md is true: its code verifies real messages, and what it says of pauses and limits is so."""

import asyncio
import os
import pathlib
import re
from collections.abc import Callable

from resolvers.webhook.endpoints import MOST_ENDPOINTS
from schema.webhook.input import ReplayWebhooks
from store.webhook.queue import MAX_REPLAYED, RETRY_PAUSES
from tests.documents import ROOT, blocks
from tests.fixtures.shop import Shop
from tests.fixtures.webhook import Hooks
from tests.servers.receivers import Received, receiving

PAGE = ROOT / "docs/webhooks.md"


async def message(shop: Shop) -> tuple[str, Received]:
    """A secret, and a message that was signed with it."""
    hooks = Hooks.of(shop)
    async with receiving() as receiver:
        endpoint = await hooks.endpoint(receiver.url)
        await hooks.tell()
        await hooks.deliver(endpoint)
        return hooks.secret(endpoint), receiver.received[0]


async def test_the_python_verifies_a_message(shop: Shop) -> None:
    secret, received = await message(shop)
    (code,) = [block.text for block in blocks(PAGE) if block.language == "python"]
    names: dict[str, Callable[..., int]] = {}
    exec(code, names)  # noqa: S102 - the page's own
    assert names["receive"](secret, received.headers, received.body) == 204
    assert names["receive"](secret, received.headers, received.body + b" ") == 400


async def test_the_shell_computes_the_signature(shop: Shop, tmp_path: pathlib.Path) -> None:
    secret, received = await message(shop)
    (code,) = [block.text for block in blocks(PAGE) if block.language == "sh"]
    (tmp_path / "body.json").write_bytes(received.body)
    names = {name: received.headers[name.lower().replace("_", "-")] for name in ("WEBHOOK_ID", "WEBHOOK_TIMESTAMP")}
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", code, cwd=tmp_path, env={**os.environ, **names, "SECRET": secret}, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert f"v1,{printed.decode().strip()}" == received.headers["webhook-signature"]


def test_pauses_and_limits_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text().split())
    told = re.search(r"after (5 seconds.*?24 hours)", text)
    assert told is not None
    numbers = list(map(int, re.findall(r"\d+", told[1])))
    seconds = [5, *(60 * n for n in numbers[1:3]), *(3600 * n for n in numbers[3:])]
    assert seconds == [pause.total_seconds() for pause in RETRY_PAUSES]
    assert len(RETRY_PAUSES) + 1 == 10, "these ten tries"
    assert f"up to {MAX_REPLAYED:,} at once" in text
    assert f"There can be {MOST_ENDPOINTS} endpoints of each" in text
    assert "up to 100 by their ids" in text
    assert any(getattr(limit, "max_length", 0) == 100 for limit in _limits())


def _limits() -> list[object]:
    field = ReplayWebhooks.model_fields["event_ids"]
    return [limit for argument in getattr(field.annotation, "__args__", ()) for limit in _metadata(argument)]


def _metadata(argument: object) -> list[object]:
    found: list[object] = []
    for limit in getattr(argument, "__metadata__", ()):
        found += [limit, *getattr(limit, "metadata", ())]
    return found
