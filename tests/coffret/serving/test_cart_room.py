"""Where there is no room for another cart, both transports say so plainly, and the carts there are go on."""

import httpx

from store.core.settings import Settings
from tests.coffret.conftest import running
from tests.coffret.http.test_metrics import token_of
from tests.fixtures.shop import open_shop

CARTS = "/api/v2/ecommerce/cart/"
SAVE = """
mutation ($input: SaveEcommerceCartInput!) {
  saveEcommerceCart(input: $input) { ecommerceCart { id } userErrors { code } }
}
"""


async def test_a_full_store_of_carts_is_told_as_such(app_settings: Settings) -> None:
    app_settings.carts_in_memory = 1
    async with running(app_settings) as (app, client):
        container = app.state.container
        shop = await open_shop(container.services, container.sandbox)
        client.headers.update(await token_of(shop))
        candle = await shop.product()
        cart = {"items": [{"product_id": candle.id, "quantity": 1}]}
        made = await client.post(CARTS, json=cart)
        assert made.status_code == 201
        refused = await client.post(CARTS, json=cart)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
        assert refused.json()["code"] == "cart_store_full"
        line = {"productId": candle.id, "quantity": 1}
        told: httpx.Response = await client.post(
            "/graphql/", json={"query": SAVE, "variables": {"input": {"items": [line]}}}
        )
        (error,) = told.json()["errors"]
        assert (error["extensions"]["code"], error["extensions"]["retryAfter"]) == ("CART_STORE_FULL", 30)
        id = made.json()["id"]
        assert (await client.get(f"{CARTS}{id}/")).status_code == 200
        assert (await client.post(CARTS, json={"id": id, **cart})).status_code == 200
        page = await client.get(made.json()["funnel_url"])
        assert page.status_code == 200
        metrics = (await client.get("/metrics")).text
        assert "coffret_carts_in_memory_bytes" in metrics
