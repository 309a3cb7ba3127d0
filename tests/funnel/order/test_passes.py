"""The buttons that save a pass: where there are keys, and as long as there is something to save."""

import pathlib
from collections.abc import Callable

import pytest

from store.core.settings import Settings
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import STEPS, chosen_massage, identified, paid
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls
from tests.servers.production import production_settings

Visitors = Callable[[], Customer]


@pytest.fixture
def installation(request: pytest.FixtureRequest, wallet_dir: pathlib.Path) -> Settings:
    """With keys, unless the test has none."""
    return production_settings(**({"wallet_dir": wallet_dir} if getattr(request, "param", True) else {}))


@pytest.fixture
async def bought(shop: Shop, customer: Customer, sold: Experiences) -> Customer:
    """A customer who has bought a voucher, at the page of the order."""
    await chosen_massage(customer, sold)
    await identified(customer, STEPS)
    return await paid(shop, customer)


def buttons(customer: Customer) -> list[tuple[str, str]]:
    """The texts and addresses of the buttons."""
    links = [link for link in customer.page.one("main").all("a") if link.text.startswith("Add to ")]
    return [(link.text.partition(":")[0].strip(), link.attributes["href"]) for link in links]


async def test_a_voucher_has_a_button_for_each_wallet(shop: Shop, bought: Customer) -> None:
    token = await shop.one("SELECT document_token FROM voucher")
    assert buttons(bought) == [
        ("Add to Apple Wallet", f"/documents/vouchers/{token}.pkpass"),
        ("Add to Google Wallet", f"/documents/vouchers/{token}/google-wallet"),
    ]
    check_controls(bought.page)
    apple, google = [path for _, path in buttons(bought)]
    answer = await bought.http.get(apple)
    assert (answer.status_code, answer.content[:2]) == (200, b"PK")
    assert (await bought.http.get(google)).status_code == 303


@pytest.mark.parametrize("change", ["state = 'used', used_on = now()", "refunded_on = now()", "expires_on = now()"])
async def test_what_is_over_has_none(shop: Shop, bought: Customer, change: str) -> None:
    await shop.execute(f"UPDATE voucher SET {change}")  # noqa: S608
    await bought.open(bought.path)
    assert buttons(bought) == []


@pytest.mark.parametrize("installation", [False], indirect=True)
async def test_without_keys_there_are_none(shop: Shop, bought: Customer) -> None:
    token = await shop.one("SELECT document_token FROM voucher")
    assert buttons(bought) == []
    for path in (f"/documents/vouchers/{token}.pkpass", f"/documents/vouchers/{token}/google-wallet"):
        assert (await bought.http.get(path)).status_code == 404
