"""What networks do with vouchers: they issue them for their boxes, and partners take them."""

from dataclasses import dataclass, field
from typing import Any

from coffret.simulation.market import VOUCHER_TERMS, SimulatedMarketplace, SimulatedPartner
from coffret.simulation.model import NOTHING, ModelGood
from coffret.simulation.trade import Ground
from coffret.simulation.usages import OpenUsage, cancel_drawn_usage
from resolvers.core.context import Context
from resolvers.network.voucher_issuing import cancel_network_voucher, issue_network_voucher
from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
from schema.network.voucher_input import (
    CancelNetworkVoucher,
    CancelNetworkVoucherUsage,
    IssueNetworkVoucher,
    UseNetworkVoucher,
)

VALID_DAYS = 55
"""Fewer than the two months of validity."""


@dataclass(slots=True)
class OpenVoucher:
    """A voucher of a network."""

    id: int
    code: str
    marketplace: SimulatedMarketplace
    until: int
    """The last day on which it is used: it expires later."""
    days_after_first_usage: int
    model: ModelGood

    def is_usable(self, day: int) -> bool:
        return day < self.until and not self.model.is_cancelled and self.model.usages_left > 0


@dataclass(slots=True)
class NetworkVouchers:
    """The vouchers of networks, and their usages. A deed tells whether there was anything to do."""

    ground: Ground
    vouchers: list[OpenVoucher] = field(default_factory=list)
    usages: list[OpenUsage] = field(default_factory=list)

    async def issue_voucher(self, marketplace: SimulatedMarketplace, day: int) -> bool:
        box = self.ground.chance.choice(marketplace.boxes)
        voucher: Any = await issue_network_voucher(marketplace.manager, IssueNetworkVoucher(box_id=box.id))
        price, usages = box.price_amount, box.max_usages
        model = self.ground.model.issue_voucher(voucher.id, price, usages, marketplace.row.id)
        days = box.max_days_after_first_usage
        self.vouchers.append(OpenVoucher(voucher.id, voucher.code, marketplace, day + VALID_DAYS, days, model))
        return True

    async def use_voucher(self, partner: SimulatedPartner, day: int) -> bool:
        marketplace = partner.marketplace
        usable = [each for each in self.vouchers if each.marketplace is marketplace and each.is_usable(day)]
        if not usable:
            return False
        voucher = self.ground.chance.choice(usable)
        input = UseNetworkVoucher.model_validate({"code": voucher.code, "partner_id": partner.row.id})
        usage: Any = await use_network_voucher(marketplace.manager, input)
        if voucher.days_after_first_usage:
            voucher.until = min(voucher.until, day + voucher.days_after_first_usage)
        value = voucher.model.next_value
        fees = NOTHING if marketplace.pays_voucher_fees else VOUCHER_TERMS.fee_within(value)
        model = self.ground.model.use(partner.row.id, voucher.model, value, fees)
        self.usages.append(OpenUsage(partner, usage.id, voucher, model))
        return True

    async def cancel_voucher_usage(self, partner: SimulatedPartner, day: int) -> bool:
        return await cancel_drawn_usage(self.ground, self.usages, partner, day, self._cancel_usage)

    async def _cancel_usage(self, manager: Context, id: int) -> None:
        await cancel_network_voucher_usage(manager, CancelNetworkVoucherUsage(id=id))

    async def cancel_voucher(self, marketplace: SimulatedMarketplace, day: int) -> bool:
        """What is not used of a voucher is cancelled."""
        usable = [each for each in self.vouchers if each.marketplace is marketplace and each.is_usable(day)]
        if not usable:
            return False
        voucher = self.ground.chance.choice(usable)
        await cancel_network_voucher(marketplace.manager, CancelNetworkVoucher(id=voucher.id))
        self.ground.model.cancel(voucher.model, marketplace.row.id)
        return True
