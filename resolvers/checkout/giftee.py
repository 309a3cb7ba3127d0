"""Validation and cleaning of the giftee and of the personal texts of a voucher or gift card."""

import dataclasses

from resolvers.checkout.buyer import CONTACT_LENGTHS, clean_field, clean_person
from schema.checkout.basket import BasketChoice, Giftee, VoucherChoice
from schema.core.errors import Problem

LENGTHS = CONTACT_LENGTHS
TEXT_LENGTHS = {"to_giftee": 160, "from_gifter": 160, "message": 1000}
"""Personal texts of a voucher. Gift cards and boxes have only the message."""


def clean_choice(choice: BasketChoice, region: str) -> tuple[BasketChoice, list[Problem]]:
    """The choice with cleaned texts, and a problem for each invalid one: `(giftee, email)`, `message`.

    `region` is the country code for telephone numbers without a country prefix, if the giftee's country is unknown.
    """
    cleaned, problems = clean_person(dataclasses.asdict(choice.giftee), LENGTHS, region)
    problems = [dataclasses.replace(problem, path=("giftee", *problem.path)) for problem in problems]
    names = list(TEXT_LENGTHS) if isinstance(choice, VoucherChoice) else ["message"]
    written = {name: clean_field(getattr(choice, name), name) for name in names}
    problems += [
        Problem((name,), "TOO_LONG", f"Use at most {TEXT_LENGTHS[name]} characters.")
        for name, text in written.items()
        if len(text) > TEXT_LENGTHS[name]
    ]
    giftee = Giftee(**cleaned)
    if isinstance(choice, VoucherChoice):
        return _voucher(choice, giftee, written), problems
    return dataclasses.replace(choice, giftee=giftee, message=written["message"]), problems


def _voucher(choice: VoucherChoice, giftee: Giftee, written: dict[str, str]) -> VoucherChoice:
    options = {option: count for option, count in choice.options.items() if count}
    return dataclasses.replace(
        choice,
        giftee=giftee,
        options=options,
        to_giftee=written["to_giftee"],
        from_gifter=written["from_gifter"],
        message=written["message"],
    )
