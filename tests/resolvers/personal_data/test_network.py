"""The gift cards and vouchers of a network: reached by its staff at its shop, never by a partner."""

from typing import Any

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.personal_data import operations
from schema.checkout.basket import Giftee
from schema.core.permission import GRANTABLE_PERMISSIONS
from schema.personal_data.export import PersonalGiftKind
from schema.personal_data.input import ErasePersonalData, ExportPersonalData
from store.document.addresses import DocumentKind, document_key
from tests.fixtures.basket import bought, card_of, columns
from tests.fixtures.network_sale import network_goods
from tests.fixtures.shop import Shop
from tests.resolvers.personal_data.test_operations import ADA, delivered

GRACE = "grace@example.com"
WORDS: dict[str, Any] = {"message": "For you, Grace", "giftee": Giftee(first_name="Grace", email=GRACE)}


def staff(shop: Shop) -> Context:
    """A request of somebody who manages the network."""
    return Context(
        shop.services,
        Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, partner_id=None, marketplace_id=shop.partner.marketplace_id),
    )


async def test_its_staff_read_and_erase_what_it_sold(shop: Shop) -> None:
    goods = await network_goods(shop)
    await bought(shop, goods.cards(**WORDS))
    await bought(shop, goods.boxes(**WORDS))
    await delivered(shop)
    at = {"partner_id": shop.partner.id}
    data = await operations.export_personal_data(staff(shop), ExportPersonalData(email=GRACE, **at))
    kinds = [PersonalGiftKind.NETWORK_GIFT_CARD, PersonalGiftKind.NETWORK_VOUCHER]
    assert [gift.kind for gift in data.gifts] == kinds
    of_partner = await operations.export_personal_data(shop.manager, ExportPersonalData(email=GRACE))
    assert of_partner.gifts == []
    codes = await columns(shop, "network_gift_card", "code", "status", "remaining_amount")
    erasure = await operations.erase_personal_data(staff(shop), ErasePersonalData(email=GRACE, **at))
    assert (erasure.gifts, erasure.checkouts) == (2, 2)
    for table in ("gift_card", "network_voucher"):
        people = await columns(shop, table, "giftee_first_name", "giftee_email", "message", "gifter_email")
        assert people == [(None, None, None, ADA)], table
    assert await columns(shop, "network_gift_card", "code", "status", "remaining_amount") == codes
    assert GRACE not in str(await columns(shop, "mail", "recipient", "content"))


async def test_rendered_documents_and_sessions_go_too(shop: Shop) -> None:
    await bought(shop, card_of("50.00", **WORDS))
    await delivered(shop)
    id = await shop.one("SELECT id FROM gift_card")
    key = document_key(DocumentKind.GIFT_CARD, id)
    await shop.services.files.put(key, b"For Grace", "application/octet-stream")
    digest = await shop.one("SELECT session_digest FROM checkout_attempt")
    name = f"coffret:{{p{shop.partner.id}}}:session:{digest}"
    assert await shop.services.kv.get(name) is not None
    await operations.erase_personal_data(shop.manager, ErasePersonalData(email=ADA))
    assert await shop.services.files.get(key) is None
    assert await shop.services.kv.get(name) is None
