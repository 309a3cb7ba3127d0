"""The messages of the API in words for people, and in their language: "Enter a day in the past." for "Send …"."""

import enum
import re
from collections.abc import Callable, Mapping
from gettext import NullTranslations

from admin.graph.labels import PROTOTYPE, label_of, value_label
from funnel.core.messages import N_
from schema.core.message_names import MessageAmount, MessageWording, PublishedName
from store.core.localization.formats import Formats

SENT = re.compile(r"(^|[.:] )Send ")
"""Programs send a value; people enter it."""
NAME = re.compile(r"`([A-Za-z_]+)`")
"""A field or a value, as the API writes it."""
IN_WORDS: Mapping[str, str] = {
    "This partner has no IBAN. Set it with `updatePartner` first.": N_("This partner has no IBAN. Enter it first."),
    "The payment provider does not know this partner yet. Activate its payments first: `activatePayments`, over REST "
    "POST /api/payment_hub/partner/<partner_uuid>/activate-payments/.": N_(
        "The payment provider does not know this partner yet. Activate its payments first."
    ),
    "The payment provider refused this bank account: {reason} Correct it with `updatePartner`, then register it.": N_(
        "The payment provider refused this bank account: {reason} Correct it, then register it."
    ),
    "This Idempotency-Key was used with another request. Use a new key for a new request.": N_(
        "This form was sent already, with other values. Open the page again."
    ),
    "A request with this Idempotency-Key is still running. Try again in a moment.": N_(
        "This form was sent already, and is being worked on. Look again in a moment."
    ),
    "The database connection was lost while this was being saved, so it may or may not have been done. Check before you "
    "send it again; with the same Idempotency-Key it is never done twice.": N_(
        "The connection was lost while this was being saved, so it may or may not have been done. Send the form again: "
        "nothing is done twice."
    ),
    "There is no active design with this id for these gift cards.": N_(
        "New gift cards cannot have this design: choose another, or activate it first."
    ),
    "Send a file.": N_("Choose a file."),
    "Send a UUID.": N_("This is not valid."),
    "Send true or false.": N_("Choose yes or no."),
    "Send a date and time, such as 2030-12-31T12:00:00Z.": N_("Enter a day and a time, such as 24/12/2026, 18:30."),
    "Send a time, such as 2030-12-31T12:00:00Z.": N_("Enter a day and a time, such as 24/12/2026, 18:30."),
    "Send a date, such as 2030-12-31.": N_("Enter a day, such as 24/12/2026."),
}
"""Messages that tell programs what to call or to write, in words for people."""


def for_people(message: str) -> str:
    """A message or its template for people: they enter what programs send, and call no operations."""
    return IN_WORDS.get(message) or PROTOTYPE.sub(r"experience\1", SENT.sub(r"\1Enter ", message))


def wording(translations: NullTranslations, formats: Formats) -> MessageWording:
    """How the back office words the errors of the API for a reader of some texts and formats."""
    translate: Callable[[str], str] = translations.gettext

    def name(published: PublishedName) -> str:
        return translate(value_label(published.name) if isinstance(published, enum.Enum) else label_of(str(published)))

    def labelled(match: re.Match[str]) -> str:
        words = match.group(1)
        return f"“{translate(value_label(words) if words.isupper() else label_of(words))}”"

    def translated(message: str) -> str:
        return NAME.sub(labelled, translate(for_people(message))) if message else ""

    def money(of: MessageAmount) -> str:
        return formats.money(of.amount, of.currency)

    return MessageWording(name, translated, money)
