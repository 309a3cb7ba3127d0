"""Shows codes, and the pages and documents that have them, to those who may change what they belong to. Each look is an entry
of the audit log.
"""

from resolvers.core.input_mapping import ById
from resolvers.core.operation import Call, operation, without_stored_response
from resolvers.gift_card.gift_cards import gift_card_document_url
from resolvers.network.designs import network_gift_card_document_url
from resolvers.network.holder import gift_card_holder_url, network_voucher_document_url, voucher_holder_url
from resolvers.order.orders import order_page_url
from resolvers.voucher.vouchers import voucher_document_url
from schema.code_reveal import (
    RevealedCode,
    RevealedOrderPage,
    RevealGiftCardCode,
    RevealNetworkGiftCardCode,
    RevealNetworkVoucherCode,
    RevealOrderPage,
    RevealVoucherCode,
)
from schema.core.errors import NotFound
from schema.core.permission import Permission
from store.gift_card.gift_cards import GiftCardRow
from store.network.gift_cards import NetworkGiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderRow
from store.voucher.vouchers import VoucherRow

_voucher = ById(VoucherRow, "voucher")
_gift_card = ById(GiftCardRow, "gift card")
_network_gift_card = ById(NetworkGiftCardRow, "network gift card")
_network_voucher = ById(NetworkVoucherRow, "network voucher")
_order = ById(OrderRow, "order")


@without_stored_response
@operation(Permission.UPDATE_VOUCHER, exists=_voucher)
async def reveal_voucher_code(call: Call, input: RevealVoucherCode) -> RevealedCode:
    """Show the code of a voucher. The audit log tells who has seen it."""
    row = await _voucher.find(call, input.id)
    call.add_audit_subject(row)
    return RevealedCode(code=row.code, document_url=voucher_document_url(call.context, row.state, row.document_token))


@without_stored_response
@operation(Permission.MANAGE_GIFT_CARD, exists=_gift_card)
async def reveal_gift_card_code(call: Call, input: RevealGiftCardCode) -> RevealedCode:
    """Show the code of a gift card. The audit log tells who has seen it."""
    row = await _gift_card.find(call, input.id)
    call.add_audit_subject(row)
    return RevealedCode(
        code=row.code, document_url=gift_card_document_url(call.context, row.status, row.document_token)
    )


@without_stored_response
@operation(Permission.CREATE_NETWORK_GIFT_CARD, exists=_network_gift_card)
async def reveal_network_gift_card_code(call: Call, input: RevealNetworkGiftCardCode) -> RevealedCode:
    """Show the code of a network gift card. The audit log tells who has seen it."""
    row = await _network_gift_card.find(call, input.id)
    call.add_audit_subject(row)
    return RevealedCode(
        code=row.code,
        document_url=network_gift_card_document_url(call.context, row.status, row.document_token),
        holder_url=gift_card_holder_url(call.context, row.status, row.uuid),
    )


@without_stored_response
@operation(Permission.MANAGE_NETWORK_VOUCHER, exists=_network_voucher)
async def reveal_network_voucher_code(call: Call, input: RevealNetworkVoucherCode) -> RevealedCode:
    """Show the code of a network voucher. The audit log tells who has seen it."""
    row = await _network_voucher.find(call, input.id)
    call.add_audit_subject(row)
    return RevealedCode(
        code=row.code,
        document_url=network_voucher_document_url(call.context, row.status, row.document_token),
        holder_url=voucher_holder_url(call.context, row.status, row.uuid),
    )


@without_stored_response
@operation(Permission.MANAGE_ORDER, exists=_order)
async def reveal_order_page(call: Call, input: RevealOrderPage) -> RevealedOrderPage:
    """Show where the buyer of an order finds everything about it, with the codes of what was bought. The audit log tells who
    has seen it. It is not found for who may not change what was bought.
    """
    row = await _order.find(call, input.id)
    url = order_page_url(call.context, row.uuid, row.kind, row.has_network_lines)
    if url is None:
        raise NotFound(lookup={"id": input.id}, thing="page of this order")
    call.add_audit_subject(row)
    return RevealedOrderPage(url=url)
