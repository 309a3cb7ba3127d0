"""Validation and cleaning of the giftee and of the personal texts of a voucher or gift card."""

import dataclasses
from typing import Any

from resolvers.checkout.buyer import CONTACT_LENGTHS, clean_field, clean_person
from schema.checkout.basket import BasketChoice, Giftee, VoucherChoice
from schema.core.errors import Problem
from schema.core.message_names import TemplatedMessage

LENGTHS = CONTACT_LENGTHS
TEXT_LENGTHS = {"from_gifter": 160, "message": 1000}


def clean_choice(choice: BasketChoice, region: str) -> tuple[BasketChoice, list[Problem]]:
    """The choice with cleaned texts, and a problem for each invalid one: `(giftee, email)`, `from_gifter`, `message`.

    `region` is the country code for telephone numbers without a country prefix, if the giftee's country is unknown.
    """
    cleaned, problems = clean_person(dataclasses.asdict(choice.giftee), LENGTHS, region)
    problems = [dataclasses.replace(problem, path=("giftee", *problem.path)) for problem in problems]
    written: dict[str, Any] = {name: clean_field(getattr(choice, name), name) for name in TEXT_LENGTHS}
    problems += [
        Problem(
            (name,),
            "TOO_LONG",
            TemplatedMessage("Use at most {most} characters.", most=TEXT_LENGTHS[name]),
        )
        for name, text in written.items()
        if len(text) > TEXT_LENGTHS[name]
    ]
    if isinstance(choice, VoucherChoice):
        choice = dataclasses.replace(choice, options={id: count for id, count in choice.options.items() if count})
    return dataclasses.replace(choice, giftee=Giftee(**cleaned), **written), problems
