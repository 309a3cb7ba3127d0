"""The texts and quantities of a buyer's request."""

from dataclasses import replace

from schema.core.errors import InvalidInput, Problem
from schema.core.message_names import TemplatedMessage
from schema.order.page_requests import BuyerWish
from schema.order.refund_request import LONGEST_EMAIL, LONGEST_NAME, LONGEST_REASON
from schema.validation.characters import clean_line, clean_text
from schema.validation.contact import email_address


def checked_wish(wish: BuyerWish) -> BuyerWish:
    """The wish with cleaned texts. Raises InvalidInput with a problem for each field: `name`, `email`, `reason`,
    `lines`.
    """
    problems = list[Problem]()
    name, email = clean_line(_storable(wish.name)), clean_line(_storable(wish.email))
    reason = clean_text(_storable(wish.reason)).strip()
    if not name:
        problems.append(Problem(("name",), "REQUIRED", "Fill this in."))
    for field, text, limit in (("name", name, LONGEST_NAME), ("reason", reason, LONGEST_REASON)):
        if len(text) > limit:
            problems.append(
                Problem((field,), "TOO_LONG", TemplatedMessage("Use at most {most} characters.", most=limit))
            )
    try:
        email = email_address(email)
    except ValueError:
        problems.append(Problem(("email",), "INVALID_EMAIL", "Write an e-mail address like name@example.com."))
    if len(email) > LONGEST_EMAIL:
        problems.append(Problem(("email",), "INVALID_EMAIL", "Write an e-mail address like name@example.com."))
    if not any(quantity > 0 for quantity in wish.quantities.values()):
        problems.append(Problem(("lines",), "REQUIRED", "Say what it is about."))
    if any(quantity < 0 for quantity in wish.quantities.values()):
        problems.append(Problem(("lines",), "OUT_OF_RANGE", "Send quantities from 0."))
    if problems:
        raise InvalidInput(*problems)
    return replace(wish, name=name, email=email, reason=reason)


def _storable(text: str) -> str:
    """Without lone surrogates, which no database stores."""
    return text.encode(errors="ignore").decode()
