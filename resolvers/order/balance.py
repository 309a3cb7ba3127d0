"""What is left of a voucher or gift card, for whoever has its code."""

from typing import TypeAlias
from zoneinfo import ZoneInfo

from sqlmodel import col, false, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.brute_force import throttled_code_lookup
from resolvers.core.operation import Call, operation
from resolvers.order.issued import ends_of, issued_state
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.order.balance import CodeBalance
from schema.voucher.voucher import VoucherState
from store.core.codes import normalize
from store.gift_card.designs import find_design
from store.gift_card.gift_cards import GiftCardRow
from store.network.boxes import BoxRow
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import PartnerRow, partner_with_time_zone
from store.voucher.vouchers import VoucherRow

Held: TypeAlias = VoucherRow | GiftCardRow | NetworkVoucherRow
UNISSUED = (*(VoucherState.DRAFT, VoucherState.ERROR), GiftCardStatus.DRAFT, NetworkVoucherStatus.DRAFT)
"""States of what nobody has the code of yet."""


@operation(AccessRule.CUSTOMER)
async def find_balance(call: Call, code: str) -> CodeBalance:
    """The voucher or gift card of a code, of the shop or of its network: what is left of it, until when it can be used.

    Raises NotFound for a code that this shop does not know, whoever else does, and TooManyRequests after too many of these.
    """
    partner_id = call.caller.partner_id
    assert partner_id is not None, "a customer is in a shop"
    partner, time_zone = await partner_with_time_zone(call.db, partner_id)

    async def look() -> Held | None:
        return await _find(call.db, partner, normalize(code))

    row = await throttled_code_lookup(call.context, "code", code, look)
    if row is None:
        raise NotFound(thing="code")
    card = row if isinstance(row, GiftCardRow) else None
    return CodeBalance(
        state=issued_state(row, call.services.clock.now().astimezone(ZoneInfo(time_zone))),
        is_gift_card=card is not None,
        name=await _name_of(call.db, row),
        currency=row.currency,
        value=card.value_amount if card else None,
        remaining=card.remaining_amount if card else None,
        usages_left=row.max_usages - row.usage_count if isinstance(row, NetworkVoucherRow) else None,
        starts_on=None if isinstance(row, VoucherRow) else row.starts_on,
        expires_on=min(ends_of(row), default=None),
        time_zone=time_zone,
    )


async def _find(db: AsyncSession, partner: PartnerRow, normal_code: str) -> Held | None:
    """What the shop has issued, or its network if it takes what this issues. Each table is read, whatever the others have:
    how long it takes tells nothing.
    """
    vouchers, cards, boxed = VoucherRow, GiftCardRow, NetworkVoucherRow
    takes_cards = partner.linked_to_ngc_settings or partner.is_network_shop
    takes_vouchers = partner.linked_to_nv_settings or partner.is_network_shop
    of_network = col(cards.network_id) == partner.marketplace_id if takes_cards else false()
    found: list[Held | None] = [
        (await db.exec(query)).one_or_none()
        for query in (
            select(vouchers).where(col(vouchers.normal_code) == normal_code, col(vouchers.partner_id) == partner.id),
            select(cards).where(
                col(cards.normal_code) == normal_code, or_(col(cards.partner_id) == partner.id, of_network)
            ),
            select(boxed).where(
                col(boxed.marketplace_id) == partner.marketplace_id if takes_vouchers else false(),
                col(boxed.normal_code) == normal_code,
            ),
        )
    ]
    rows = (row for row in found if row is not None)
    return next(
        (row for row in rows if (row.state if isinstance(row, VoucherRow) else row.status) not in UNISSUED), None
    )


async def _name_of(db: AsyncSession, row: Held) -> Text:
    if isinstance(row, VoucherRow):
        return row.prototype_name
    if isinstance(row, NetworkVoucherRow):
        return (await db.get_one(BoxRow, row.box_id)).name
    design = await find_design(db, row)
    return design.name if design else Text()
