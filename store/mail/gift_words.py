"""Texts about vouchers and gift cards, for the HTML and the text part of a message."""

from collections.abc import Iterable, Sequence
from gettext import NullTranslations

from store.core.localization.formats import Formats
from store.mail.content import GiftContent, GiftItem, GiftRole
from store.mail.gift_details import GiftDetails
from store.mail.subjects import N_

INTRODUCTIONS = {
    GiftRole.BOUGHT: N_("Here is what you bought. Print it, or show it on a phone."),
    GiftRole.FOR_GIFTEE: N_("%(sender)s has a present for you at %(shop)s. Print it, or show it on a phone."),
    GiftRole.SENT_TO_GIFTEE: N_("Your present and your message have been e-mailed to %(email)s."),
    GiftRole.POSTED: N_("Your order is being prepared, and is sent to your address."),
    GiftRole.POSTED_TO_GIFTEE: N_("Your present is being prepared, and is sent to the address that you gave us."),
    GiftRole.WAITING: N_("Your order waits for you on site. Please give your name when you collect it."),
}
ANONYMOUS_INTRODUCTION = N_("Somebody has a present for you at %(shop)s. Print it, or show it on a phone.")


class GiftTexts:
    """The texts in one language."""

    def __init__(self, formats: Formats, texts: NullTranslations) -> None:
        self._formats, self._texts = formats, texts

    def introduction(self, about: GiftContent, shop: str) -> str:
        """The introduction of a message, by its role."""
        sender = about.items[0].sender
        text = ANONYMOUS_INTRODUCTION if about.role is GiftRole.FOR_GIFTEE and not sender else INTRODUCTIONS[about.role]
        return self._texts.gettext(text) % {"sender": sender, "shop": shop, "email": about.giftee_email}

    def name(self, item: GiftItem) -> str:
        """The name of a voucher, or the value and the theme of a gift card."""
        named = self._formats.translate(item.name)
        if item.value is None:
            return named
        parts = self._texts.gettext("Gift card"), self._formats.money(item.value, item.currency), named
        return " · ".join(filter(None, parts))

    def facts(self, item: GiftItem, details: GiftDetails) -> str:
        """Whom it is for and for how long; empty if its name says it already, as that of a gift card says the theme."""
        is_named = item.value is not None and details.facts == self._formats.translate(item.name)
        return "" if is_named else details.facts

    def page(self, item: GiftItem) -> str:
        """The link to the page for the holder of a network's gift card or voucher."""
        if item.value is None:
            return self._texts.gettext("See who accepts it, and how often it can still be used")
        return self._texts.gettext("See what is left, and where it can be used")

    def people(self, item: GiftItem) -> str:
        """The giftee and the giver; empty if neither is named."""
        texts = self._texts
        to = texts.gettext("For %(name)s") % {"name": item.to} if item.to else ""
        sender = texts.gettext("From %(name)s") % {"name": item.sender} if item.sender else ""
        return " · ".join(filter(None, (to, sender)))

    def notes(self, details: Iterable[GiftDetails]) -> list[tuple[str, str]]:
        """The notes of vouchers or gift cards, each once."""
        return list(dict.fromkeys(note for each in details for note in each.notes))

    def place(self, details: Iterable[GiftDetails]) -> Sequence[str]:
        """The lines of the place of vouchers or gift cards, which is one for those of a message."""
        return next((each.contact for each in details), ())

    def last_day(self, item: GiftItem, shop: str) -> str:
        """The title of its last day in a calendar."""
        return self._texts.gettext("Last day: %(name)s, %(shop)s") % {"name": self.name(item), "shop": shop}

    def validity(self, item: GiftItem, time_zone: str) -> str:
        """The end of the validity; empty if there is none."""
        if item.expires_on is None:
            return ""
        return self._texts.gettext("Valid until %(date)s") % {"date": self._formats.date(item.expires_on, time_zone)}
