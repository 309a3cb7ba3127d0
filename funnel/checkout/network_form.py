"""The form of a line of network products: gift cards or boxes."""

from collections.abc import Mapping

from funnel.checkout.basket_form import parse_id
from schema.checkout.basket import BasketLine, BoxChoice, NetworkChoice, NetworkGiftCardChoice
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.view import Checkout

NETWORK_CARD = "network_card"
"""The query parameter that begins a gift card of the network beside what is the partner's own."""


def opened_choice(checkout: Checkout, line: BasketLine | None, query: Mapping[str, str]) -> NetworkChoice | None:
    """The choice whose form is open: that of a line, or a new one that the query begins; None for the list of lines. In the
    network's shop gift cards are begun as in a partner's; among what is a partner's own, by `network_card`.
    """
    if line is not None and isinstance(line.choice, NetworkGiftCardChoice | BoxChoice):
        return line.choice
    if (box_id := parse_id(query.get("box", ""))) is not None:
        return BoxChoice(box_id)
    cards = checkout.network_cards
    if cards is None or not {"new", "design", NETWORK_CARD} & query.keys():
        return None
    return NetworkGiftCardChoice(cards.usual_value, chosen_design(cards, query))


def chosen_design(cards: OfferedGiftCards, query: Mapping[str, str]) -> int | None:
    """The id of the design that the query names, else of the first one; None if the shop has none."""
    design = cards.design(parse_id(query.get("design", ""))) or next(iter(cards.designs), None)
    return design.id if design else None
