"""The subject of each kind of message."""

from gettext import NullTranslations
from urllib.parse import urlsplit

from schema.checkout.brand import Brand
from schema.invoice.invoice import InvoiceKind
from schema.mail import MailKind
from schema.order.refund_request import RefundRequestKind
from schema.payment.dispute import DisputeState
from store.core.localization.formats import Formats
from store.mail.content import (
    CardUsageContent,
    DisputeContent,
    GiftContent,
    GiftRole,
    InvoiceContent,
    OrderContent,
    OrderRefundContent,
    PaymentRequestContent,
    PayoutMailContent,
    RenewalContent,
    VoucherUsageContent,
)
from store.mail.link_content import Content, EndpointContent, OrderNumberContent, RefundRequestContent


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation and return it unchanged."""
    return text


TEST_MAIL = "test"
"""The template of a message that `coffret mail test` sends."""
SUBJECTS = {
    MailKind.ORDER_CONFIRMATION: N_("Your order %(number)s at %(shop)s"),
    MailKind.NEW_ORDER: N_("New order %(number)s: %(total)s"),
    MailKind.PAYMENT_REFUNDED: N_("Your payment at %(shop)s is being refunded"),
    MailKind.ORDER_REFUNDED: N_("Order %(number)s at %(shop)s: %(total)s refunded"),
    MailKind.ORDER_LINK: N_("The link to your order %(number)s at %(shop)s"),
    MailKind.ORDER_READY: N_("Your order %(number)s at %(shop)s is ready to collect"),
    MailKind.ORDER_SENT: N_("Your order %(number)s from %(shop)s is on its way"),
    MailKind.ORDER_CANCELLED: N_("Your order %(number)s at %(shop)s is cancelled"),
    MailKind.REQUEST_RECEIPT: N_("Your request about order %(number)s at %(shop)s"),
    MailKind.NEW_REQUEST: N_("Order %(number)s: the buyer asks for a refund"),
    MailKind.REQUEST_DECLINED: N_("Order %(number)s at %(shop)s: the answer to your request"),
    MailKind.ONBOARDING_LINK: N_("Card payments at %(shop)s: your confirmation is needed"),
    MailKind.PAYMENT_REQUEST: N_("%(shop)s asks you to pay %(total)s"),
    MailKind.PAYMENT_REQUEST_REMINDER: N_("A reminder: %(total)s to pay to %(shop)s"),
    MailKind.IDENTITY_RENEWAL: N_("%(shop)s: verify your identity again by %(day)s"),
    MailKind.VOUCHER: N_("Your voucher from %(shop)s"),
    MailKind.GIFT_CARD: N_("Your gift card from %(shop)s"),
    MailKind.NETWORK_GIFT_CARD: N_("Your gift card from %(shop)s"),
    MailKind.NETWORK_VOUCHER: N_("Your voucher from %(shop)s"),
    MailKind.NETWORK_GIFT_CARD_USED: N_("Your gift card: %(amount)s used at %(partner)s"),
    MailKind.NETWORK_VOUCHER_USED: N_("Your voucher: %(box)s, used at %(partner)s"),
    MailKind.DISPUTE_OPENED: N_("A bank disputes a payment of %(amount)s"),
    MailKind.DISPUTE_ENDED: N_("Dispute ended: %(amount)s"),
    MailKind.INVOICE: N_("Invoice %(number)s from %(issuer)s"),
    MailKind.PAYOUT_WAITING: N_("A payout of %(amount)s waits"),
    MailKind.PAYOUT_FAILED: N_("A payout of %(amount)s has failed"),
    MailKind.PAYOUT_PAID: N_("A payout of %(amount)s is on its way"),
    MailKind.RECONCILIATION: N_("The payment provider and the ledger disagree"),
    MailKind.ENDPOINT_DISABLED: N_("Events are no longer sent to %(host)s"),
    MailKind.PASSWORD_RESET: N_("Choose a new password for %(shop)s"),
    MailKind.USER_INVITATION: N_("Your log-in for %(shop)s"),
    MailKind.ACCOUNT_CHANGED: N_("Your log-in for %(shop)s has changed"),
    TEST_MAIL: N_("Mail works"),
}
PLURAL_SUBJECTS = {
    MailKind.VOUCHER: N_("Your vouchers from %(shop)s"),
    MailKind.GIFT_CARD: N_("Your gift cards from %(shop)s"),
    MailKind.NETWORK_GIFT_CARD: N_("Your gift cards from %(shop)s"),
    MailKind.NETWORK_VOUCHER: N_("Your vouchers from %(shop)s"),
}
"""For buyers of more than one."""
WITHDRAWAL_SUBJECTS = {
    MailKind.REQUEST_RECEIPT: N_("Your withdrawal from order %(number)s at %(shop)s"),
    MailKind.NEW_REQUEST: N_("Order %(number)s: the buyer withdraws"),
    MailKind.REQUEST_DECLINED: N_("Order %(number)s at %(shop)s: the answer to your withdrawal"),
}
USAGE_SUBJECTS_FOR_NETWORK = {
    MailKind.NETWORK_GIFT_CARD_USED: N_("Gift card used: %(amount)s at %(partner)s"),
    MailKind.NETWORK_VOUCHER_USED: N_("Voucher used: %(box)s at %(partner)s"),
}
RETURNED_PAYOUT = N_("The bank has sent back a payout of %(amount)s")
DISPUTE_SUBJECTS = {
    DisputeState.WON: N_("Dispute won: %(amount)s"),
    DisputeState.LOST: N_("Dispute lost: %(amount)s"),
    DisputeState.CANCELLED: N_("Dispute withdrawn: %(amount)s"),
}
"""For disputes about money that was taken."""
CREDIT_NOTE_SUBJECT = N_("Credit note %(number)s from %(issuer)s")
ROLE_SUBJECTS = {
    GiftRole.FOR_GIFTEE: N_("A present from %(sender)s"),
    GiftRole.SENT_TO_GIFTEE: N_("Your present was sent to %(email)s"),
    GiftRole.POSTED: N_("Your order at %(shop)s comes by post"),
    GiftRole.POSTED_TO_GIFTEE: N_("Your present from %(shop)s goes out by post"),
    GiftRole.WAITING: N_("Your order at %(shop)s can be collected"),
}
"""For messages about vouchers and gift cards that do not bring the buyer the documents."""
ANONYMOUS_GIFT_SUBJECT = N_("A present for you from %(shop)s")
"""For gifts without a named giver."""


def subject_of(
    kind: MailKind | str, about: Content | None, brand: Brand, formats: Formats, texts: NullTranslations
) -> str:
    """The subject of a message; messages about vouchers and gift cards show it as their title too."""
    text, gaps = SUBJECTS[kind], {"shop": brand.name}
    if isinstance(about, OrderContent | OrderRefundContent | OrderNumberContent):
        text, gaps = _order_subject(MailKind(kind), about), gaps | _order_of(about, formats)
    elif isinstance(about, PaymentRequestContent):
        gaps |= {"total": formats.money(about.amount, about.currency)}
    elif isinstance(about, EndpointContent):
        gaps |= {"host": urlsplit(about.url).hostname or about.url}
    elif isinstance(about, InvoiceContent):
        text = text if about.kind is InvoiceKind.INVOICE else CREDIT_NOTE_SUBJECT
        gaps |= {"number": about.number, "issuer": about.issuer}
    elif isinstance(about, RenewalContent):
        gaps |= {"day": formats.days(about.renew_by)}
    elif isinstance(about, DisputeContent):
        text, gaps = _dispute_subject(MailKind(kind), about), {"amount": formats.money(about.amount, about.currency)}
    elif isinstance(about, PayoutMailContent):
        text = RETURNED_PAYOUT if about.is_returned else text
        gaps = {"amount": formats.money(about.amount, about.currency)}
    elif isinstance(about, CardUsageContent | VoucherUsageContent):
        text = (USAGE_SUBJECTS_FOR_NETWORK if about.is_for_network else SUBJECTS)[MailKind(kind)]
        gaps = {"partner": about.partner, **_what_was_used(about, formats)}
    elif isinstance(about, GiftContent):
        text = _gift_subject(MailKind(kind), about)
        gaps |= {"sender": about.items[0].sender, "email": about.giftee_email}
    return texts.gettext(text) % gaps


def _order_of(about: OrderContent | OrderRefundContent | OrderNumberContent, formats: Formats) -> dict[str, str]:
    if isinstance(about, OrderNumberContent):
        return {"number": str(about.number)}
    if isinstance(about, OrderContent):
        return {"number": str(about.number), "total": formats.money(about.total_amount, about.currency)}
    refunded = formats.money(about.card_amount + about.gift_card_amount, about.currency)
    return {"number": str(about.order_number), "total": refunded}


def _order_subject(kind: MailKind, about: Content) -> str:
    is_withdrawal = isinstance(about, RefundRequestContent) and about.kind is RefundRequestKind.WITHDRAWAL
    return WITHDRAWAL_SUBJECTS[kind] if is_withdrawal else SUBJECTS[kind]


def _what_was_used(about: CardUsageContent | VoucherUsageContent, formats: Formats) -> dict[str, str]:
    if isinstance(about, VoucherUsageContent):
        return {"box": formats.translate(about.box)}
    return {"amount": formats.money(about.amount, about.currency)}


def _dispute_subject(kind: MailKind, about: DisputeContent) -> str:
    ended = DISPUTE_SUBJECTS.get(about.state) if about.is_taken else None
    return ended or SUBJECTS[kind]


def _gift_subject(kind: MailKind, about: GiftContent) -> str:
    if about.role is GiftRole.BOUGHT:
        return (PLURAL_SUBJECTS if len(about.items) > 1 else SUBJECTS)[kind]
    nobody = about.role is GiftRole.FOR_GIFTEE and not about.items[0].sender
    return ANONYMOUS_GIFT_SUBJECT if nobody else ROLE_SUBJECTS[about.role]
