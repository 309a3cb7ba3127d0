"""Reads the packing slip of an order from the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.core.localization.formats import Formats
from store.document.contact import contact_of
from store.document.packing import words
from store.document.packing.slip import PackedLine, PackingLabels, PackingSlip, Parcel
from store.document.packing.words import PackingWords
from store.document.sheet import SheetBrand
from store.document.source import DocumentSource, stored_picture
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.fulfilment import lines_to_fulfil
from store.order.orders import OrderRow, address_lines
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.attempts import AttemptRow
from store.payment.snapshot import AttemptLine
from store.voucher.vouchers import VoucherRow

COUNTRY_CODE_LENGTH = 2
TO_GIFTEE = ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY


async def packing_slip_source(db: AsyncSession, order: OrderRow) -> DocumentSource:
    """The source of the packing slip of an order in its current state."""
    slip = await packing_slip_of(db, order)
    logo = await stored_picture(db, (await db.get_one(PartnerRow, order.partner_id)).logo_url)
    return DocumentSource(f"documents/packing-slips/{order.id}.pdf", slip, order.created_on, None, logo)


async def packing_slip_of(db: AsyncSession, order: OrderRow) -> PackingSlip:
    """The packing slip of an order in its current state."""
    query = select(PartnerRow, MarketplaceRow.time_zone).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    partner, time_zone = (await db.exec(query.where(col(PartnerRow.id) == order.partner_id))).one()
    return await _Reader(db, order, partner, time_zone).read()


@dataclass(frozen=True)
class _Reader:
    """Reads one packing slip, in the buyer's language."""

    db: AsyncSession
    order: OrderRow
    partner: PartnerRow
    time_zone: str

    @property
    def formats(self) -> Formats:
        return Formats(self.order.language)

    @property
    def words(self) -> PackingWords:
        return PackingWords(self.order.language)

    @property
    def is_collected(self) -> bool:
        return self.order.delivery_kind is DeliveryKind.CLICK_AND_COLLECT

    @property
    def buyer(self) -> str:
        return f"{self.order.buyer_first_name} {self.order.buyer_last_name}".strip()

    async def read(self) -> PackingSlip:
        order, say = self.order, self.words.say
        overline = say(words.PACKING_SLIP, number=order.number)
        return PackingSlip(
            language=order.language,
            title=f"{overline} – {self.partner.commercial_name}",
            look=SheetBrand.from_brand(brand_of(self.partner)),
            words=PackingLabels(
                recipient=say(words.COLLECTED_BY if self.is_collected else words.SEND_TO),
                item=say(words.ITEM),
                quantity=say(words.QUANTITY),
                packed=say(words.PACKED),
                message=say(words.MESSAGE),
            ),
            overline=overline,
            facts=self._facts(),
            parcels=await self._parcels(),
            message=order.message,
            contact=contact_of(self.partner, order.language),
        )

    def _facts(self) -> list[tuple[str, str]]:
        order, say = self.order, self.words.say
        facts = [
            (say(words.ORDER_NUMBER), str(order.number)),
            (say(words.ORDER_DATE), self.formats.date(order.created_on, self.time_zone)),
            (say(words.DELIVERY), self.formats.translate(order.delivery_name)),
        ]
        return facts if self.is_collected else [*facts, (say(words.ORDERED_BY), self.buyer)]

    async def _parcels(self) -> list[Parcel]:
        """One for each address that something is sent to, in the order of the lines."""
        lines, attempt = (
            await lines_to_fulfil(self.db, self.order),
            await self.db.get_one(AttemptRow, self.order.attempt_id),
        )
        addresses = await self._giftees(lines, attempt)
        packed: dict[tuple[str, ...], list[AttemptLine]] = {}
        for position, line in enumerate(lines):
            packed.setdefault(addresses.get(position) or self._recipient(), []).append(line)
        return [
            Parcel(
                name=self.words.say(words.PARCEL, position=at, count=len(packed)) if len(packed) > 1 else "",
                recipient=recipient,
                lines=[self._packed_line(line) for line in inside],
                pieces=self.words.pieces(sum(line.quantity for line in inside)),
            )
            for at, (recipient, inside) in enumerate(packed.items(), 1)
        ]

    def _packed_line(self, line: AttemptLine) -> PackedLine:
        said = self.formats.translate
        return PackedLine(said(line.name), [said(text) for text in line.details], line.quantity)

    def _recipient(self) -> tuple[str, ...]:
        """Who collects the order, or the address of home delivery."""
        order = self.order
        if order.country:
            return (*address_lines(order), self.formats.country(order.country))
        return tuple(filter(None, (self.buyer, order.buyer_phone, order.buyer_email)))

    async def _giftees(self, lines: Sequence[AttemptLine], attempt: AttemptRow) -> Mapping[int, tuple[str, ...]]:
        """The address of each line whose voucher or gift card is sent to its giftee, by the position of the line."""
        found: dict[int, tuple[str, ...]] = {}
        for position, line in enumerate(lines):
            if line.purchase is None or attempt.reception_of(line.purchase) is not TO_GIFTEE:
                continue
            table, id = _issued_by(line)
            row = None if id is None else await self.db.get(table, id)
            if row is not None and row.recipient_address:
                found[position] = self._with_country(row.recipient_address.splitlines())
        return found

    def _with_country(self, lines: Sequence[str]) -> tuple[str, ...]:
        """The lines of an address, with the name of the country in the place of its code at the end."""
        *above, last = lines
        return (*above, self.formats.country(last) if len(last) == COUNTRY_CODE_LENGTH else last)


def _issued_by(line: AttemptLine) -> tuple[Any, int | None]:
    """The table and the id of what was issued for a line."""
    if line.voucher_id is not None:
        return VoucherRow, line.voucher_id
    if line.network_voucher_id is not None:
        return NetworkVoucherRow, line.network_voucher_id
    return GiftCardRow, line.gift_card_id or line.network_gift_card_id
