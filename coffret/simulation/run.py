"""The simulation: days of trade and nights of the worker, and at the end the comparison with the plain model."""

import calendar
import datetime as dt
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from starlette.applications import Starlette

from coffret.simulation.bank import Bank, open_bank
from coffret.simulation.comparison import differences, read_balances
from coffret.simulation.disputes import Disputes
from coffret.simulation.figures import DayFigures, figures_of
from coffret.simulation.market import Market, SimulatedPartner, open_market
from coffret.simulation.model import PlainModel
from coffret.simulation.network import Networks
from coffret.simulation.nights import Nights
from coffret.simulation.trade import Ground, Sales
from coffret.simulation.vouchers import NetworkVouchers
from resolvers.core.services import Services

Deed: TypeAlias = Callable[[Any, int], Awaitable[bool]]
MORNING, NIGHT = 9, 26
"""The hours, UTC, at which a day of trade and its night begin."""
CALM_NIGHTS, CALM_STEP = 13, 3
"""Nights without trade at the end, and the days from one to the next: until nothing is under way, and the last periods are over."""


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How much is simulated. The same seed draws the same deeds, whatever day it is."""

    days: int
    marketplaces: int
    partners: int
    seed: int = 1


@dataclass(slots=True)
class Simulation:
    """A time of trade."""

    services: Services
    options: SimulationOptions
    market: Market
    bank: Bank
    begun: dt.datetime
    model: PlainModel
    sales: Sales
    networks: Networks
    vouchers: NetworkVouchers
    disputes: Disputes
    nights: Nights
    chance: random.Random
    count: dict[str, int] = field(default_factory=dict)
    """How often each deed was done."""

    @property
    def days(self) -> Sequence[int]:
        """The days of trade, and those of the calm nights after them."""
        last = self.options.days
        return [*range(last), *range(last, last + CALM_NIGHTS * CALM_STEP, CALM_STEP)]

    async def run(self) -> AsyncIterator[DayFigures]:
        """Live through all days, calm ones at the end included; yields the figures of each. Raises LedgerBroken."""
        for day in self.days:
            is_calm = day >= self.options.days
            self._wait_until(day, MORNING)
            if not is_calm:
                await self._trade(day)
            await self.disputes.decide(None if is_calm else day)
            self._wait_until(day, NIGHT)
            await self.nights.run()
            yield figures_of(day, self.services.clock.now(), self.market, await read_balances(self.services),
                             await self.bank.received())  # fmt: skip

    async def differences(self) -> list[str]:
        """What is not as the plain model says, in words."""
        return await differences(self.services, self.market, self.bank, self.model)

    def _wait_until(self, day: int, hour: int) -> None:
        at = self.begun + dt.timedelta(days=day, hours=hour)
        self.services.clock.advance(max(at - self.services.clock.now(), dt.timedelta()))

    async def _trade(self, day: int) -> None:
        for partner in self.market.partners:
            await self._trade_of(partner, day)
        for number, marketplace in enumerate(self.market.marketplaces):
            for _ in range(1 + len(self.market.partners) // 20):
                await self._try(self.networks.issue_network_card, 35, marketplace, day)
                await self._try(self.vouchers.issue_voucher, 25, marketplace, day)
            await self._try(self.networks.cancel_network_card, 4, marketplace, day)
            await self._try(self.vouchers.cancel_voucher, 4, marketplace, day)
            await self._try(self.networks.refill_disputably, 3, marketplace, day)
            await self._try(self.disputes.dispute_refill, 30, marketplace, day)
            if day % 7 == number % 7:
                await self._try(self.networks.refill, 100, marketplace, day)

    async def _trade_of(self, partner: SimulatedPartner, day: int) -> None:
        deeds = (
            (self.sales.sell, 30),
            (self.sales.sell_disputably, 3),
            (self.sales.be_declined, 2),
            (self.sales.issue_card, 5),
            (self.sales.sell_with_card, 5),
            (self.sales.sell_with_network_card, 3),
            (self.sales.spend_card, 3),
            (self.networks.use_network_card, 12),
            (self.vouchers.use_voucher, 8),
            (self.sales.refund, 7),
            (self.networks.cancel_card_usage, 5),
            (self.vouchers.cancel_voucher_usage, 5),
            (self.disputes.dispute, 4),
        )
        for deed, percent in deeds:
            await self._try(deed, percent, partner, day)

    async def _try(self, deed: Deed, percent: int, who: Any, day: int) -> None:
        if self.chance.random() * 100 < percent and await deed(who, day):
            name = getattr(deed, "__name__", "")
            self.count[name] = self.count.get(name, 0) + 1


def first_day(now: dt.datetime) -> dt.datetime:
    """The next first of January that is a Monday of a common year: weeks and months are those of every other simulation."""
    years = range(now.year + 1, now.year + 30)
    starts = (dt.datetime(year, 1, 1, tzinfo=dt.UTC) for year in years if not calendar.isleap(year))
    return next(start for start in starts if start.weekday() == calendar.MONDAY)


@asynccontextmanager
async def open_simulation(
    services: Services, sandbox: Starlette, options: SimulationOptions
) -> AsyncIterator[Simulation]:
    """Open a market in an empty installation. The clock of this process is moved: nothing else may run in it."""
    chance, model = random.Random(options.seed), PlainModel()  # noqa: S311 - a reproducible draw, not a secret
    async with open_bank(sandbox) as bank:
        market = await open_market(services, bank, options.marketplaces, options.partners)
        ground = Ground(market, bank, model, chance)
        sales = Sales(ground)
        yield Simulation(
            services=services,
            options=options,
            market=market,
            bank=bank,
            begun=first_day(services.clock.now()),
            model=model,
            sales=sales,
            networks=Networks(ground, sales.network_cards, sales.disputable),
            vouchers=NetworkVouchers(ground),
            disputes=Disputes(ground, sales.disputable),
            nights=Nights(services, market, bank, chance),
            chance=chance,
        )
