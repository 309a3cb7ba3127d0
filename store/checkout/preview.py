"""The document of a line of a basket, as it will be printed once it is paid."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.basket import BasketLine, BoxChoice, NetworkGiftCardChoice, VoucherChoice
from schema.checkout.checkout import Buyer
from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.voucher.voucher import VoucherState
from store.catalogue.catalogue import VoucherPrototypeRow
from store.checkout.purchases import full_name, sending_moment, validity_by
from store.checkout.shops import CheckoutShop
from store.core.settings import Settings
from store.coupon.coupons import CouponRow
from store.coupon.rules import CENT
from store.coupon.validity import validity_end
from store.document import words
from store.document.sheet import Sheet
from store.document.source import DocumentSource, PrintableItem, document_source_of
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import MarketplaceRow
from store.voucher.issuing import copy_prototype
from store.voucher.payment import end_of_validity
from store.voucher.vouchers import VoucherRow

NO_CODE = "XXXX-XXXX-XXXX"


@dataclass(frozen=True, slots=True)
class LinePreview:
    """What the document of a line needs beside the line. `now` is in the time zone of the marketplace."""

    shop: CheckoutShop
    coupons: Sequence[CouponRow]
    """The coupons that apply to the line."""
    buyer: Buyer
    language: str
    now: dt.datetime

    async def source(self, db: AsyncSession, settings: Settings, line: BasketLine) -> DocumentSource:
        """The source of the document of a line that can be ordered. In place of the QR code it says that it is a preview."""
        row = await self._row(db, line)
        found = await document_source_of(db, settings, row, self.now, _options(line))
        assert isinstance(found.sheet, Sheet), "vouchers and gift cards are sheets"
        mark, hint = (words.translate(self.language, text) for text in (words.PREVIEW, words.CODE_FOLLOWS))
        return replace(found, sheet=replace(found.sheet, mark=mark, mark_hint=hint))

    async def _row(self, db: AsyncSession, line: BasketLine) -> PrintableItem:
        """The voucher or gift card of a line, as it would be issued now. It is not stored."""
        choice = line.choice
        if isinstance(choice, VoucherChoice):
            assert line.prototype is not None, "a priced line of a voucher has its prototype"
            prototype = await db.get_one(VoucherPrototypeRow, line.prototype.id)
            voucher = VoucherRow(
                **self._columns(line, prototype.validity_months),
                partner_id=self.shop.partner_id,
                voucher_prototype_id=prototype.id,
                state=VoucherState.PAID,
                nb_adults=choice.adults,
                nb_children=choice.children,
                nb_babies=choice.babies,
                nb_nights=line.nights,
            )
            copy_prototype(voucher, prototype)
            return voucher
        if isinstance(choice, BoxChoice):
            network = await db.get_one(MarketplaceRow, self.shop.network.marketplace_id)
            return NetworkVoucherRow(
                **self._columns(line, network.network_voucher_validity_months),
                marketplace_id=network.id,
                box_id=choice.box_id,
                status=NetworkVoucherStatus.PAID,
                price_amount=line.base_price,
                max_usages=line.box.max_usages if line.box else 1,
                max_days_after_first_usage=line.box.max_days_after_first_usage if line.box else 0,
            )
        return self._gift_card(line)

    def _gift_card(self, line: BasketLine) -> GiftCardRow:
        value = (line.value / line.quantity).quantize(CENT)
        common: dict[str, Any] = {
            "status": GiftCardStatus.PAID,
            "value_amount": value,
            "remaining_amount": value,
            "design_id": line.design.id if line.design else None,
        }
        if isinstance(line.choice, NetworkGiftCardChoice):
            months, network_id = self.shop.network.validity_months, self.shop.network.marketplace_id
            return GiftCardRow(**self._columns(line, months), **common, network_id=network_id)
        assert self.shop.gift_cards is not None, "a priced line of a gift card needs an offer"
        months = self.shop.gift_cards.validity_months
        return GiftCardRow(**self._columns(line, months), **common, partner_id=self.shop.partner_id)

    def _columns(self, line: BasketLine, months: int) -> dict[str, Any]:
        choice = line.choice
        zone = ZoneInfo(self.shop.time_zone)
        begins = sending_moment(choice, line.reception, zone, self.now) or self.now
        validity = validity_by(self.coupons)
        giftee = self.buyer if choice.self_gifted else choice.giftee
        return {
            "id": 0,
            "code": NO_CODE,
            "normal_code": "",
            "currency": self.shop.currency,
            "language": self.language,
            "created_on": self.now,
            "expires_on": validity_end(validity, begins, zone) or end_of_validity(begins, months, zone),
            "gifter_first_name": self.buyer.first_name,
            "gifter_last_name": self.buyer.last_name,
            "giftee_first_name": giftee.first_name or None,
            "giftee_last_name": giftee.last_name or None,
            "from_gifter": choice.from_gifter or full_name(self.buyer),
            "message": choice.message or None,
        }


def _options(line: BasketLine) -> Sequence[tuple[Text, int]]:
    """The included options of a voucher, then the chosen ones, by name and number."""
    included = line.prototype.included if line.prototype else ()
    chosen = ((priced.option.name, priced.count) for priced in line.options)
    return [*((option.name, option.count) for option in included), *chosen]
