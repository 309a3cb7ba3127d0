"""The gift cards that a partner offers for sale."""

from schema.core.errors import InvalidInput, Problem
from schema.core.message_names import MessageAmount, TemplatedMessage
from store.partner.partners import PartnerRow


def check_gift_card_offer(partner: PartnerRow, currency: str) -> None:
    """Check bounds and suggested values. Raises InvalidInput, located by the fields of the offer's input, with amounts in the
    currency.
    """
    least, most = partner.gift_card_offer_minimum, partner.gift_card_offer_maximum
    bounds = {"least": MessageAmount(least, currency), "most": MessageAmount(most, currency)}
    if least > most:
        raise InvalidInput.at(
            "maximum", TemplatedMessage("Send at least the minimum, {least}.", least=bounds["least"]), "OUT_OF_RANGE"
        )
    suggested = partner.gift_card_offer_suggested
    problems = [
        Problem(
            ("suggested", place),
            "OUT_OF_RANGE",
            TemplatedMessage(
                "{value} is not from {least} to {most}: propose another value.",
                value=MessageAmount(value, currency),
                **bounds,
            ),
        )
        for place, value in enumerate(suggested)
        if not least <= value <= most
    ]
    problems += [
        Problem(
            ("suggested", place),
            "INVALID",
            TemplatedMessage("{value} is there already.", value=MessageAmount(value, currency)),
        )
        for place, value in enumerate(suggested)
        if value in suggested[:place]
    ]
    if problems:
        raise InvalidInput(*problems)
