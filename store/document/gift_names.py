"""The names of the giftee and the giver of a gift."""

from typing import TypeAlias

from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.voucher.vouchers import VoucherRow

SoldItem: TypeAlias = VoucherRow | GiftCardRow


def giftee_name(sold: SoldItem | NetworkVoucherRow) -> str:
    """The name to print after "for"; empty if none is given."""
    named = sold.to_giftee if isinstance(sold, VoucherRow) else ""
    return named or f"{sold.giftee_first_name or ''} {sold.giftee_last_name or ''}".strip()


def gifter_name(sold: SoldItem | NetworkVoucherRow) -> str:
    """The name to print after "from"; empty if none is given."""
    return sold.from_gifter or f"{sold.gifter_first_name} {sold.gifter_last_name}".strip()
