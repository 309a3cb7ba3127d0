"""A short time of trade is right to the cent, and a cent that is wrong is found."""

import pathlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from coffret.sandbox import close
from coffret.services import make_sandbox, open_container
from coffret.simulation.chart import as_svg
from coffret.simulation.figures import DayFigures, as_csv
from coffret.simulation.nights import LedgerBroken
from coffret.simulation.run import Simulation, SimulationOptions, open_simulation
from resolvers.payment.payouts import sending
from store.core.settings import Settings
from store.core.settings.provider import ProviderName

CENT = Decimal("0.01")
DEEDS = {
    "be_declined", "cancel_card_usage", "cancel_network_card", "cancel_voucher", "cancel_voucher_usage", "dispute",
    "dispute_refill", "issue_card", "issue_network_card", "issue_voucher", "refill", "refill_disputably", "refund",
    "sell", "sell_disputably", "sell_with_card", "sell_with_network_card", "spend_card", "use_network_card", "use_voucher",
}  # fmt: skip


@asynccontextmanager
async def simulation(database_url: str, folder: pathlib.Path, *options: int) -> AsyncIterator[Simulation]:
    """A simulation in an empty installation."""
    settings = Settings(database_url=database_url, data_dir=folder, provider=ProviderName.SANDBOX, funnel_scheme="http")
    sandbox = make_sandbox(settings)
    assert sandbox is not None
    try:
        async with (
            open_container(settings, sandbox, synchronous_commit=False) as container,
            open_simulation(container.services, sandbox, SimulationOptions(*options)) as opened,
        ):
            yield opened
    finally:
        await close(sandbox)


async def test_a_simulated_time_is_right_to_the_cent(database_url: str, tmp_path: pathlib.Path) -> None:
    async with simulation(database_url, tmp_path, 40, 2, 6, 1) as simulated:
        days = [day async for day in simulated.run()]
        assert await simulated.differences() == []
        assert simulated.count.keys() == DEEDS
        assert simulated.nights.count.keys() == {"refuse_payout", "return_payout", "cancel_payout"}
        assert set(days[-1].by_currency) == {"EUR", "GBP"}
        assert all(figures["paid_out"] > 0 for figures in days[-1].by_currency.values())
        await _finds_a_cent(simulated)
    _are_drawn(days)


async def _finds_a_cent(simulated: Simulation) -> None:
    """A cent more in the model is a difference, wherever it is."""
    model = simulated.model
    card, network = next(iter(model.cards.values())), next(iter(model.funds))
    sale = next(each for each in model.sales if each.left == each.amount and not each.is_lost)
    card.remaining += CENT
    assert [each.partition(" ")[0] for each in await simulated.differences()] == ["gift"]
    card.remaining -= CENT
    model.funds[network] += CENT
    assert [each.partition(":")[0] for each in await simulated.differences()] == ["Market 1"]
    model.funds[network] -= CENT
    sale.commission -= CENT
    (found,) = await simulated.differences()
    assert found.startswith("Partner ")
    sale.commission += CENT
    assert await simulated.differences() == []


def _are_drawn(days: list[DayFigures]) -> None:
    """The days are a table and a picture."""
    lines = as_csv(days).splitlines()
    assert len(lines) == 1 + 2 * len(days)
    assert lines[0].startswith("day,date,currency,wallets,")
    picture = ET.fromstring(as_svg(days))  # noqa: S314 - written above
    drawn = picture.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(drawn) == 2 * 9
    assert all(len(line.attrib["points"].split()) == len(days) for line in drawn)


async def test_a_journal_that_is_missing_is_found_in_its_night(
    database_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: Any) -> None:
        """The journals of payouts are lost."""

    monkeypatch.setattr(sending, "post", nothing)
    async with simulation(database_url, tmp_path, 3, 1, 2, 1) as simulated:
        with pytest.raises(LedgerBroken, match=r"payouts: payout_request:\d+: payout_paid \d+, not posted"):
            [day async for day in simulated.run()]
