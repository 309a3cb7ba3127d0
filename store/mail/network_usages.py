"""Messages about usages of networks' gift cards and vouchers."""

import datetime as dt
from typing import TypedDict

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.mail import MailKind
from store.document.gift_names import giftee_name, gifter_name
from store.gift_card.designs import find_design
from store.gift_card.gift_cards import GiftCardRow
from store.mail.content import CardUsageContent, NetworkUsageContent, VoucherUsageContent
from store.mail.outbox import enqueue_mail
from store.network.boxes import BoxRow, OfferRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import MarketplaceRow, PartnerRow

SHOWN_OF_CODE = 4


async def mail_usage(
    db: AsyncSession, card: GiftCardRow, usage: NetworkGiftCardUsageRow, giftee_email: str | None = None
) -> None:
    """Queue the messages about a usage of a gift card, in the language of the card: to the network, if it has an e-mail
    address, and to the beneficiary. They are the network's, and sent after the session's commit.

    The beneficiary is told at `giftee_email`, else at the giftee's address, else at the gifter's. Call it with the card
    as the usage leaves it. A repeated call for the same usage queues nothing.
    """
    network = await db.get_one(MarketplaceRow, card.network_id)
    design = await find_design(db, card)
    content = CardUsageContent(
        **await _common_content(db, network, card, usage),
        amount=usage.value_amount,
        remaining=card.remaining_amount,
        currency=card.currency,
        expires_on=card.expires_on,
        accent=design.accent_colour if design else "",
    )
    await _enqueue(db, MailKind.NETWORK_GIFT_CARD_USED, card, usage, content, network, giftee_email)


async def mail_voucher_usage(
    db: AsyncSession, voucher: NetworkVoucherRow, usage: NetworkVoucherUsageRow, giftee_email: str | None = None
) -> None:
    """`mail_usage` for a usage of a network voucher."""
    network = await db.get_one(MarketplaceRow, voucher.marketplace_id)
    box = await db.get_one(BoxRow, voucher.box_id)
    offer = None if usage.offer_id is None else await db.get_one(OfferRow, usage.offer_id)
    ends = [moment for moment in (voucher.expires_on, voucher.usable_until) if moment is not None]
    content = VoucherUsageContent(
        **await _common_content(db, network, voucher, usage),
        box=box.name,
        offer=offer.name if offer else Text(),
        usages_left=voucher.max_usages - voucher.usage_count,
        expires_on=min(ends, default=None),
    )
    await _enqueue(db, MailKind.NETWORK_VOUCHER_USED, voucher, usage, content, network, giftee_email)


async def _enqueue(
    db: AsyncSession,
    kind: MailKind,
    sold: GiftCardRow | NetworkVoucherRow,
    usage: NetworkGiftCardUsageRow | NetworkVoucherUsageRow,
    content: NetworkUsageContent,
    network: MarketplaceRow,
    giftee_email: str | None,
) -> None:
    named = giftee_email or sold.giftee_email
    first_name = sold.giftee_first_name or "" if named else sold.gifter_first_name
    beneficiary = named or sold.gifter_email
    page = sold.uuid if beneficiary in (sold.giftee_email, sold.gifter_email) else None
    own = {"is_for_network": True, "holder": giftee_name(sold) or gifter_name(sold), "comment": usage.comment}
    messages = (
        ("network", network.email, content.model_copy(update=own)),
        ("beneficiary", beneficiary, content.model_copy(update={"first_name": first_name, "holder_page": page})),
    )
    for role, to, about in messages:
        await enqueue_mail(
            db,
            kind,
            to=to,
            language=sold.language,
            partner_id=None,
            marketplace_id=network.id,
            about=about.model_dump(),
            unique_key=f"{role}:{usage.id}",
        )


class _Shared(TypedDict):
    is_for_network: bool
    used_id: int
    first_name: str
    holder: str
    code_end: str
    partner: str
    partner_email: str
    used_on: dt.datetime
    time_zone: str
    reservation_id: str
    comment: str


async def _common_content(
    db: AsyncSession,
    network: MarketplaceRow,
    sold: GiftCardRow | NetworkVoucherRow,
    usage: NetworkGiftCardUsageRow | NetworkVoucherUsageRow,
) -> _Shared:
    """What the messages about every usage tell."""
    partner = await db.get_one(PartnerRow, usage.partner_id)
    return _Shared(
        is_for_network=False,
        used_id=sold.id,
        first_name="",
        holder="",
        code_end=sold.normal_code[-SHOWN_OF_CODE:],
        partner=partner.commercial_name,
        partner_email=partner.agency_email,
        used_on=usage.used_on,
        time_zone=network.time_zone,
        reservation_id=usage.reservation_id,
        comment="",
    )
