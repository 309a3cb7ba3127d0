"""Network vouchers are used at a partner, and usages are cancelled."""

from zoneinfo import ZoneInfo

from resolvers.core.input_mapping import ById
from resolvers.core.operation import Call, operation
from resolvers.network.usage_input import check_period_open, check_used_on, partner_of_usage
from resolvers.network.voucher_issuing import find_voucher, lock_voucher
from schema.core.input_errors import ProblemCollector, already_reported
from schema.core.permission import Permission
from schema.network.voucher import NetworkVoucherUsage
from schema.network.voucher_input import CancelNetworkVoucherUsage, UpdateNetworkVoucherUsage, UseNetworkVoucher
from schema.validation.dates import moment_in
from store.mail.network_usages import mail_voucher_usage
from store.network import voucher_usages as usages
from store.network.payouts import chosen_date, move_usage
from store.network.vouchers import NetworkVoucherUsageRow
from store.partner.checks import check_freezing
from store.partner.partners import MarketplaceRow, PartnerRow


@operation(Permission.USE_NETWORK_VOUCHER, exists=find_voucher)
async def use_network_voucher(call: Call, input: UseNetworkVoucher) -> NetworkVoucherUsage:
    """Use a network voucher once, at a partner with an accepted, active offer for its box. The partner earns its part of
    the price, less the fees of the network. Send an `Idempotency-Key`, so that a retry does not use it twice.
    """
    now, findings = call.services.clock.now(), ProblemCollector()
    voucher = await lock_voucher(call, input)
    network = await call.db.get_one(MarketplaceRow, voucher.marketplace_id)
    partner, used_on, offer_id = already_reported(PartnerRow), now, None
    with findings.collect():
        partner = await partner_of_usage(call, input, network.id)
    with findings.collect():
        used_on = check_used_on(network, input.used_on, voucher.starts_on or voucher.created_on, now)
    with findings.collect():
        check_freezing(partner, input.freeze_payout_date)
    with findings.collect():
        offer_id = await usages.choose_offer(call.db, voucher, partner.id, input.offer_id)
    findings.raise_problems()
    await check_period_open(call.db, partner, used_on, input.freeze_payout_date)
    new = usages.NewVoucherUsage(
        used_on=used_on,
        offer_id=offer_id,
        comment=input.comment,
        reservation_id=input.reservation_id,
        freeze_payout_date=moment_in(ZoneInfo(network.time_zone), input.freeze_payout_date),
    )
    usage = await usages.use_voucher(call.db, network, voucher, partner, new, now)
    if input.send_usage_notification_email:
        await mail_voucher_usage(call.db, voucher, usage, input.giftee_email)
    return usage


_usage = ById(NetworkVoucherUsageRow, "usage")


@operation(Permission.USE_NETWORK_VOUCHER, exists=_usage)
async def cancel_network_voucher_usage(call: Call, input: CancelNetworkVoucherUsage) -> NetworkVoucherUsage:
    """Cancel a usage of a network voucher: the voucher has it again. Cancelling it again changes nothing. A usage that is
    in a payout is refused with `USAGE_IN_PAYOUT`.
    """
    found = await _usage.find(call, input.id)
    voucher, usage = await usages.lock_voucher_usage(call.db, found.id)
    network = await call.db.get_one(MarketplaceRow, voucher.marketplace_id)
    await usages.cancel_voucher_usage(call.db, network, voucher, usage, input.comment, call.services.clock.now())
    return usage


@operation(Permission.USE_NETWORK_VOUCHER, exists=_usage)
async def update_network_voucher_usage(call: Call, input: UpdateNetworkVoucherUsage) -> NetworkVoucherUsage:
    """Change the date that decides about the payout of a usage of a network voucher, if its partner may choose the date. A
    usage that is in a payout is refused with `USAGE_IN_PAYOUT`. Nothing changes about a cancelled one.
    """
    found = await _usage.find(call, input.id)
    _, usage = await usages.lock_voucher_usage(call.db, found.id)
    await move_usage(call.db, usage, await chosen_date(call.db, usage.partner_id, input.freeze_payout_date))
    return usage
