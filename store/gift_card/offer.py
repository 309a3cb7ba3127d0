"""Which gift cards a partner sells."""

from schema.checkout.basket import OfferedGiftCards
from schema.core.errors import InvalidInput, Problem
from store.partner.partners import PartnerRow


def offer_of(partner: PartnerRow) -> OfferedGiftCards | None:
    """What its shop sells; None where it sells no gift cards at the moment."""
    if not partner.gift_card_offer_enabled:
        return None
    return OfferedGiftCards(
        suggested=tuple(partner.gift_card_offer_suggested),
        minimum=partner.gift_card_offer_minimum,
        maximum=partner.gift_card_offer_maximum,
        validity_months=partner.gift_card_offer_validity_months,
    )


def check_offer(partner: PartnerRow) -> None:
    """Refuse an offer whose parts do not fit together; InvalidInput names each as the input of an offer does."""
    least, most = partner.gift_card_offer_minimum, partner.gift_card_offer_maximum
    if least > most:
        raise InvalidInput.at("maximum", f"Send at least the minimum, {least}.", "OUT_OF_RANGE")
    suggested = partner.gift_card_offer_suggested
    problems = [
        Problem(("suggested", place), "OUT_OF_RANGE", f"{value} is not from {least} to {most}: propose another value.")
        for place, value in enumerate(suggested)
        if not least <= value <= most
    ]
    problems += [
        Problem(("suggested", place), "INVALID", f"{value} is there already.")
        for place, value in enumerate(suggested)
        if value in suggested[:place]
    ]
    if problems:
        raise InvalidInput(*problems)
