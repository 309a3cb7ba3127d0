"""A client that `openapi-python-client` generates reads and sends what the README tells of."""

import datetime as dt
import importlib
import pathlib
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import pytest_asyncio

from resolvers.payment.payouts.documents import MEDIA_TYPES
from tests.documents import Installation

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAME = "generated_rest_client"
LOG_IN = {"username": "partner@demo.localhost", "password": "coffret-demo"}


@pytest.fixture(scope="module", autouse=True)
def generated(described: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package, generated without a warning, ready to import."""
    folder = tmp_path_factory.mktemp("generated")
    config = folder / "config.yaml"
    files = "".join(f"  {kind}: application/octet-stream\n" for kind in MEDIA_TYPES.values())
    config.write_text(f"post_hooks: []\ncontent_type_overrides:\n{files}")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(described), "--meta", "none"]
    more = ["--output-path", str(folder / NAME), "--config", str(config), "--fail-on-warning"]
    made = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))


@dataclass(frozen=True)
class Generated:
    """The generated client of one who asks."""

    client: Any

    async def __call__(self, operation: str, *arguments: Any, **more: Any) -> tuple[int, Any]:
        """Run an operation (`carts.save_ecommerce_cart`): the status and what was parsed of the answer."""
        asked = importlib.import_module(f"{NAME}.api.{operation}")
        answer = await asked.asyncio_detailed(*arguments, client=self.client, **more)
        return int(answer.status_code), answer.parsed

    async def good(self, operation: str, *arguments: Any, **more: Any) -> Any:
        """What a success answers."""
        status, parsed = await self(operation, *arguments, **more)
        assert status in {200, 201}, (operation, parsed)
        return parsed


def model(name: str) -> Any:
    """A generated class."""
    return getattr(importlib.import_module(f"{NAME}.models"), name)


def open_client(transport: httpx.AsyncBaseTransport, token: str | None = None) -> Generated:
    """A client of the application in this process."""
    made, more = importlib.import_module(NAME), {"transport": transport}
    base = "http://127.0.0.1:8000"
    if token is None:
        return Generated(made.Client(base_url=base, httpx_args=more))
    return Generated(made.AuthenticatedClient(base_url=base, token=token, prefix="Token", httpx_args=more))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(installation: Installation) -> AsyncIterator[Generated]:
    """The first demo partner, logged in by the generated client."""
    transport = installation.transport
    issued = await open_client(transport).good("log_in.obtain_token", body=model("ObtainTokenJsonBody")(**LOG_IN))
    assert issued.user.username == LOG_IN["username"]
    yield open_client(transport, issued.token)


async def test_a_cart_is_handed_over_read_and_replaced(shop: Generated) -> None:
    body, item = model("SaveEcommerceCartBody"), model("CartItemBody")
    values = model("CartItemBodyAttributeValues")()
    lines = [item(product_id=7, quantity=2, variant_id=4), item(product_id=6, quantity=1, attribute_values=values)]
    made = await shop.good("carts.save_ecommerce_cart", body=body(items=lines), idempotency_key="first version")
    assert [(line.product_id, line.quantity, line.variant_id) for line in made.items] == [(7, 2, 4), (6, 1, None)]
    assert made.funnel_url.endswith(str(made.id))
    assert (await shop.good("carts.get_ecommerce_cart", made.id)).to_dict() == made.to_dict()
    again = body(id=made.id, items=[item(product_id=6, quantity=3)], return_url="https://shop.example/thanks")
    replaced = await shop.good("carts.save_ecommerce_cart", body=again)
    assert (replaced.id, replaced.return_url, len(replaced.items)) == (made.id, "https://shop.example/thanks", 1)


async def test_what_is_wrong_is_parsed(installation: Installation, shop: Generated) -> None:
    body, item = model("SaveEcommerceCartBody"), model("CartItemBody")
    lines = [item(product_id=6, quantity=1), item(product_id=7, quantity=-1)]
    status, wrong = await shop("carts.save_ecommerce_cart", body=body(items=lines, return_url="shop.example"))
    assert status == 400
    good, bad = wrong["items"]
    assert (good.additional_properties, bad["quantity"]) == ({}, ["Send 0 or more."])
    assert wrong["return_url"] == ["Send an address that starts with http:// or https://."]
    assert await shop("carts.get_ecommerce_cart", "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11") == (
        404,
        model("Detail")(detail="Cart not found"),
    )
    status, refused = await open_client(installation.transport)("log_in.list_permissions")
    assert (status, type(refused).__name__) == (401, "Detail")
    status, refused = await shop(
        "vouchers.update_voucher", "NOBODY", body=model("UpdateVoucherBody")(state=model("VoucherState")("paid"))
    )
    assert (status, type(refused).__name__) == (404, "Detail")


async def test_vouchers_are_listed_and_read(shop: Generated) -> None:
    page = await shop.good("vouchers.list_vouchers", page_size=100)
    assert page.count == len(page.results) >= 5
    ends = {type(voucher.usage_date) for voucher in page.results}
    assert ends == {dt.datetime, str}, "used ones, and others"
    for voucher in page.results:
        assert (await shop.good("vouchers.get_voucher", voucher.code)).to_dict() == voucher.to_dict()


async def test_gift_cards_are_listed_and_read(shop: Generated) -> None:
    page = await shop.good("gift_cards.list_giftcards", ordering=model("ListGiftcardsOrdering")("-expires_on"))
    assert page.results
    for card in page.results:
        assert (await shop.good("gift_cards.get_giftcard", card.id)).to_dict() == card.to_dict()
        assert (await shop.good("gift_cards.get_giftcard_by_code", card.code)).id == card.id


async def test_partners_are_read_made_and_changed(installation: Installation, shop: Generated) -> None:
    transport = installation.transport
    log_in = model("ObtainTokenJsonBody")(**LOG_IN | {"username": "marketplace@demo.localhost"})
    issued = await open_client(transport).good("log_in.obtain_token", body=log_in)
    market = open_client(transport, issued.token)
    sent = {
        "status": "a",
        "commercial_name": "La Tisane",
        "short_name": "Tisane",
        "legal_representative_email": "ada@tisane.example",
        "agency_email": "bonjour@tisane.example",
    }
    made = await market.good("partners.create_partner", body=model("CreatePartnerBody").from_dict(sent))
    assert (made.legal_representative_birthday, made.company_type) == ("", "")
    assert (await market.good("partners.get_partner", made.uuid)).commercial_name == "La Tisane"
    born = model("UpdatePartnerBody")(legal_representative_birthday=dt.date(1980, 4, 12))
    changed = await market.good("partners.update_partner", made.uuid, body=born)
    assert changed.legal_representative_birthday == dt.datetime(1980, 4, 12, tzinfo=dt.UTC)
    own = (await shop.good("media.list_media"), await shop.good("log_in.list_permissions"))
    assert "permissions.view_voucher" in own[1].permissions
    found = await market.good("partners.check_partner", commercial_name="La Tisane")
    assert found.id == made.id


async def test_the_catalogue_is_listed_and_read(shop: Generated) -> None:
    prototypes = (await shop.good("catalogue.list_voucher_prototypes", page_size=100)).results
    assert prototypes
    for prototype in prototypes:
        assert (await shop.good("catalogue.get_voucher_prototype", prototype.id)).to_dict() == prototype.to_dict()
        await shop.good("catalogue.list_prototype_options", prototype.id)
    options = (await shop.good("catalogue.list_voucher_options")).results
    assert [(await shop.good("catalogue.get_voucher_option", option.id)).id for option in options] == [
        option.id for option in options
    ]
    await shop.good("catalogue.list_option_categories")
    for media in await shop.good("media.list_media"):
        assert (await shop.good("media.get_media", media.id)).uuid == media.uuid
