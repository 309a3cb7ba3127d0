"""Forms that are sent many times at once, and the API beside them."""

import asyncio
from typing import Any

from resolvers.account.tokens import obtain_token
from resolvers.core.caller import Role
from resolvers.core.context import Context
from schema.account.token import ObtainToken
from tests.funnel.checkout.customer import Customer
from tests.funnel.redemption.fixtures import PASSWORD, Venue
from tests.servers.production import SERVICE_URL, SHOP_URL


async def sent_at_once(staff: Customer, action: str, times: int, **changes: str) -> set[int]:
    """The statuses when the form with this action is sent so many times at the same moment."""
    form = next(f for f in staff.page.one("main").all("form") if f.attributes["action"] == action)
    sent = {i.attributes["name"]: i.attributes.get("value", "") for i in form.all("input")} | changes
    told = {"Origin": SHOP_URL, "Sec-Fetch-Site": "same-origin"}
    sending = (staff.http.post(action, data=sent, headers=told) for _ in range(times))
    return {answer.status_code for answer in await asyncio.gather(*sending)}


async def api_token(venue: Venue) -> str:
    """A token of a user of the network."""
    name = await venue.user(Role.MARKETPLACE)
    issued = await obtain_token(Context(venue.shop.services), ObtainToken(username=name, password=PASSWORD))
    return issued.token


async def network_use(staff: Customer, token: str, thing: str, input: dict[str, Any]) -> set[str]:
    """Use a network gift card or voucher over GraphQL; the codes of what was wrong."""
    query = (
        f"mutation($input: UseNetwork{thing}Input!) {{ useNetwork{thing}(input: $input) {{ userErrors {{ code }} }} }}"
    )
    answer = await staff.http.post(
        f"{SERVICE_URL}/graphql/",
        json={"query": query, "variables": {"input": input}},
        headers={"Authorization": f"Bearer {token}"},
    )
    body = answer.json()
    assert not body.get("errors"), body
    return {error["code"] for error in body["data"][f"useNetwork{thing}"]["userErrors"]}
