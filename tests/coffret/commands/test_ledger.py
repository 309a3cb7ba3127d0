"""`coffret ledger`: proof, statements and export, on a real database."""

import asyncio
import csv
import pathlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from sqlalchemy import text
from typer.testing import CliRunner, Result

from coffret.cli import app
from coffret.command_error import CommandError
from resolvers.gift_card.holds import capture_gift_card, hold_gift_card
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.database.db import Database
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.accounts import LedgerAccount, wallet_money
from store.ledger.books import book_of_marketplace
from store.ledger.posting import Journal, credit, debit, post
from store.ledger.verification.run import ALL_RULES
from store.ledger.wallets import WalletRow, open_marketplace_wallet
from tests.changes import Direct
from tests.fixtures.gift_card import gift_card
from tests.fixtures.payment.payout import put_into_payout
from tests.fixtures.tenants import Tenants, open_tenants
from tests.resolvers.payment.payouts.test_adjustments import REASON, adjusted
from tests.resolvers.payment.payouts.test_payouts import earn

Run = Callable[..., Result]
T = TypeVar("T")


@pytest.fixture
def run(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `coffret ledger` on the database; a refusal is in `exception`."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(app, ["ledger", *arguments])


@pytest.fixture
def within(database_url: str, tmp_path: pathlib.Path) -> Callable[[Callable[[Tenants], Coroutine[Any, Any, T]]], T]:
    """Runs something with the tenants of the database."""

    async def enter(work: Callable[[Tenants], Coroutine[Any, Any, T]]) -> T:
        async with open_tenants(database_url, tmp_path) as tenants:
            return await work(tenants)

    return lambda work: asyncio.run(enter(work))


async def used_card(tenants: Tenants) -> GiftCardRow:
    """A card of 50.00 of which 30.00 were held and 10.00 spent."""
    card, ask = await gift_card(tenants), Direct(tenants)
    hold = (await ask.change("a1", hold_gift_card, id=card.id, amount="30.00")).result
    assert (await ask.change("a1", capture_gift_card, hold_id=hold.id, amount="10.00")).done
    return card


async def forge(url: str) -> None:
    """Change a card, and nothing in the ledger."""
    db = Database(url)
    async with db.engine.begin() as connection:
        await connection.execute(text("UPDATE gift_card SET remaining_amount = 1 WHERE remaining_amount = 40"))
    await db.aclose()


def words(output: str) -> str:
    """What is printed, without the columns."""
    return " ".join(output.split())


def test_a_whole_ledger_is_proved_and_a_forged_one_is_not(run: Run, within: Any, database_url: str) -> None:
    within(used_card)
    whole = run("verify")
    assert whole.exit_code == 0, whole.output
    assert f"All {len(ALL_RULES)} rules hold." in whole.output
    asyncio.run(forge(database_url))
    broken = run("verify")
    assert broken.exit_code == 1
    assert f"1 of {len(ALL_RULES)} rules are broken." in broken.output
    assert "1.00, in the ledger 40.00" in words(broken.output)
    assert run("verify", "--since", "2999-01-01").exit_code == 0
    assert isinstance((refusal := run("verify", "--book", "999")).exception, CommandError)
    assert "no book 999" in str(refusal.exception)


def test_a_card_is_explained_by_code_by_id_and_by_its_wallet(run: Run, within: Any) -> None:
    card = within(used_card)
    told = [
        run("explain", "card", card.code.lower()),
        run("explain", "card", str(card.id)),
        run("explain", "wallet", str(card.wallet_id)),
    ]
    assert len({result.output for result in told}) == 1
    said = words(told[0].output)
    for line in (
        f"2200 Gift cards, available gift_card:{card.id} 50.00 EUR 50.00 EUR",
        f"2210 Gift cards, on hold gift_card:{card.id} 30.00 EUR 30.00 EUR",
        f"2200 Gift cards, available gift_card:{card.id} 30.00 EUR 20.00 EUR",
        f"2200 Gift cards, available gift_card:{card.id} 10.00 EUR 40.00 EUR",
    ):
        assert line in said, said
    assert said.count("An amount of a gift card was spent, or a network voucher was used.") == 1
    for arguments, refusal in (
        (("card", "NO-SUCH"), "no gift card"),
        (("wallet", "999999"), "no wallet"),
        (("wallet", "x"), "uuid or its id"),
        (("payment", "7"), "by its uuid"),
        (("payout", "7"), "no payout request with the id 7"),
        (("payout", "x"), "no payout request with the id x"),
    ):
        assert refusal in str(run("explain", *arguments).exception)
    unknown = run("explain", "payment", "00000000-0000-0000-0000-000000000007")
    assert "There is no payment" in str(unknown.exception)
    assert run("explain", "order", "1").exit_code == 2


async def paid_out(tenants: Tenants) -> int:
    """A payout request of a usage, an adjustment, and a debt; its id."""
    await adjusted(tenants, "-5.00")
    await earn(tenants, value="30.00")
    await adjusted(tenants, "4.00")
    return await put_into_payout(tenants.services, tenants.partners["a1"].id)


def test_a_payout_is_explained_line_by_line(run: Run, within: Any) -> None:
    id = within(paid_out)
    said = words(run("explain", "payout", str(id)).output)
    assert f"A payout was validated; its money is reserved. (payout_request {id})" in said
    assert "2140 Payouts, not transferred by the network partner:1 29.00 EUR" in said
    own, lines = said.split("It is the sum of:")
    assert "recovery" not in own
    for line in (
        "(network_gift_card_usage 1)",
        "(payout_adjustment 2)",
        REASON,
        "4.00 EUR",
        "(recovery 1",
        "-5.00 EUR",
    ):
        assert line in lines, lines


async def cards_named_alike(tenants: Tenants) -> tuple[GiftCardRow, GiftCardRow]:
    """Two cards: the code of the second is the id of the first."""
    first, second = await gift_card(tenants), await gift_card(tenants)
    async with tenants.services.db.sessions() as db, db.begin():
        row = await db.get_one(GiftCardRow, second.id)
        row.code = row.normal_code = str(first.id)
    return first, second


def test_a_card_is_explained_by_its_code_before_its_id(run: Run, within: Any) -> None:
    first, second = within(cards_named_alike)
    said = words(run("explain", "card", str(first.id)).output)
    assert f"gift_card:{second.id} 50.00 EUR" in said
    assert f"gift_card:{first.id} " not in said


async def refilled_wallet(tenants: Tenants) -> WalletRow:
    """The own wallet of a marketplace, into which 500.00 were paid."""
    async with tenants.services.db.sessions() as db, db.begin():
        book_id = await book_of_marketplace(db, tenants.marketplaces["a"].id, is_live=True)
        wallet = await open_marketplace_wallet(db, book_id, "wallet-of-a")
        entries = debit(wallet_money(wallet.id), 50_000), credit(LedgerAccount(Role.MARKETPLACE_FUNDS), 50_000)
        await post(db, [Journal(book_id=book_id, kind=Kind.REFILL, source_kind="test", source_id="1", entries=entries)])
    return wallet


def test_the_wallet_of_a_marketplace_is_explained(run: Run, within: Any) -> None:
    wallet = within(refilled_wallet)
    by_uuid, by_id = run("explain", "wallet", str(wallet.uuid)), run("explain", "wallet", str(wallet.id))
    assert by_uuid.output == by_id.output
    said = words(by_uuid.output)
    assert said.count("A marketplace paid in to its own wallet. (test 1)") == 1
    assert f"1100 Wallets at the payment provider wallet:{wallet.id} 500.00 EUR" in said
    assert "2400 Funds of the marketplace 500.00 EUR 500.00 EUR" in said


def test_an_export_is_balanced_and_names_accounts_of_the_plan(run: Run, within: Any, tmp_path: pathlib.Path) -> None:
    card, file = within(used_card), tmp_path / "ledger.csv"
    period = ("--from", "2020-01-01", "--to", "2100-01-01", "--output", str(file))
    done = run("export", *period, "--marketplace", "a")
    assert done.exit_code == 0, done.output
    with file.open(encoding="utf-8", newline="") as opened:
        lines = list(csv.DictReader(opened))
    assert f"Wrote {len(lines)} entries" in done.output
    assert {line["marketplace"] for line in lines} == {"a"}
    cents = {name: sum(int(line[name].replace(".", "") or 0) for line in lines) for name in ("debit", "credit")}
    assert cents["debit"] == cents["credit"] > 0
    of_card = [line for line in lines if line["account_owner"] == f"gift_card:{card.id}" and line["event"] == "capture"]
    assert [(line["account_code"], line["account_name"], line["debit"], line["credit"]) for line in of_card] == [
        ("2200", "Gift cards, available", "10.00", "")
    ]
    assert (of_card[0]["currency"], of_card[0]["mode"], of_card[0]["source_kind"]) == ("EUR", "live", "gift_card_hold")
    assert run("export", *period).exit_code == 0
    assert len(file.read_text(encoding="utf-8").splitlines()) > len(lines) + 1, "All marketplaces are more than one."
    assert run("export", "--from", "1999-01-01", "--to", "1999-12-31", "--output", str(file)).exit_code == 0
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1
    assert "is before" in str(
        run("export", "--from", "2020-01-02", "--to", "2020-01-01", "--output", str(file)).exception
    )
    assert "No marketplaces" in str(run("export", *period, "--marketplace", "nobody").exception)
    folder = run("export", "--from", "2020-01-01", "--to", "2020-01-02", "--output", str(tmp_path / "no" / "file.csv"))
    assert "cannot be written" in str(folder.exception)
