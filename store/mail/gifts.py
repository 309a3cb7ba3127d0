"""Telling of vouchers and gift cards: one message for each addressee of an order and what becomes of what they bought."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.resource import Text
from schema.coupon.coupon import ReceptionMode
from schema.mail import MailKind
from store.gift_card.gift_cards import GiftCardRow
from store.mail.content import GiftContent, GiftItem, GiftRole
from store.mail.outbox import post
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.vouchers import VoucherRow

Sold: TypeAlias = VoucherRow | GiftCardRow
TO_BUYER = {
    ReceptionMode.EXPEDITION: GiftRole.POSTED,
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY: GiftRole.POSTED_TO_GIFTEE,
    ReceptionMode.ON_SITE: GiftRole.WAITING,
}
"""What a buyer is told where nothing is sent by mail."""


async def tell_of_vouchers(db: AsyncSession, vouchers: Sequence[VoucherRow]) -> None:
    """Write to buyers and giftees of vouchers that can be used now, once the session's transaction is committed.

    All of them are of one partner; those of one order belong into one call, so that nobody gets a message for each. Called
    again with the same vouchers, it writes nothing. They have their ids: flush before.
    """
    await _tell(db, MailKind.VOUCHER, vouchers)


async def tell_of_gift_cards(db: AsyncSession, cards: Sequence[GiftCardRow]) -> None:
    """The same for gift cards."""
    await _tell(db, MailKind.GIFT_CARD, cards)


async def _tell(db: AsyncSession, kind: MailKind, sold: Sequence[Sold]) -> None:
    if not sold:
        return
    partner_id = sold[0].partner_id
    zone = select(MarketplaceRow.time_zone).join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    time_zone = (await db.exec(zone.where(col(PartnerRow.id) == partner_id))).one()
    together: dict[tuple[GiftRole, str, str, str], list[Sold]] = {}
    for one in sold:
        for role, to in addressees(one):
            giftee = one.giftee_email or "" if role is GiftRole.SENT_TO_GIFTEE else ""
            together.setdefault((role, to, giftee, one.language), []).append(one)
    for (role, to, giftee, language), several in together.items():
        content = GiftContent(
            role=role,
            first_name=(several[0].giftee_first_name or "") if role is GiftRole.GIVEN else several[0].gifter_first_name,
            giftee_email=giftee,
            time_zone=time_zone,
            items=tuple(_item(one) for one in several),
        )
        once, about = f"{role}:{several[0].id}", content.model_dump()
        await post(db, kind, to=to, language=language, partner_id=partner_id, about=about, once=once)


def addressees(sold: Sold) -> Iterable[tuple[GiftRole, str]]:
    """Who is told of a voucher or a gift card, and what."""
    giftee = (sold.giftee_email or "").strip()
    if sold.reception_mode in TO_BUYER:
        yield TO_BUYER[sold.reception_mode], sold.gifter_email
    elif sold.reception_mode is ReceptionMode.GIFTEE_EMAIL and giftee and giftee.lower() != sold.gifter_email.lower():
        yield GiftRole.GIVEN, giftee
        yield GiftRole.SENT_TO_GIFTEE, sold.gifter_email
    else:
        yield GiftRole.BOUGHT, sold.gifter_email


def _item(sold: Sold) -> GiftItem:
    item = GiftItem(
        id=sold.id,
        name=Text(),
        to=to_giftee(sold),
        sender=from_gifter(sold),
        message=sold.message or "",
        expires_on=sold.expires_on,
    )
    if isinstance(sold, VoucherRow):
        return item.model_copy(update={"name": sold.prototype_name})
    return item.model_copy(update={"value": sold.value_amount, "currency": sold.currency})


def to_giftee(sold: Sold) -> str:
    """The name that stands after "for"; empty where nobody is named."""
    named = sold.to_giftee if isinstance(sold, VoucherRow) else ""
    return named or f"{sold.giftee_first_name or ''} {sold.giftee_last_name or ''}".strip()


def from_gifter(sold: Sold) -> str:
    """The name that stands after "from"; empty where nobody is named."""
    named = sold.from_gifter if isinstance(sold, VoucherRow) else ""
    return named or f"{sold.gifter_first_name} {sold.gifter_last_name}".strip()
