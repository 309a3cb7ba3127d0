"""What it takes to spend a gift card at once, and to take that back."""

from pydantic import Field

from schema.core.resource import Fields, writable_as
from schema.gift_card.gift_card import GiftCardHold
from schema.gift_card.input import WhichGiftCard
from schema.validation.numbers import MoneyAmount, RowId
from schema.voucher.input import Name


@writable_as(GiftCardHold)
class SpendGiftCard(WhichGiftCard):
    """An amount of a gift card is spent at once."""

    amount: MoneyAmount = Field(description="What to spend, in the card's currency.")
    reference: Name = ""


@writable_as(GiftCardHold)
class ReverseGiftCardCapture(Fields):
    """What was spent is put back."""

    hold_id: RowId = Field(description="The hold that was captured.")
