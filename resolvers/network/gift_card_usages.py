"""Network gift cards are used at a partner, and usages are cancelled."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from resolvers.core.input_mapping import ById
from resolvers.core.operation import Call, operation
from resolvers.network.gift_card_issuing import find_card_by_code
from resolvers.network.usage_input import check_period_open, check_used_on, partner_of_usage
from schema.core.errors import NotFound
from schema.core.input_errors import ProblemCollector, already_reported
from schema.core.permission import Permission
from schema.network.errors import UsageOfPayment
from schema.network.gift_card import NetworkGiftCardUsage
from schema.network.gift_card_input import CancelNetworkGiftCardUsage, UpdateNetworkGiftCardUsage, UseNetworkGiftCard
from schema.validation.dates import moment_in
from store.gift_card.gift_cards import GiftCardRow
from store.mail.network_usages import mail_usage
from store.network import gift_card_usages as usages
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.payouts import chosen_date, move_usage
from store.partner.checks import check_freezing
from store.partner.partners import MarketplaceRow, PartnerRow


async def _find_card(call: Call, input: Any) -> GiftCardRow:
    """The network gift card of an input's `code`. Raises NotFound if the caller may not use it."""
    code = input.get("code") if isinstance(input, Mapping) else None
    if not isinstance(code, str):
        raise NotFound(thing="network gift card")
    return await find_card_by_code(call, code)


@operation(Permission.USE_NETWORK_GIFT_CARD, exists=_find_card)
async def use_network_gift_card(call: Call, input: UseNetworkGiftCard) -> NetworkGiftCardUsage:
    """Use an amount of a network gift card at a partner that is linked to the gift cards of the network. The partner earns
    it, less the fees of the network. Send an `Idempotency-Key`, so that a retry does not use the amount twice.
    """
    now, findings = call.services.clock.now(), ProblemCollector()
    card = await find_card_by_code(call, input.code, lock=True)
    network = await call.db.get_one(MarketplaceRow, card.network_id)
    partner, used_on = already_reported(PartnerRow), now
    with findings.collect():
        partner = await partner_of_usage(call, input, network.id)
    with findings.collect():
        used_on = check_used_on(network, input.used_on, card.starts_on or card.created_on, now)
    with findings.collect():
        check_freezing(partner, input.freeze_payout_date)
    with findings.collect():
        usages.check_value(input.value)
    findings.raise_problems()
    await check_period_open(call.db, partner, used_on, input.freeze_payout_date)
    new = usages.NewUsage(
        value=input.value,
        used_on=used_on,
        comment=input.comment,
        reservation_id=input.reservation_id,
        freeze_payout_date=moment_in(ZoneInfo(network.time_zone), input.freeze_payout_date),
    )
    usage = await usages.use_card(call.db, network, card, partner, new, now)
    if input.send_usage_notification_email:
        await mail_usage(call.db, card, usage, input.giftee_email)
    return usage


_usage = ById(NetworkGiftCardUsageRow, "usage")


@operation(Permission.USE_NETWORK_GIFT_CARD, exists=_usage)
async def cancel_network_gift_card_usage(call: Call, input: CancelNetworkGiftCardUsage) -> NetworkGiftCardUsage:
    """Cancel a usage of a network gift card: its value is on the card again. Cancelling it again changes nothing. A usage
    that is in a payout is refused with `USAGE_IN_PAYOUT`, one that is a part of a payment with `USAGE_OF_PAYMENT`: refund
    the payment.
    """
    found = await _usage.find(call, input.id)
    card, usage = await usages.lock_usage(call.db, found.id)
    await usages.cancel_usage(call.db, card, usage, input.comment, call.services.clock.now())
    return usage


@operation(Permission.USE_NETWORK_GIFT_CARD, exists=_usage)
async def update_network_gift_card_usage(call: Call, input: UpdateNetworkGiftCardUsage) -> NetworkGiftCardUsage:
    """Change the date that decides about the payout of a usage of a network gift card, if its partner may choose the date. A
    usage that is in a payout is refused with `USAGE_IN_PAYOUT`, one that is a part of a payment with `USAGE_OF_PAYMENT`: update the
    payment. Nothing changes about a cancelled one.
    """
    found = await _usage.find(call, input.id)
    _, usage = await usages.lock_usage(call.db, found.id)
    if usage.payment_id is not None:
        raise UsageOfPayment
    await move_usage(call.db, usage, await chosen_date(call.db, usage.partner_id, input.freeze_payout_date))
    return usage
