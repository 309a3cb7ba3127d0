"""Whom a voucher or gift card is for, and what is written on it: tidied, with what is wrong with it."""

import dataclasses

from resolvers.checkout.buyer import CONTACT_LENGTHS, tidy, tidy_person
from schema.checkout.basket import BagChoice, GiftCardChoice, Giftee, VoucherChoice
from schema.core.errors import Problem

LENGTHS = CONTACT_LENGTHS
WRITTEN = {"to_giftee": 160, "from_gifter": 160, "message": 1000}
"""What is written on a voucher; on a gift card only the message is."""


def tidied(choice: BagChoice, region: str) -> tuple[BagChoice, list[Problem]]:
    """A choice with its texts tidied, and a problem for each that can't be used: `(giftee, email)`, `message`.

    `region` is the country that telephone numbers without a country code are of, where the giftee's is not known.
    """
    kept, problems = tidy_person(dataclasses.asdict(choice.giftee), LENGTHS, region)
    problems = [dataclasses.replace(problem, path=("giftee", *problem.path)) for problem in problems]
    names = ["message"] if isinstance(choice, GiftCardChoice) else list(WRITTEN)
    written = {name: tidy(getattr(choice, name), name) for name in names}
    problems += [
        Problem((name,), "TOO_LONG", f"Use at most {WRITTEN[name]} characters.")
        for name, text in written.items()
        if len(text) > WRITTEN[name]
    ]
    giftee = Giftee(**kept)
    if isinstance(choice, GiftCardChoice):
        return dataclasses.replace(choice, giftee=giftee, message=written["message"]), problems
    return _voucher(choice, giftee, written), problems


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
