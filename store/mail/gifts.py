"""Messages about vouchers and gift cards: one per addressee and role for the items of an order."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar
from uuid import UUID

from sqlalchemy.dialects.postgresql import distinct_on
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.mail import MailKind
from schema.media import MediaSize
from store.catalogue.catalogue import PrototypeImageRow, VoucherPrototypeRow
from store.database.loaders import is_any_of
from store.document.gift_names import SoldItem, giftee_name, gifter_name
from store.document.source import PrintableItem
from store.gift_card.designs import GiftCardDesignRow, find_designs
from store.gift_card.gift_cards import GiftCardRow
from store.mail.content import GiftContent, GiftItem, GiftRole
from store.mail.outbox import enqueue_mail
from store.media.media import MediaRow, media_path_of, other_size_of
from store.network.boxes import BoxImageRow, BoxRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.vouchers import VoucherRow

S = TypeVar("S", bound=PrintableItem)
OrderUuids: TypeAlias = Mapping[tuple[int | None, str], UUID]
"""The uuids of orders, by their ids and the addresses of their buyers."""
BUYER_ROLES = {
    ReceptionMode.EXPEDITION: GiftRole.POSTED,
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY: GiftRole.POSTED_TO_GIFTEE,
    ReceptionMode.ON_SITE: GiftRole.WAITING,
}
"""The message to the buyer for reception modes without e-mail."""


async def mail_vouchers(db: AsyncSession, vouchers: Sequence[VoucherRow], *, again: str = "") -> None:
    """Queue the messages to buyers and giftees of usable vouchers; they are sent after the session's commit, or when
    the vouchers say (`send_on`).

    All vouchers belong to one partner. Those of one order belong in one call, so that nobody gets a message for each. A
    repeated call with the same vouchers queues nothing, unless `again` differs. Flush the session before, so that they
    have ids.
    """
    await _mail_items(db, MailKind.VOUCHER, vouchers, again)


async def mail_gift_cards(db: AsyncSession, cards: Sequence[GiftCardRow], *, again: str = "") -> None:
    """`mail_vouchers` for gift cards."""
    await _mail_items(db, MailKind.GIFT_CARD, cards, again)


async def mail_network_gift_cards(
    db: AsyncSession,
    cards: Sequence[GiftCardRow],
    *,
    to_giftees: bool = True,
    again: str = "",
) -> None:
    """`mail_vouchers` for gift cards of one network: to the giftee, if the card names an e-mail address, else to the
    gifter. The messages are the network's. Without `to_giftees` all are the gifter's, to print.
    """
    if not cards:
        return
    network = await db.get_one(MarketplaceRow, cards[0].network_id)
    designs = await find_designs(db, cards)
    ordered = await _order_uuids(db, cards)
    for group in _by_addressee(cards, network_addressees if to_giftees else _gifter):
        items = [_card_item(card, designs.get(card.design_id)) for card in group.sold]
        content = group.content(network.time_zone, items, _accent(group.sold, designs), ordered)
        await group.enqueue(db, MailKind.NETWORK_GIFT_CARD, content, again, marketplace_id=network.id)


async def mail_network_vouchers(
    db: AsyncSession,
    vouchers: Sequence[NetworkVoucherRow],
    *,
    to_giftees: bool = True,
    again: str = "",
) -> None:
    """`mail_network_gift_cards` for the vouchers of one network."""
    if not vouchers:
        return
    network = await db.get_one(MarketplaceRow, vouchers[0].marketplace_id)
    named = sorted({voucher.box_id for voucher in vouchers})
    rows = (await db.exec(select(BoxRow).where(is_any_of(col(BoxRow.id), named)))).all()
    boxes, covers = {row.id: row for row in rows}, await _covers(db, named)
    ordered = await _order_uuids(db, vouchers)
    for group in _by_addressee(vouchers, network_addressees if to_giftees else _gifter):
        items = [_voucher_item(voucher, boxes[voucher.box_id], covers) for voucher in group.sold]
        content = group.content(network.time_zone, items, orders=ordered)
        await group.enqueue(db, MailKind.NETWORK_VOUCHER, content, again, marketplace_id=network.id)


async def _covers(db: AsyncSession, box_ids: Sequence[int]) -> Mapping[int, UUID]:
    """The cover of each box, else its first picture."""
    image = BoxImageRow
    query = (
        select(image.box_id, MediaRow.uuid)
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .where(is_any_of(col(image.box_id), box_ids))
        .ext(distinct_on(col(image.box_id)))
        .order_by(col(image.box_id), col(image.is_cover).desc(), col(image.position))
    )
    return dict((await db.exec(query)).all())


async def _pictures(db: AsyncSession, sold: Sequence[SoldItem]) -> Mapping[int, str]:
    """The path of the picture of each voucher: the one that its prototype names as its cover, else its first."""
    prototypes = {one.id: one.voucher_prototype_id for one in sold if isinstance(one, VoucherRow)}
    image, prototype = PrototypeImageRow, VoucherPrototypeRow
    query = (
        select(image.voucher_prototype_id, MediaRow.uuid)
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .join(prototype, col(prototype.id) == col(image.voucher_prototype_id))
        .where(is_any_of(col(image.voucher_prototype_id), sorted(set(prototypes.values()))))
        .ext(distinct_on(col(image.voucher_prototype_id)))
        .order_by(
            col(image.voucher_prototype_id), col(image.position) != col(prototype.cover_image), col(image.position)
        )
    )
    covers = {id: media_path_of(uuid, MediaSize.CARD) for id, uuid in (await db.exec(query)).all()}
    return {id: covers[shown] for id, shown in prototypes.items() if shown in covers}


async def _mail_items(db: AsyncSession, kind: MailKind, sold: Sequence[SoldItem], again: str) -> None:
    if not sold:
        return
    partner_id = sold[0].partner_id
    zone = select(MarketplaceRow.time_zone).join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    time_zone = (await db.exec(zone.where(col(PartnerRow.id) == partner_id))).one()
    ordered, pictures = await _order_uuids(db, sold), await _pictures(db, sold)
    designs = await find_designs(db, [one for one in sold if isinstance(one, GiftCardRow)])
    for group in _by_addressee(sold, addressees):
        items = [
            _card_item(one, designs.get(one.design_id))
            if isinstance(one, GiftCardRow)
            else _item(one).model_copy(update={"picture": pictures.get(one.id, "")})
            for one in group.sold
        ]
        content = group.content(time_zone, items, _accent(group.sold, designs), ordered)
        await group.enqueue(db, kind, content, again, partner_id=partner_id)


async def _order_uuids(db: AsyncSession, sold: Sequence[PrintableItem]) -> OrderUuids:
    """The uuids of the orders in which vouchers or gift cards were sold, by the orders' ids and buyers' addresses."""
    named = sorted({one.order_id for one in sold if one.order_id is not None})
    query = select(OrderRow.id, OrderRow.buyer_email, OrderRow.uuid).where(is_any_of(col(OrderRow.id), named))
    return {(id, email): uuid for id, email, uuid in (await db.exec(query)).all()}


@dataclass(frozen=True)
class _Group(Generic[S]):
    """What one addressee gets in one message."""

    role: GiftRole
    to: str
    giftee_email: str
    language: str
    send_on: dt.datetime | None
    sold: list[S] = field(default_factory=list)

    def content(
        self, time_zone: str, items: Sequence[GiftItem], accent: str = "", orders: OrderUuids = MappingProxyType({})
    ) -> GiftContent:
        first, is_giftee = self.sold[0], self.role is GiftRole.FOR_GIFTEE
        return GiftContent(
            role=self.role,
            first_name=(first.giftee_first_name or "") if is_giftee else first.gifter_first_name,
            giftee_email=self.giftee_email,
            time_zone=time_zone,
            items=tuple(items),
            accent=accent,
            order_page=None if is_giftee else orders.get((first.order_id, self.to)),
        )

    async def enqueue(self, db: AsyncSession, kind: MailKind, content: GiftContent, again: str, **more: Any) -> None:
        """Queue the message, once, and once more for each other `again`. `more` is whose it is, as `enqueue_mail` takes
        it.
        """
        key = f"{self.role}:{self.sold[0].id}"
        await enqueue_mail(
            db,
            kind,
            to=self.to,
            language=self.language,
            about=content.model_dump(),
            unique_key=f"{key}:{again}" if again else key,
            send_on=self.send_on,
            **{"partner_id": None, **more},
        )


def _by_addressee(sold: Sequence[S], addressees_of: Callable[[S], Iterable[tuple[GiftRole, str]]]) -> list[_Group[S]]:
    """What belongs into one message each: of one role, to one address, in one language, at one time."""
    groups: dict[tuple[GiftRole, str, str, str, dt.datetime | None], _Group[S]] = {}
    for one in sold:
        for role, to in addressees_of(one):
            giftee = one.giftee_email or "" if role is GiftRole.SENT_TO_GIFTEE else ""
            key = (role, to, giftee, one.language, one.send_on)
            groups.setdefault(key, _Group(*key)).sold.append(one)
    return list(groups.values())


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


def network_addressees(held: GiftCardRow | NetworkVoucherRow) -> Iterable[tuple[GiftRole, str]]:
    """The addressees of a network's gift card or voucher, each with the role of the message. It is always sent by e-mail."""
    giftee = (held.giftee_email or "").strip()
    if giftee and giftee.lower() != held.gifter_email.lower():
        yield GiftRole.FOR_GIFTEE, giftee
        yield GiftRole.SENT_TO_GIFTEE, held.gifter_email
    else:
        yield GiftRole.BOUGHT, held.gifter_email


def _gifter(held: GiftCardRow | NetworkVoucherRow) -> Iterable[tuple[GiftRole, str]]:
    yield GiftRole.BOUGHT, held.gifter_email


def _accent(sold: Iterable[PrintableItem], designs: Mapping[int | None, GiftCardDesignRow]) -> str:
    """The colour of the first design among them; empty if there is none."""
    named = (designs.get(one.design_id) for one in sold if isinstance(one, GiftCardRow))
    return next((design.accent_colour for design in named if design), "")


def _card_item(card: GiftCardRow, design: GiftCardDesignRow | None) -> GiftItem:
    if design is None:
        return _item(card)
    picture = other_size_of(design.picture_url, MediaSize.CARD)
    return _item(card).model_copy(update={"name": design.name, "picture": picture})


def _voucher_item(voucher: NetworkVoucherRow, box: BoxRow, covers: Mapping[int, UUID]) -> GiftItem:
    """The item of a voucher, without its price. It ends at the earlier of its two ends."""
    picture = media_path_of(covers[box.id], MediaSize.CARD) if box.id in covers else ""
    ends = [end for end in (voucher.expires_on, voucher.usable_until) if end is not None]
    return _item(voucher).model_copy(
        update={"name": box.name, "picture": picture, "expires_on": min(ends, default=None)}
    )


def _item(sold: PrintableItem) -> GiftItem:
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
    if isinstance(sold, NetworkVoucherRow):
        return item
    return item.model_copy(update={"value": sold.value_amount, "currency": sold.currency})
