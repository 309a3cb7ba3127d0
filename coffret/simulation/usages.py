"""Usages of what networks issue, and their cancellation."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from coffret.simulation.market import SimulatedPartner
from coffret.simulation.model import ModelGood, ModelUsage
from coffret.simulation.trade import Ground
from resolvers.core.context import Context
from schema.network.errors import UsageInPayout


class UsedGood(Protocol):
    """A gift card or a voucher."""

    until: int
    model: ModelGood


@dataclass(slots=True)
class OpenUsage:
    """A usage that can be cancelled."""

    partner: SimulatedPartner
    id: int
    good: UsedGood
    model: ModelUsage


async def cancel_drawn_usage(
    ground: Ground,
    usages: Sequence[OpenUsage],
    partner: SimulatedPartner,
    day: int,
    cancel: Callable[[Context, int], Awaitable[None]],
) -> bool:
    """Cancel one of the usages at a partner; False if there is none, or if it is in a payout."""
    open = [
        each
        for each in usages
        if each.partner is partner
        and not each.model.is_cancelled
        and not each.good.model.is_cancelled
        and day < each.good.until
    ]
    if not open:
        return False
    usage = ground.chance.choice(open)
    try:
        await cancel(partner.marketplace.manager, usage.id)
    except UsageInPayout:  # nothing has changed
        return False
    ground.model.cancel_usage(usage.model)
    return True
