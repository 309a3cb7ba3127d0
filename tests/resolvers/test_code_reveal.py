"""Codes are shown to whoever may change what they belong to, and each look is told by the audit log."""

from dataclasses import dataclass
from typing import Any

import pytest
from strawberry.utils.str_converters import to_camel_case

from resolvers import code_reveal
from resolvers.core.operation import Operation
from schema.core.permission import Permission
from store.core.codes import document_token
from store.gift_card.gift_cards import GiftCardRow
from tests.fixtures.box import new_box
from tests.fixtures.network import network_card
from tests.fixtures.network_voucher import network_voucher
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import sell, voucher_of

CODE = "revealedCode { code documentUrl holderUrl }"


@dataclass(frozen=True)
class Look:
    """What is asked for, about what, by whom, and who may not."""

    operation: Operation[Any, Any]
    row: Any
    type: str
    who: str
    elsewhere: str

    @property
    def mutation(self) -> str:
        """The name of the mutation."""
        return to_camel_case(self.operation.name)

    async def ask(self, tenants: Tenants, who: str | None, id: int | None = None) -> Any:
        """The answer to somebody."""
        input = f"{self.mutation[0].upper()}{self.mutation[1:]}Input"
        text = f"mutation($i: {input}!) {{ {self.mutation}(input: $i) {{ {CODE} userErrors {{ field code }} }} }}"
        return await tenants.graphql(who, text, i={"id": self.row.id if id is None else id})


async def look_of(tenants: Tenants, thing: str) -> Look:
    """A look at the code of a thing of the first partner or of its network."""
    if thing == "voucher":
        row = await tenants.add(voucher_of(await sell(tenants, "a1"), document_token=document_token()))
        return Look(code_reveal.reveal_voucher_code, row, "Voucher", "a1", "a2")
    if thing == "gift card":
        await tenants.execute("UPDATE gift_card SET status = 'paid'")
        async with tenants.services.db.sessions() as db:
            row = await db.get_one(GiftCardRow, tenants.owned["a1"].gift_card)
        return Look(code_reveal.reveal_gift_card_code, row, "GiftCard", "a1", "a2")
    if thing == "network gift card":
        row = await network_card(tenants)
        return Look(code_reveal.reveal_network_gift_card_code, row, "NetworkGiftCard", "market a", "market b")
    voucher = await network_voucher(tenants, await new_box(tenants))
    return Look(code_reveal.reveal_network_voucher_code, voucher, "NetworkVoucher", "market a", "market b")


THINGS = ("voucher", "gift card", "network gift card", "network voucher")


async def looks(tenants: Tenants) -> int:
    """How many looks the audit log has, refused ones too."""
    return await tenants.one("SELECT count(*) FROM audit_entry WHERE operation LIKE 'reveal%'")  # type: ignore[no-any-return]


@pytest.mark.parametrize("thing", THINGS)
async def test_a_look_is_audited(tenants: Tenants, thing: str) -> None:
    look = await look_of(tenants, thing)
    payload = (await look.ask(tenants, look.who))["data"][look.mutation]
    assert payload["userErrors"] == []
    assert payload["revealedCode"]["code"] == look.row.code
    assert "/documents/" in payload["revealedCode"]["documentUrl"]
    assert bool(payload["revealedCode"]["holderUrl"]) is thing.startswith("network")
    entry = await tenants.newest("audit_entry")
    assert (entry["subject_type"], entry["subject_id"]) == (look.type, str(look.row.id))
    assert entry["user_id"] == tenants.users[look.who].id
    assert entry["input"] == {"id": look.row.id}
    assert look.row.code not in str(entry)
    again = await look.ask(tenants, look.who)
    assert again["data"][look.mutation] == payload
    assert await looks(tenants) == 2


@pytest.mark.parametrize("thing", THINGS)
async def test_others_see_no_code(tenants: Tenants, thing: str) -> None:
    look = await look_of(tenants, thing)
    missing = (await look.ask(tenants, look.elsewhere))["data"][look.mutation]
    assert missing == {"revealedCode": None, "userErrors": [{"field": ["id"], "code": "NOT_FOUND"}]}
    for id in (0, -1, 2**31 - 1):
        answer = (await look.ask(tenants, look.who, id))["data"][look.mutation]
        assert answer["userErrors"] == [{"field": ["id"], "code": "NOT_FOUND"}]
    rights = [
        Permission.VIEW_VOUCHER,
        Permission.VIEW_GIFT_CARD,
        Permission.VIEW_NETWORK_VOUCHER,
        Permission.USE_VOUCHER,
    ]
    of = {"marketplace_id": tenants.marketplaces["a"].id}
    role = "marketplace"
    if look.who == "a1":
        of, role = {"partner_id": tenants.partners["a1"].id}, "partner"
    await tenants.user("reader", role, permissions=rights, **of)
    for who in ("reader", None):
        answer = await look.ask(tenants, who)
        assert answer["errors"][0]["extensions"]["code"] in {"FORBIDDEN", "UNAUTHENTICATED"}
        assert look.row.code not in str(answer)
    assert await looks(tenants) == 0


async def test_codes_of_a_network_are_not_shown_to_partners(tenants: Tenants) -> None:
    for thing in THINGS[2:]:
        look = await look_of(tenants, thing)
        assert (await look.ask(tenants, "a1"))["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_the_page_of_an_order_is_shown(tenants: Tenants) -> None:
    order = tenants.owned["a1"].order
    text = """mutation($i: RevealOrderPageInput!) { revealOrderPage(input: $i) {
        revealedOrderPage { url } userErrors { field code } } }"""
    payload = (await tenants.graphql("a1", text, i={"id": order}))["data"]["revealOrderPage"]
    told = await tenants.graphql("a1", "query($id: Int!) { order(id: $id) { pageUrl } }", id=order)
    assert payload["revealedOrderPage"]["url"] == told["data"]["order"]["pageUrl"]
    entry = await tenants.newest("audit_entry")
    assert (entry["operation"], entry["subject_type"], entry["subject_id"]) == (
        "reveal_order_page",
        "Order",
        str(order),
    )
    missing = (await tenants.graphql("a2", text, i={"id": order}))["data"]["revealOrderPage"]
    assert missing == {"revealedOrderPage": None, "userErrors": [{"field": ["id"], "code": "NOT_FOUND"}]}
    rights = [Permission.MANAGE_ORDER, Permission.VIEW_ORDER]
    await tenants.user("sender", "partner", partner_id=tenants.partners["a1"].id, permissions=rights)
    await tenants.execute("UPDATE shop_order SET kind = 'vouchers' WHERE id = :id", id=order)
    hidden = (await tenants.graphql("sender", text, i={"id": order}))["data"]["revealOrderPage"]
    assert hidden["userErrors"] == [{"field": ["id"], "code": "NOT_FOUND"}]


async def test_a_masked_code_has_only_the_end(tenants: Tenants) -> None:
    card = tenants.owned["a1"].gift_card
    asked = "query($id: Int!) { giftCard(id: $id) { code maskedCode } }"
    told = (await tenants.graphql("a1", asked, id=card))["data"]["giftCard"]
    shown = min(4, len(told["code"]) // 4)
    assert told["maskedCode"] == f"•••• {told['code'][-shown:]}"
