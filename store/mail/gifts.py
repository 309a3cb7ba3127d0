"""Messages about vouchers and gift cards: one per addressee and role for the items of an order."""

from collections.abc import Iterable, Sequence

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.mail import MailKind
from store.document.gift_names import SoldItem, giftee_name, gifter_name
from store.gift_card.gift_cards import GiftCardRow
from store.mail.content import GiftContent, GiftItem, GiftRole
from store.mail.outbox import enqueue_mail
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.vouchers import VoucherRow

BUYER_ROLES = {
    ReceptionMode.EXPEDITION: GiftRole.POSTED,
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY: GiftRole.POSTED_TO_GIFTEE,
    ReceptionMode.ON_SITE: GiftRole.WAITING,
}
"""The message to the buyer for reception modes without e-mail."""


async def mail_vouchers(db: AsyncSession, vouchers: Sequence[VoucherRow]) -> None:
    """Queue the messages to buyers and giftees of usable vouchers; they are sent after the session's commit.

    All vouchers belong to one partner. Those of one order belong in one call, so that nobody gets a message for each. A
    repeated call with the same vouchers queues nothing. Flush the session before, so that they have ids.
    """
    await _mail_items(db, MailKind.VOUCHER, vouchers)


async def mail_gift_cards(db: AsyncSession, cards: Sequence[GiftCardRow]) -> None:
    """`mail_vouchers` for gift cards."""
    await _mail_items(db, MailKind.GIFT_CARD, cards)


async def _mail_items(db: AsyncSession, kind: MailKind, sold: Sequence[SoldItem]) -> None:
    if not sold:
        return
    partner_id = sold[0].partner_id
    zone = select(MarketplaceRow.time_zone).join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    time_zone = (await db.exec(zone.where(col(PartnerRow.id) == partner_id))).one()
    together: dict[tuple[GiftRole, str, str, str], list[SoldItem]] = {}
    for one in sold:
        for role, to in addressees(one):
            giftee = one.giftee_email or "" if role is GiftRole.SENT_TO_GIFTEE else ""
            together.setdefault((role, to, giftee, one.language), []).append(one)
    for (role, to, giftee, language), several in together.items():
        content = GiftContent(
            role=role,
            first_name=(several[0].giftee_first_name or "")
            if role is GiftRole.FOR_GIFTEE
            else several[0].gifter_first_name,
            giftee_email=giftee,
            time_zone=time_zone,
            items=tuple(_item(one) for one in several),
        )
        once, about = f"{role}:{several[0].id}", content.model_dump()
        await enqueue_mail(db, kind, to=to, language=language, partner_id=partner_id, about=about, unique_key=once)


def addressees(sold: SoldItem) -> Iterable[tuple[GiftRole, str]]:
    """The addressees of a voucher or a gift card, each with the role of the message."""
    giftee = (sold.giftee_email or "").strip()
    if sold.reception_mode in BUYER_ROLES:
        yield BUYER_ROLES[sold.reception_mode], sold.gifter_email
    elif sold.reception_mode is ReceptionMode.GIFTEE_EMAIL and giftee and giftee.lower() != sold.gifter_email.lower():
        yield GiftRole.FOR_GIFTEE, giftee
        yield GiftRole.SENT_TO_GIFTEE, sold.gifter_email
    else:
        yield GiftRole.BOUGHT, sold.gifter_email


def _item(sold: SoldItem) -> GiftItem:
    item = GiftItem(
        id=sold.id,
        name=Text(),
        to=giftee_name(sold),
        sender=gifter_name(sold),
        message=sold.message or "",
        expires_on=sold.expires_on,
    )
    if isinstance(sold, VoucherRow):
        return item.model_copy(update={"name": sold.prototype_name})
    return item.model_copy(update={"value": sold.value_amount, "currency": sold.currency})
