"""docs/integrate.md is true: its code hands a cart over, checks the way back and the notification, and reads the order."""

import asyncio
import json
import os
import pathlib
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest
import uvicorn
from sqlalchemy import text
from sqlmodel import col, select

from coffret.sandbox.payments.cards import CARDS, CHALLENGE_CODE
from resolvers.checkout import steps
from resolvers.payment.checkout import payment
from resolvers.webhook import delivery
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from store.delivery import DeliveryModeRow
from store.partner.partners import PartnerRow
from tests.documents import ROOT, blocks, demo_installation
from tests.fixtures.shop import BUYER, Shop
from tests.servers.databases import Databases
from tests.servers.programs import needed
from tests.servers.receivers import Received, receiving

PAGE = ROOT / "docs/integrate.md"
WRITTEN_FOR = "http://127.0.0.1:8000"
SHELL = [block.text for block in blocks(PAGE) if block.language == "sh"]


@dataclass(frozen=True)
class Language:
    """One of the languages of the page: how a function of its code is called."""

    program: str
    package: str
    ending: str
    camel: bool
    call: str
    """What is written behind the code, to print what a function answers."""

    def name(self, function: str) -> str:
        """What a function is called there."""
        first, *others = function.split("_")
        return first + "".join(word.capitalize() for word in others) if self.camel else function


LANGUAGES = {
    "php": Language(
        "php",
        "php-cli",
        "php",
        True,
        "echo json_encode($argv[1](...json_decode($argv[2], true)), JSON_THROW_ON_ERROR);",
    ),
    "js": Language(
        "node",
        "nodejs",
        "mjs",
        True,
        "const [, , name, sent] = process.argv;\n"
        "console.log(JSON.stringify(await { createCart, orderOfReturn, eventOf, readOrder }[name](...JSON.parse(sent))));",
    ),
    "py": Language(
        sys.executable,
        "python3",
        "py",
        False,
        "import sys\nprint(json.dumps(globals()[sys.argv[1]](*json.loads(sys.argv[2]))))",
    ),
}


@dataclass
class ServedDemo:
    """A served demo installation, and the code of the page in a folder."""

    shop: Shop
    address: str
    folder: pathlib.Path
    environment: dict[str, str]

    async def run(self, *command: str, **more: str) -> str:
        """What a program prints. It must succeed."""
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder,
            env={**os.environ, **self.environment, **more},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        printed, wrong = await process.communicate()
        assert process.returncode == 0, f"{command[:2]}: {printed.decode()} {wrong.decode()}"
        return printed.decode()

    async def shell(self, *parts: str, then: str = ":", **more: str) -> str:
        """Run blocks of the page for the shell; `then` is run behind them."""
        script = "\n".join(["set -eu", *parts, then]).replace(WRITTEN_FOR, self.address)
        needed(shutil.which("curl"), "curl")
        return await self.run("sh", "-c", script, **more)

    async def call(self, language: str, function: str, *arguments: Any) -> Any:
        """What a function of the page answers."""
        of = LANGUAGES[language]
        program = needed(shutil.which(of.program), of.package)
        file = self.folder / f"integrate.{of.ending}"
        code = [block.text for block in blocks(PAGE) if block.language == language]
        file.write_text("\n".join([*code, of.call, ""]))
        return json.loads(await self.run(program, file.name, of.name(function), json.dumps(arguments)))

    async def buy(self, cart: Mapping[str, Any]) -> str:
        """What the customer does in the checkout; answers where the customer is sent afterwards."""
        shop = self.shop
        live = await shop.services.carts.get(shop.partner.id, UUID(cart["id"]))
        assert live is not None
        key = shop.key(live)
        lines = [line.choice for line in (await steps.open_checkout(shop.context, key)).lines]
        assert lines == [ProductChoice(1, 2, 1), ProductChoice(2, 1, None, {1: "m", 2: "lavender"})]
        await steps.choose_items(shop.context, key, lines, shop.modes[DeliveryKind.CLICK_AND_COLLECT], "FR")
        await steps.identify_buyer(shop.context, key, BUYER)
        card = await shop.gift_card("500.00")
        await shop.start(key, await steps.apply_code(shop.context, key, card.code))
        return (await payment.payment_outcome(shop.context, key)).return_url


@pytest.fixture
async def served_demo(databases: Databases, tmp_path: pathlib.Path) -> AsyncIterator[ServedDemo]:
    """A demo installation as its reader has it, with a token of the demo partner."""
    (tmp_path / "data").mkdir()
    async with databases.one() as url, demo_installation(url, tmp_path / "data") as installation:
        services = installation.app.state.container.services
        async with services.db.sessions() as db:
            partner = (await db.exec(select(PartnerRow).order_by(col(PartnerRow.id)))).first()
            assert partner is not None
            modes = await db.exec(select(DeliveryModeRow).where(col(DeliveryModeRow.partner_id) == partner.id))
            shop = Shop(
                services, installation.app.state.container.sandbox, partner, {mode.kind: mode.id for mode in modes}
            )
        server = uvicorn.Server(uvicorn.Config(installation.app, log_level="error", lifespan="off"))
        with socket.create_server(("127.0.0.1", 0)) as listening:
            task = asyncio.create_task(server.serve([listening]))
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            made = ServedDemo(shop, address, tmp_path, {"COFFRET_URL": address})
            made.environment["COFFRET_TOKEN"] = await made.shell(SHELL[0], then='printf %s "$COFFRET_TOKEN"')
            yield made
            server.should_exit = True
            await task


async def notified(served: ServedDemo, endpoint_id: int) -> None:
    """Send the endpoint what it is to be told, as the worker does."""
    for (event_id,) in await served.shop.services.db.rows(
        text("SELECT id FROM event WHERE NOT is_sorted ORDER BY id"), {}
    ):
        await delivery.fan_out(served.shop.services, event_id)
    await delivery.deliver(served.shop.services, endpoint_id)


def lowered(received: Received) -> dict[str, str]:
    """The headers of a request, with names in small letters."""
    return {name.lower(): value for name, value in received.headers.items()}


async def checked(served: ServedDemo, language: str, cart: dict[str, Any], back: str, secret: str) -> int:
    """The number of the order that the way back names; nothing is believed that is not signed for this cart and order."""
    assert back.startswith("https://shop.example/thanks?basket=")
    query = dict(parse_qsl(urlsplit(back).query))
    forged: list[dict[str, Any]] = [
        {**query, "order": str(int(query["order"]) + 1)},
        {**query, "signature": "0" * 64},
        {**query, "signature": "é"},
        {"order": query["order"]},
        {"signature": query["signature"]},
        {**query, "order": [query["order"]]},
    ]
    for sent in forged:
        assert await served.call(language, "order_of_return", cart["id"], sent, secret) is None, sent
    other = "0b0f4b43-9f53-4f5e-8f0a-3d2f5f1f7a90"
    assert await served.call(language, "order_of_return", other, query, secret) is None
    both = {**query, "signature": f"{'0' * 64}.{query['signature']}"}
    number = await served.call(language, "order_of_return", cart["id"], both, secret)
    assert await served.call(language, "order_of_return", cart["id"], query, secret) == number == int(query["order"])
    return int(number)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_code_goes_all_the_way(served_demo: ServedDemo, language: str) -> None:
    cart = await served_demo.call(language, "create_cart", "4711")
    assert (await served_demo.call(language, "create_cart", "4711"))["id"] == cart["id"], "the key makes it one cart"
    secret = (await served_demo.shell(SHELL[2], then='printf %s "$RETURN_SECRET"')).strip()
    async with receiving() as receiver:
        told = 'printf %s "$WEBHOOK_SECRET"'
        webhook_secret = await served_demo.shell(SHELL[3], then=told, WEBHOOK_URL=receiver.url)
        assert await served_demo.call(language, "read_order", cart["id"]) is None
        back = await served_demo.buy(cart)
        await notified(served_demo, int(await served_demo.shop.one("SELECT max(id) FROM webhook_endpoint")))
    number = await checked(served_demo, language, cart, back, secret)
    (received,) = receiver.received
    body, headers = received.body.decode(), lowered(received)
    event = await served_demo.call(language, "event_of", body, headers, webhook_secret)
    assert (event["type"], event["data"]["number"], event["data"]["cart_id"]) == ("order.paid", number, cart["id"])
    for wrong in (
        (body + " ", headers),
        (body, {**headers, "webhook-timestamp": "1795241993"}),
        (body, {**headers, "webhook-id": "msg_0"}),
        (body, {}),
    ):
        assert await served_demo.call(language, "event_of", *wrong, webhook_secret) is None
    order = await served_demo.call(language, "read_order", cart["id"])
    assert (order["number"], order["total"], order["buyer"]) == (
        number,
        event["data"]["total"],
        {"email": BUYER.email},
    )
    assert [line["quantity"] for line in order["products"]] == [2, 1]


async def test_the_commands_go_all_the_way(served_demo: ServedDemo) -> None:
    cart_id, funnel_url = (await served_demo.shell(SHELL[1], then='echo "$CART_ID"')).split()[::-1]
    assert funnel_url.endswith(f"/ecommerce/shop/customization/?cart={cart_id}")
    back = await served_demo.buy({"id": cart_id})
    assert back.startswith("https://shop.example/thanks?basket=4711&order="), "unsigned while there is no secret"
    assert "signature" not in back
    answer = json.loads(await served_demo.shell(SHELL[4], CART_ID=cart_id))
    (order,) = answer["data"]["orders"]["nodes"]
    assert order["status"] == "PAID"
    assert f"order={order['number']}" in back


def test_the_cards_are_those_of_the_sandbox() -> None:
    page = PAGE.read_text()
    groups = {card.number: card.group for card in CARDS}
    shown = dict(line.strip("| `").split("` | ") for line in page.splitlines() if line.startswith("| `4970"))
    assert [groups[number] for number in shown] == ["succeeds", "challenge", "declined"]
    assert f"the code is `{CHALLENGE_CODE}`" in page
