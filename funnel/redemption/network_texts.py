"""Texts of network gift cards and network vouchers on the venue page."""

import datetime as dt
from collections.abc import Mapping

from funnel.core.messages import N_
from funnel.redemption.texts import CARD_STATES, DISPUTED, Verdict
from resolvers.network.redemption import RedeemableNetworkCard, RedeemableNetworkVoucher
from schema.core.errors import FrozenByDispute, PartnerInactive
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.errors import (
    Deactivated,
    Expired,
    LiveMoneyRefused,
    NotYetValid,
    NoUsageLeft,
    PartnerWithoutOffer,
    TooLongAfterFirstUsage,
)
from schema.network.gift_card import NetworkGiftCardStatus
from schema.network.voucher import NetworkVoucherStatus

CANNOT = N_("Cannot be used")
TEST = N_("For tests")
NETWORK_CARD_STATES = {
    status: TEST if status is NetworkGiftCardStatus.TEST else CARD_STATES[GiftCardStatus(status.value)]
    for status in NetworkGiftCardStatus
}
NETWORK_VOUCHER_STATES = {
    NetworkVoucherStatus.DRAFT: N_("Not paid for"),
    NetworkVoucherStatus.PAID: N_("Not used yet"),
    NetworkVoucherStatus.USING: N_("Used in part"),
    NetworkVoucherStatus.USED: N_("Used"),
    NetworkVoucherStatus.EXPIRED: N_("Expired"),
    NetworkVoucherStatus.CANCELLED: N_("Cancelled"),
    NetworkVoucherStatus.TEST: TEST,
}
REASONS: Mapping[type, str] = {
    FrozenByDispute: DISPUTED,
    Deactivated: N_("Its network does not let it be used at the moment."),
    PartnerInactive: N_("This shop does not take part at the moment."),
    LiveMoneyRefused: N_("This shop is for tests: it takes only vouchers and gift cards for tests."),
    PartnerWithoutOffer: N_("This shop has no offer for it at the moment."),
}
STATUS_REASONS: Mapping[str, str] = {
    "draft": N_("It has not been paid for."),
    "cncld": N_("It was cancelled."),
    "used": N_("All of it has been spent."),
}


def verdict_of_network_card(subject: RedeemableNetworkCard) -> Verdict:
    card = subject.card
    if subject.refusal is None:
        text = "" if card.is_splittable else N_("It is used whole, and not in parts.")
        return Verdict(True, N_("Can be used"), text)
    if isinstance(subject.refusal, NotYetValid):
        return Verdict(False, CANNOT, N_("The card works from %(date)s on."), card.starts_on)
    return _verdict_of_refusal(subject.refusal, card.status, card.expires_on)


def verdict_of_network_voucher(subject: RedeemableNetworkVoucher) -> Verdict:
    voucher = subject.voucher
    if subject.refusal is None:
        used = N_("Part of it has been used.") if voucher.usage_count else N_("Nothing of it has been used.")
        return Verdict(True, N_("Can be used"), used)
    if isinstance(subject.refusal, NoUsageLeft):
        return Verdict(False, CANNOT, N_("It has been used as often as it can be."))
    if isinstance(subject.refusal, TooLongAfterFirstUsage):
        text = N_("Because of its first use it could be used until %(date)s.")
        return Verdict(False, CANNOT, text, voucher.usable_until)
    if isinstance(subject.refusal, NotYetValid):
        return Verdict(False, CANNOT, N_("It works from %(date)s on."), voucher.starts_on)
    if voucher.status is NetworkVoucherStatus.CANCELLED:
        return Verdict(False, CANNOT, N_("The voucher was cancelled."))
    return _verdict_of_refusal(subject.refusal, voucher.status, voucher.expires_on)


def _verdict_of_refusal(refusal: Exception, status: str, expires_on: dt.datetime | None) -> Verdict:
    if isinstance(refusal, Expired):
        over = N_("Its time was over on %(date)s.") if expires_on else N_("Its time is over.")
        return Verdict(False, CANNOT, over, expires_on)
    return Verdict(
        False, CANNOT, REASONS.get(type(refusal)) or STATUS_REASONS.get(status, N_("It cannot be used here."))
    )
