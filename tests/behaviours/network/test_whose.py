"""Of what is of a network each partner sees what is its own: of usages elsewhere no notes and no fees, no orders, no wallets."""

from typing import Any

import pytest
import pytest_asyncio

from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.network.voucher_usages import use_network_voucher
from schema.core.permission import Permission
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from tests.changes import Direct
from tests.fixtures.network import link, network_card, set_terms
from tests.fixtures.network_voucher import network_voucher, offered_box
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder
from tests.transports import OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = (
    "comment",
    "reservationId",
    "commissionRate",
    "commission",
    "commissionVat",
    "managementFee",
    "managementFeeVat",
    "net",
    "freezePayoutDate",
)
FEES = "freezePayoutDate commission { amount } commissionVat { amount } managementFee { amount } managementFeeVat { amount } net { amount }"
USAGES = f"""query ($code: String!) {{ %s(code: $code) {{ usages {{
    partner {{ id }} value {{ amount }} isActive comment reservationId commissionRate {FEES} }} }} }}"""
REST = {"networkGiftCard": "networkgiftcards", "networkVoucher": "networkvouchers"}
USED = {"networkGiftCard": "giftCard", "networkVoucher": "networkVoucher"}
Row = GiftCardRow | NetworkVoucherRow


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def used(tenants: Tenants) -> dict[str, Row]:
    """A gift card and a voucher that were used at a1 and at a2, each sold with an order of b1."""
    await link(tenants, "a1", "a2")
    rows: dict[str, Row] = {}
    for product in ("gift_card", "voucher"):
        await set_terms(tenants, product=product, commission_rate=10, vat_rate=20, management_fee_amount=1)
    rows["networkGiftCard"] = await network_card(tenants)
    rows["networkVoucher"] = await network_voucher(tenants, await offered_box(tenants, "a1", "a2", max_usages=3))
    order = tenants.owned["b1"].order
    for table, row in (("gift_card", rows["networkGiftCard"]), ("network_voucher", rows["networkVoucher"])):
        await tenants.execute(f"UPDATE {table} SET order_id = :order WHERE id = :id", order=order, id=row.id)  # noqa: S608
    ask = Direct(tenants)
    for at in ("a1", "a2"):
        told = {"partner_id": tenants.partners[at].id, "comment": f"Lunch {at}", "reservation_id": f"R-{at}"}
        for kind, operation, more in (
            ("networkGiftCard", use_network_gift_card, {"value": "30.00"}),
            ("networkVoucher", use_network_voucher, {}),
        ):
            assert (await ask.change(at, operation, code=rows[kind].code, **told, **more)).done
    for table in ("network_gift_card_usage", "network_voucher_usage"):
        await tenants.execute(f"UPDATE {table} SET freeze_payout_date = used_on")  # noqa: S608 - of this test
    return rows


async def graphql(tenants: Tenants, who: str, query: str, **variables: Any) -> Any:
    """The data of a query without errors."""
    body = await tenants.graphql(who, query, **variables)
    assert "errors" not in body, body
    return body["data"]


@pytest.mark.parametrize("who", ["a1", "a2", "market a", "master"])
@pytest.mark.parametrize("kind", list(REST))
async def test_usages_elsewhere_tell_no_notes_and_no_fees(
    transport: Transport, tenants: Tenants, used: dict[str, Row], kind: str, who: str
) -> None:
    partners = {name: tenants.partners[name].id for name in ("a1", "a2")}
    if isinstance(transport, OverRest):
        path = f"/api/{REST[kind]}_by_code/{used[kind].code}/usages/"
        usages = (await tenants.client.get(path, headers=transport.headers(who))).json()
        fees = {"commission_rate", "management_fees"}
    else:
        assert isinstance(transport, OverGraphQL)
        data = await graphql(tenants, who, USAGES % kind, code=used[kind].code)
        usages = [{**usage, "partner": usage["partner"]["id"]} for usage in data[kind]["usages"]]
        fees = set(SECRET) - {"comment", "reservationId"}
    assert {usage["partner"] for usage in usages} == set(partners.values())
    for usage in usages:
        (at,) = (name for name, id in partners.items() if id == usage["partner"])
        is_own, notes = who not in partners or who == at, {"comment", "reservation_id", "reservationId"} & usage.keys()
        assert (
            {usage[key] or "" for key in notes} == ({f"Lunch {at}", f"R-{at}"} if len(notes) > 1 else {f"Lunch {at}"})
            if is_own
            else {""}
        )
        for key in fees & usage.keys():
            assert (usage[key] is not None) is is_own, (at, key)
        assert usage["isActive" if "isActive" in usage else "is_active"] is True


@pytest.mark.parametrize("kind", list(REST))
async def test_the_order_is_the_networks_own(tenants: Tenants, used: dict[str, Row], kind: str) -> None:
    query = f"query ($code: String!) {{ {kind}(code: $code) {{ id orderId order {{ number }} }} }}"
    for who, is_told in {"market a": True, "master": True, "a1": False, "a2": False}.items():
        data = await graphql(tenants, who, query, code=used[kind].code)
        assert data[kind]["id"] == used[kind].id
        assert (data[kind]["order"] is not None) is (data[kind]["orderId"] is not None) is is_told, who


async def test_rest_documents_the_uuid_of_the_order_for_everybody(tenants: Tenants, used: dict[str, Row]) -> None:
    path, rest = f"/api/networkgiftcards_by_code/{used['networkGiftCard'].code}/", OverRest(tenants)
    found = {}
    for who in ("market a", "a1"):
        found[who] = (await tenants.client.get(path, headers=rest.headers(who))).json()
    assert found["a1"] == found["market a"]
    assert found["a1"]["order_uuid"]
    assert found["a1"]["order_creation_date"]


@pytest.mark.parametrize("kind", list(REST))
async def test_a_partner_that_is_no_longer_linked_sees_its_usages_only(
    tenants: Tenants, used: dict[str, Row], kind: str
) -> None:
    query = f"{{ {kind}Usages {{ nodes {{ comment net {{ amount }} {USED[kind]} {{ id code }} }} }} }}"
    linked = "UPDATE partner SET linked_to_ngc_settings = :linked, linked_to_nv_settings = :linked WHERE id = :id"
    partner = {"id": tenants.partners["a1"].id}
    try:
        for is_linked in (True, False):
            await tenants.execute(linked, linked=is_linked, **partner)
            ((usage),) = (await graphql(tenants, "a1", query))[f"{kind}Usages"]["nodes"]
            assert (usage["comment"], usage["net"] is not None) == ("Lunch a1", True)
            assert usage[USED[kind]] == ({"id": used[kind].id, "code": used[kind].code} if is_linked else None)
            assert len((await graphql(tenants, "market a", query))[f"{kind}Usages"]["nodes"]) == 2
    finally:
        await tenants.execute(linked, linked=True, **partner)


async def test_the_link_to_a_wallet_is_for_who_can_open_it(tenants: Tenants, used: dict[str, Row]) -> None:
    rest, code = OverRest(tenants), used["networkGiftCard"].code
    for who, status in {"market a": 200, "master": 200, "a1": 404}.items():
        for path in (f"/api/networkgiftcards_by_code/{code}/", f"/api/networkgiftcards/{code}/"):
            answer = await tenants.client.get(path, headers=rest.headers(who))
            assert answer.status_code == 200
            links = [link for link in answer.headers.get_list("link") if "wallet" in link]
            assert bool(links) is (status == 200), who
        wallet = await tenants.one(
            "SELECT w.uuid FROM wallet w JOIN gift_card c ON c.wallet_id = w.id WHERE c.normal_code = :code",
            code=code.replace("-", ""),
        )
        opened = await tenants.client.get(f"/api/wallets/{wallet}/transfers/", headers=rest.headers(who))
        assert opened.status_code == status, who


async def test_the_link_to_a_wallet_needs_its_permission(tenants: Tenants) -> None:
    viewer = await holder(tenants, "a1", Permission.VIEW_GIFT_CARD)
    path, rest = f"/api/giftcards/{tenants.owned['a1'].gift_card}/", OverRest(tenants)
    for who, is_sent in (("a1", True), (viewer, False)):
        answer = await tenants.client.get(path, headers=rest.headers(who))
        assert (answer.status_code, 'rel="wallet"' in answer.headers.get("link", "")) == (200, is_sent)
