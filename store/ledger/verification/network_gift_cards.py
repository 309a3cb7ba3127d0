"""Rules of network gift cards: their usages agree with what partners have earned by them."""

from store.ledger.verification.network_usages import usages_rule
from store.ledger.verification.rule import Rule

RULES: tuple[Rule, ...] = (
    usages_rule(
        "gift_card_usages",
        "Each usage of a network gift card is posted with its value, its fees and what the partner earns; so is each that "
        "was cancelled. Nothing else is.",
        table="network_gift_card_usage",
        owner="gift_card",
        role="card",
    ),
)
