"""Inputs that issue, change and use network gift cards."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.id_or_code import Code, IdOrCode
from schema.core.inputs import graphql_input_for
from schema.core.ownership import MARKETPLACE_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.gift_card.gift_card import GiftCardGiftee, GiftCardGifter
from schema.network.gift_card import NetworkGiftCard, NetworkGiftCardStatus, NetworkGiftCardUsage
from schema.network.usage_input import NewUsageFields, Note
from schema.partner.input import AllowedStatuses
from schema.validation.characters import line_up_to
from schema.validation.contact import Email
from schema.validation.dates import LastMoment, Moment
from schema.validation.languages import Language
from schema.validation.numbers import MoneyAmount, RowId
from schema.voucher.input import LongText, Name

CreatedStatus = Annotated[
    NetworkGiftCardStatus,
    AllowedStatuses(
        (
            NetworkGiftCardStatus.DRAFT,
            NetworkGiftCardStatus.PAID,
            NetworkGiftCardStatus.CANCELLED,
            NetworkGiftCardStatus.USING,
            NetworkGiftCardStatus.TEST,
        ),
        "The service itself sets the other statuses. Send {choices}.",
    ),
]


@graphql_input_for(GiftCardGifter)
class NetworkGifterInput(SchemaModel):
    """Who gives it."""

    first_name: Name
    last_name: Name
    email: Email


@graphql_input_for(GiftCardGiftee)
class NetworkGifteeInput(SchemaModel):
    """Who receives it. Empty fields are unknown."""

    first_name: Name = ""
    last_name: Name = ""
    email: Email = ""


@graphql_input_for(NetworkGiftCard)
class CreateNetworkGiftCard(SchemaModel):
    """Issue a network gift card that was paid elsewhere, or that is to be tried. Nothing is charged, and no mail is sent."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    status: CreatedStatus = Field(
        default=NetworkGiftCardStatus.PAID,
        description="`PAID`: it can be used. `TEST`: so it can, and moves no money. `DRAFT`: it can be used after "
        "`activateNetworkGiftCard`. `USING`, `CANCELLED`: for cards that come from another system.",
    )
    value: MoneyAmount = Field(description="The amount to issue it with, in the currency of the marketplace.")
    gifter_details: NetworkGifterInput
    giftee_details: NetworkGifteeInput | None = None
    message: LongText = Field(description="The gifter's message; may be empty.")
    starts_on: Moment = Field(description="When it can be used for the first time.")
    expires_on: LastMoment | None = Field(
        default=None,
        description="When it expires; a date without a time includes that day. Null: the validity that the network has set.",
    )
    is_splittable: bool | None = Field(
        default=None, description="Whether it can be spent in several usages. Null: as the network has set."
    )
    language: Language = "en"
    code: Annotated[str, line_up_to(40)] = Field(
        default="", description="The code that it has already, without `/`. Empty: a new one."
    )
    design_id: RowId | None = Field(default=None, description="The id of its design; null for none.")
    remaining_value: MoneyAmount | None = Field(
        default=None, description="What is left of a card that comes from another system. Null: all of it."
    )


@graphql_input_for(NetworkGiftCard)
class ActivateNetworkGiftCard(IdOrCode):
    """Activate a network gift card that is a draft."""


@graphql_input_for(NetworkGiftCard)
class CancelNetworkGiftCard(IdOrCode):
    """Cancel a network gift card."""


@graphql_input_for(NetworkGiftCard)
class ExtendNetworkGiftCard(IdOrCode):
    """Extend the validity of a network gift card."""

    expires_on: LastMoment = Field(
        description="When it expires: in the future, and later than before. A date without a time includes that day."
    )


@graphql_input_for(NetworkGiftCard)
class UpdateNetworkGiftCard(IdOrCode):
    """Change a network gift card. Omitted fields stay unchanged."""

    is_active: strawberry.Maybe[bool]
    is_splittable: strawberry.Maybe[bool]
    message: strawberry.Maybe[LongText]


@graphql_input_for(NetworkGiftCardUsage)
class UseNetworkGiftCard(NewUsageFields):
    """Use an amount of a network gift card at a partner."""

    code: Code = Field(description="The network gift card's code; case, hyphens and spaces are ignored.")
    used_on: Moment | None = Field(
        default=None,
        description="When it is used; it decides about the payout. Without an offset it is in the network's time zone. "
        "Null: now.",
    )
    value: MoneyAmount = Field(description="The amount to use, in the card's currency.")


@graphql_input_for(NetworkGiftCardUsage)
class UpdateNetworkGiftCardUsage(SchemaModel):
    """Change the date that decides about the payout of a usage of a network gift card."""

    id: RowId
    freeze_payout_date: Moment | None = Field(description="The date; null: that of `usedOn`.")


@graphql_input_for(NetworkGiftCardUsage)
class CancelNetworkGiftCardUsage(SchemaModel):
    """Cancel a usage of a network gift card."""

    id: RowId
    comment: Note = Field(default="", description="Why; it replaces the comment of the usage unless it is empty.")
