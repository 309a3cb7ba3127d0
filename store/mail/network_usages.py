"""Messages about usages of networks' gift cards."""

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from store.document.gift_names import giftee_name, gifter_name
from store.gift_card.gift_cards import GiftCardRow
from store.mail.content import NetworkUsageContent
from store.mail.outbox import enqueue_mail
from store.network.designs import GiftCardDesignRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.partner.partners import MarketplaceRow, PartnerRow

SHOWN_OF_CODE = 4


async def mail_usage(
    db: AsyncSession, card: GiftCardRow, usage: NetworkGiftCardUsageRow, giftee_email: str | None = None
) -> None:
    """Queue the messages about a usage, in the language of the card: to the network, if it has an e-mail address, and to
    the beneficiary. They are the network's, and sent after the session's commit.

    The beneficiary is told at `giftee_email`, else at the giftee's address, else at the gifter's. Call it with the card
    as the usage leaves it. A repeated call for the same usage queues nothing.
    """
    network = await db.get_one(MarketplaceRow, card.network_id)
    content = await _content(db, network, card, usage)
    named = giftee_email or card.giftee_email
    first_name = card.giftee_first_name or "" if named else card.gifter_first_name
    own = {"is_for_network": True, "holder": giftee_name(card) or gifter_name(card), "comment": usage.comment}
    messages = (
        ("network", network.email, content.model_copy(update=own)),
        ("beneficiary", named or card.gifter_email, content.model_copy(update={"first_name": first_name})),
    )
    for role, to, about in messages:
        await enqueue_mail(
            db,
            MailKind.NETWORK_GIFT_CARD_USED,
            to=to,
            language=card.language,
            partner_id=None,
            marketplace_id=network.id,
            about=about.model_dump(),
            unique_key=f"{role}:{usage.id}",
        )


async def _content(
    db: AsyncSession, network: MarketplaceRow, card: GiftCardRow, usage: NetworkGiftCardUsageRow
) -> NetworkUsageContent:
    """What both messages tell."""
    partner = await db.get_one(PartnerRow, usage.partner_id)
    design = None if card.design_id is None else await db.get_one(GiftCardDesignRow, card.design_id)
    return NetworkUsageContent(
        is_for_network=False,
        first_name="",
        holder="",
        code_end=card.normal_code[-SHOWN_OF_CODE:],
        partner=partner.commercial_name,
        partner_email=partner.agency_email,
        used_on=usage.used_on,
        time_zone=network.time_zone,
        amount=usage.value_amount,
        remaining=card.remaining_amount,
        currency=card.currency,
        expires_on=card.expires_on,
        reservation_id=usage.reservation_id,
        comment="",
        accent=design.accent_colour if design else "",
    )
