"""Inputs that import gift cards of another system."""

import datetime as dt
from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.ownership import PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.gift_card.gift_card import GiftCard
from schema.gift_card.input import GiftCardGifteeInput, GiftCardGifterInput
from schema.validation.languages import Language
from schema.validation.numbers import MoneyAmount
from schema.voucher.input import LongText

MOST_IMPORTED = 1000


@graphql_input_for(GiftCard)
class ImportedGiftCard(SchemaModel):
    """A gift card that another system issued, with what is left of it. Amounts are in the partner's currency."""

    code: str = Field(
        description="Its code: 3 to 40 characters without `/`, not counting spaces and hyphens; case is ignored."
    )
    value: MoneyAmount = Field(description="The amount that it was issued with: more than 0.00.")
    remaining_value: MoneyAmount | None = Field(
        default=None, description="What is left of it: more than 0.00; all of its value if omitted."
    )
    created_on: dt.datetime | None = Field(default=None, description="When it was issued; now if omitted.")
    expires_on: dt.datetime | None = Field(
        default=None, description="When it expires, or has expired; never if omitted."
    )
    gifter_details: GiftCardGifterInput | None = None
    giftee_details: GiftCardGifteeInput | None = None
    message: LongText | None = None
    language: Language = "en"


@graphql_input_for(GiftCard)
class ImportGiftCards(SchemaModel):
    """Import gift cards that another system issued: all of them, or none."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    gift_cards: Annotated[list[ImportedGiftCard], Field(min_length=1, max_length=MOST_IMPORTED)] = Field(
        description=f"1 to {MOST_IMPORTED} gift cards."
    )
    dry_run: bool = Field(default=False, description="Whether to check them only: nothing is imported.")
