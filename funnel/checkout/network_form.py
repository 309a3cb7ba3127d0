"""The form of a line of network products: gift cards or boxes."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from funnel.checkout.basket_form import Problems, parse_id, read_amount, read_giftee, read_number
from funnel.core.forms import Form
from schema.checkout.basket import BasketCheckout, BasketLine, BoxChoice, NetworkChoice, NetworkGiftCardChoice


def read_network_choice(form: Form) -> tuple[NetworkChoice, Problems]:
    """The network product of a form, with errors: a box if it names one, else gift cards."""
    own, giftee, message = read_giftee(form)
    quantity, problems = read_number(form, "quantity", 1)
    send_on, mistyped = (None, ()) if own else _read_day(form)
    more: dict[str, Any] = {"self_gifted": own, "giftee": giftee, "message": message, "send_on": send_on}
    if (box_id := parse_id(form.get("box", ""))) is not None:
        return BoxChoice(box_id, quantity, **more), (*problems, *mistyped)
    amount, unreadable = read_amount(form)
    design_id = parse_id(form.get("design", ""))
    return NetworkGiftCardChoice(amount, design_id, quantity, **more), (*unreadable, *problems, *mistyped)


def _read_day(form: Form) -> tuple[dt.date | None, Problems]:
    typed = form.get("send_on", "").strip()
    try:
        return dt.date.fromisoformat(typed) if typed else None, ()
    except ValueError:
        return None, (("send_on", "DATE"),)


def opened_choice(checkout: BasketCheckout, line: BasketLine | None, query: Mapping[str, str]) -> NetworkChoice | None:
    """The choice whose form is open: that of a line, or a new one that the query begins; None for the list of lines."""
    if line is not None and isinstance(line.choice, NetworkGiftCardChoice | BoxChoice):
        return line.choice
    if (box_id := parse_id(query.get("box", ""))) is not None:
        return BoxChoice(box_id)
    cards = checkout.network_cards
    if cards is None or not {"new", "design"} & query.keys():
        return None
    suggested = cards.suggested or (cards.minimum,)
    design = cards.design(parse_id(query.get("design", ""))) or next(iter(cards.designs), None)
    return NetworkGiftCardChoice(suggested[len(suggested) // 2], design.id if design else None)
