"""The texts of packing slips, in eight languages."""

from dataclasses import dataclass

from store.document.words import TEXTS


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation and return it unchanged."""
    return text


PACKING_SLIP = N_("Packing slip %(number)s")
SEND_TO, COLLECTED_BY = N_("Send to"), N_("To be collected by")
ORDER_NUMBER, ORDER_DATE = N_("Order number"), N_("Order date")
DELIVERY, ORDERED_BY = N_("Delivery"), N_("Ordered by")
ITEM, QUANTITY, PACKED = N_("Item"), N_("Quantity"), N_("Packed")
MESSAGE = N_("Message")
PARCEL = N_("Parcel %(position)s of %(count)s")


@dataclass(frozen=True)
class PackingWords:
    """The texts in one language."""

    language: str

    def say(self, text: str, /, **values: object) -> str:
        """The translation, with the values in the place of `%(name)s`."""
        return TEXTS.translations(self.language).gettext(text) % values

    def pieces(self, count: int) -> str:
        """How many pieces a parcel has."""
        text = TEXTS.translations(self.language).ngettext("%(count)s piece", "%(count)s pieces", count)
        return text % {"count": count}
