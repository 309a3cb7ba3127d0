"""What is still owed for gift cards, by their age, and how much of it is expected never to be spent."""

import datetime as dt
from decimal import Decimal

import strawberry

from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.money import Money


@graphql_enum
class GiftCardAge(DescribedEnum):
    """How long ago gift cards were issued."""

    UP_TO_3_MONTHS = "up_to_3_months", "Less than three months ago."
    UP_TO_6_MONTHS = "up_to_6_months", "Three to six months ago."
    UP_TO_12_MONTHS = "up_to_12_months", "Six to twelve months ago."
    OVER_12_MONTHS = "over_12_months", "More than twelve months ago."
    EXPIRED = (
        "expired",
        "Whenever: they have expired. What is left of them is still owed until it is booked as breakage.",
    )


@strawberry.type(description="What is owed for gift cards of one age.")
class AgedLiability:
    age: GiftCardAge = strawberry.field(description="Their age.")
    count: int = strawberry.field(description="How many gift cards have something left.")
    outstanding: Money = strawberry.field(description="What is left of them, without what is on hold for a payment.")
    expected_breakage: Money | None = strawberry.field(
        description="The part of it that is expected never to be spent; null of expired ones, and without enough history."
    )


@strawberry.type(
    description="What became of the gift cards whose end was in the last 36 months: the share of their value that nobody has "
    "spent is what is expected of the others."
)
class BreakageHistory:
    count: int = strawberry.field(description="How many they are, those that were spent in full included.")
    value: Money = strawberry.field(description="What they were issued with.")
    unspent: Money = strawberry.field(description="What was left of them in the end.")
    share: Decimal | None = strawberry.field(
        description="`unspent` in percent of `value`, with two decimals; null if they are less than 50."
    )


@strawberry.type(description="What is owed for gift cards in one currency.")
class CurrencyLiability:
    currency: str = strawberry.field(description="The currency, ISO 4217.")
    count: int = strawberry.field(description="How many gift cards have something left.")
    outstanding: Money = strawberry.field(description="What is left of all of them.")
    expected_breakage: Money | None = strawberry.field(
        description="The sum of what is expected never to be spent of those that have not expired; null without enough "
        "history. Each issuer's own history is used: of one with too little of it nothing is expected."
    )
    ages: list[AgedLiability] = strawberry.field(description="The same by age, all five, the newest first.")
    history: BreakageHistory = strawberry.field(
        description="What it is estimated from, of all issuers together; `share` is that of all of them."
    )


@strawberry.type(
    description="What is owed for gift cards now. Drafts and cancelled ones are not in it, nor those of another mode, live or "
    "test, than that of their partner; of several partners and of networks only live ones are."
)
class GiftCardLiabilities:
    as_of: dt.datetime = strawberry.field(description="When it was added up.")
    partner_cards: list[CurrencyLiability] = strawberry.field(
        description="What partners owe for their own gift cards, by currency; empty if there have never been any."
    )
    network_cards: list[CurrencyLiability] | None = strawberry.field(
        description="What networks owe for theirs. Null for users of a partner, for the report of one partner, and without "
        "`permissions.use_network_giftcard_api`."
    )
