"""What stands in the subject of each message."""

from gettext import NullTranslations
from urllib.parse import urlsplit

from schema.checkout.checkout import Brand
from schema.mail import MailKind
from store.core.localization import Formats
from store.mail.content import Content, EndpointContent, GiftContent, GiftRole, OrderContent


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation, and leave it as it is."""
    return text


TEST = "test"
"""The template of a message that `coffret mail test` sends."""
SUBJECTS = {
    MailKind.ORDER_CONFIRMATION: N_("Your order %(number)s at %(shop)s"),
    MailKind.NEW_ORDER: N_("New order %(number)s: %(total)s"),
    MailKind.PAYMENT_REFUNDED: N_("Your payment at %(shop)s is being refunded"),
    MailKind.ONBOARDING_LINK: N_("Card payments at %(shop)s: your confirmation is needed"),
    MailKind.VOUCHER: N_("Your voucher from %(shop)s"),
    MailKind.GIFT_CARD: N_("Your gift card from %(shop)s"),
    MailKind.ENDPOINT_DISABLED: N_("Events are no longer sent to %(host)s"),
    TEST: N_("Mail works"),
}
SEVERAL = {
    MailKind.VOUCHER: N_("Your vouchers from %(shop)s"),
    MailKind.GIFT_CARD: N_("Your gift cards from %(shop)s"),
}
"""Where a buyer gets more than one."""
OF_ROLES = {
    GiftRole.GIVEN: N_("A present from %(sender)s"),
    GiftRole.SENT_TO_GIFTEE: N_("Your present was sent to %(email)s"),
    GiftRole.POSTED: N_("Your order at %(shop)s comes by post"),
    GiftRole.POSTED_TO_GIFTEE: N_("Your present from %(shop)s goes out by post"),
    GiftRole.WAITING: N_("Your order at %(shop)s can be collected"),
}
"""Of messages about vouchers and gift cards that do not bring a buyer what was bought."""
FROM_NOBODY = N_("A present for you from %(shop)s")
"""Where no giver is named."""


def subject_of(
    kind: MailKind | str, about: Content | None, brand: Brand, formats: Formats, texts: NullTranslations
) -> str:
    """The subject of a message, which is the title of one about vouchers and gift cards as well."""
    text, gaps = SUBJECTS[kind], {"shop": brand.name}
    if isinstance(about, OrderContent):
        gaps |= {"number": str(about.number), "total": formats.money(about.total_amount, about.currency)}
    elif isinstance(about, EndpointContent):
        gaps |= {"host": urlsplit(about.url).hostname or about.url}
    elif isinstance(about, GiftContent):
        text = _of_gift(MailKind(kind), about)
        gaps |= {"sender": about.items[0].sender, "email": about.giftee_email}
    return texts.gettext(text) % gaps


def _of_gift(kind: MailKind, about: GiftContent) -> str:
    if about.role is GiftRole.BOUGHT:
        return (SEVERAL if len(about.items) > 1 else SUBJECTS)[kind]
    nobody = about.role is GiftRole.GIVEN and not about.items[0].sender
    return FROM_NOBODY if nobody else OF_ROLES[about.role]
