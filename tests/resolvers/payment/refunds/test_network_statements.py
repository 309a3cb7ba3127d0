"""What refunds give back to network gift cards: in settlement statements, in their file, and on the page of the holder."""

import csv
import datetime as dt
import io
from decimal import Decimal

import pytest

from resolvers.network.settlement import find_settlement_file, settlement_statement
from resolvers.payment.refunds.refunds import refund_payment
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from schema.network.holder import HolderMovement
from schema.network.settlement import PartnerSettlement, ProductSettlement
from schema.payment.input import RefundPayment
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.accounts import LedgerAccount, network_earnings
from store.ledger.books import book_of_marketplace
from store.ledger.posting import Journal, credit, debit, post
from store.network.holder.movements import movements_of
from store.network.settlement.export import FIGURES
from store.payment.payments import PaymentRow
from tests.fixtures.payment.api_payment import books_balance, created, wallet_uuid
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.shop import Shop

FIRST, SECOND, THIRD = (dt.date(2020, 11, day) for day in (10, 11, 12))
DAYS = (FIRST, SECOND, THIRD)


@pytest.fixture(autouse=True)
async def linked(shop: Shop) -> None:
    await take_part(shop)


async def pay(shop: Shop, card: GiftCardRow, amount: str = "30.00") -> PaymentRow:
    """A payment that a card covers."""
    source = {"extra_source_wallet_uuid": await wallet_uuid(shop, card), "extra_source_amount": amount}
    return await created(shop, amount, **source)


async def refund(shop: Shop, payment: PaymentRow, amount: str) -> None:
    await refund_payment(shop.manager, RefundPayment.model_validate({"id": payment.id, "amount": amount}))


async def on_day(shop: Shop, day: dt.date) -> None:
    """Date what was posted today back to a day: accounting dates never change otherwise."""
    async with shop.services.db.engine.begin() as connection:
        await connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        await connection.exec_driver_sql(
            "UPDATE ledger_journal SET effective_on = $1 WHERE effective_on > '2020-12-31'", (day,)
        )


async def pay_out(shop: Shop, minor: int) -> None:
    """Pay the partner what it has earned."""
    owner = shop.partner
    async with shop.services.db.sessions() as db, db.begin():
        book = await book_of_marketplace(db, owner.marketplace_id, is_live=True)
        entries = debit(network_earnings(owner.id), minor), credit(LedgerAccount(Role.MARKETPLACE_FUNDS), minor)
        await post(
            db,
            [Journal(book_id=book, kind=Kind.SETTLEMENT, source_kind="payout_request", source_id="1", entries=entries)],
        )


async def statement(shop: Shop, first: dt.date, last: dt.date) -> PartnerSettlement:
    """The partner's statement; its balances are the ledger's, its movements explain them, and the file says the same."""
    found = await settlement_statement(shop.manager, first, last)
    (own,) = found.currencies[0].partners
    moved = sum(
        (
            each.usages.net.amount - each.cancelled.net.amount - each.returned.net.amount + each.owed_back.amount
            for each in own.products
        ),
        Decimal(0),
    )
    assert own.closing.amount == own.opening.amount + moved - own.settled.amount
    for amount, day in ((own.opening, first - dt.timedelta(days=1)), (own.closing, last)):
        assert amount.amount == await ledger_balance(shop, day)
    for each in own.products:
        for of in (each.usages, each.returned):
            fees = of.commission.amount + of.management_fees.amount - of.paid_by_network.amount
            assert of.net.amount == of.value.amount - fees
    await check_file(shop, found.csv_url, own)
    return own


async def ledger_balance(shop: Shop, day: dt.date) -> Decimal:
    """What the entries up to a day come to."""
    minor = await shop.one(
        "SELECT coalesce(sum(-e.amount), 0) FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id "
        "JOIN ledger_account a ON a.id = e.account_id WHERE a.role = 'partner_network' AND j.effective_on <= :day",
        day=day,
    )
    return Decimal(str(minor)) / 100


async def check_file(shop: Shop, url: str, own: PartnerSettlement) -> None:
    token = url.rpartition("/")[2].removesuffix(".csv")
    _, content = await find_settlement_file(shop.manager, token)
    lines = {each["product"]: each for each in csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))}
    assert set(lines) == {"all", *(each.product.value for each in own.products)}
    assert (lines["all"]["settled"], lines["all"]["closing"]) == (str(own.settled.amount), str(own.closing.amount))
    for each in own.products:
        for name in FIGURES:
            figure = getattr(each.returned, name)
            shown = str(figure if name == "count" else figure.amount)
            assert lines[each.product.value][f"returned_{name}"] == shown
        assert lines[each.product.value]["owed_back"] == str(each.owed_back.amount)


def figures_of(product: ProductSettlement) -> list[str]:
    """What was returned, in the order of the columns of the file."""
    return [str(product.returned.count), *(str(getattr(product.returned, name).amount) for name in FIGURES[1:])]


@pytest.mark.parametrize(
    ("payer", "returned", "closing"),
    [
        ("partner", ["1", "10.00", "1.20", "0.20", "0.40", "0.07", "0.00", "8.40"], "16.80"),
        ("marketplace", ["1", "10.00", "1.20", "0.20", "0.40", "0.07", "1.60", "10.00"], "20.00"),
    ],
)
async def test_a_partial_refund_is_returned_and_not_settled(
    shop: Shop, payer: str, returned: list[str], closing: str
) -> None:
    await take_fees(shop, payer=payer)
    payment = await pay(shop, await card_of_network(shop))
    await refund(shop, payment, "10.00")
    await on_day(shop, FIRST)
    own = await statement(shop, FIRST, FIRST)
    (cards,) = own.products
    assert figures_of(cards) == returned
    assert (cards.usages.count, cards.cancelled.count, str(cards.owed_back.amount)) == (1, 0, "0.00")
    assert (str(own.settled.amount), str(own.closing.amount)) == ("0.00", closing)
    await books_balance(shop)


async def test_a_full_refund_returns_all_of_the_usage(shop: Shop) -> None:
    await take_fees(shop)
    payment = await pay(shop, await card_of_network(shop))
    await on_day(shop, FIRST)
    await refund(shop, payment, "30.00")
    await on_day(shop, SECOND)
    own = await statement(shop, SECOND, SECOND)
    (cards,) = own.products
    assert figures_of(cards) == ["1", "30.00", "3.60", "0.60", "1.20", "0.20", "0.00", "25.20"]
    assert (cards.usages.count, cards.cancelled.count) == (0, 0)
    assert [str(each.amount) for each in (own.opening, own.settled, own.closing)] == ["25.20", "0.00", "0.00"]
    assert (await statement(shop, FIRST, FIRST)).closing.amount == Decimal("25.20")
    await books_balance(shop)


async def test_refunds_in_several_periods_come_to_the_usage(shop: Shop) -> None:
    """Each period has its parts; all parts together are the usage, to the cent of each fee and its VAT."""
    await take_fees(shop, rate="7.77", fixed="0.99")
    payments = [await pay(shop, await card_of_network(shop)) for _ in range(2)]
    for day, amount in zip(DAYS, ("0.07", "9.96", "19.97"), strict=True):
        for payment in payments:
            await refund(shop, payment, amount)
        await on_day(shop, day)
    statements = [await statement(shop, day, day) for day in DAYS]
    assert [each.products[0].returned.count for each in statements] == [2, 2, 2]
    assert [each.opening for each in statements[1:]] == [each.closing for each in statements[:-1]]
    assert all(each.settled.amount == 0 for each in statements)
    (cards,) = (await statement(shop, FIRST, THIRD)).products
    for name in FIGURES[1:]:
        whole = getattr(cards.usages, name).amount
        assert getattr(cards.returned, name).amount == whole, name
        assert sum(getattr(each.products[0].returned, name).amount for each in statements) == whole, name
    assert statements[-1].closing.amount == 0
    await books_balance(shop)


async def test_what_was_paid_out_and_is_refunded_is_owed_back(shop: Shop) -> None:
    await take_fees(shop)
    payment = await pay(shop, await card_of_network(shop))
    await on_day(shop, FIRST)
    await pay_out(shop, 2000)
    await refund(shop, payment, "10.00")
    await on_day(shop, SECOND)
    own = await statement(shop, SECOND, SECOND)
    (cards,) = own.products
    assert (str(cards.returned.net.amount), str(cards.owed_back.amount)) == ("8.40", "3.20")
    assert [str(each.amount) for each in (own.opening, own.settled, own.closing)] == ["25.20", "20.00", "0.00"]


async def test_what_goes_back_to_the_partners_own_cards_is_not_in_it(shop: Shop) -> None:
    card = await shop.gift_card()
    payment = await pay(shop, card)
    await refund(shop, payment, "10.00")
    await on_day(shop, FIRST)
    assert (await settlement_statement(shop.manager, FIRST, FIRST)).currencies[0].partners == []


# ---- the page of the holder


async def movements(shop: Shop, card: GiftCardRow) -> list[HolderMovement]:
    """The movements of a card, oldest first; together they are what is gone of its value."""
    async with shop.services.db.sessions() as db:
        row = await db.get_one(GiftCardRow, card.id)
        found = list(reversed(await movements_of(db, row)))
    assert -sum(each.amount for each in found) == row.value_amount - row.remaining_amount
    return found


async def test_the_holder_sees_each_part_that_went_back(shop: Shop) -> None:
    card, other = await card_of_network(shop), await card_of_network(shop)
    payment, elsewhere = await pay(shop, card), await pay(shop, other)
    await pay(shop, card, "15.00")
    assert [str(each.amount) for each in await movements(shop, card)] == ["-30.00", "-15.00"]
    await refund(shop, elsewhere, "7.00")
    await refund(shop, payment, "10.00")
    assert [str(each.amount) for each in await movements(shop, card)] == ["-30.00", "-15.00", "10.00"]
    await refund(shop, payment, "20.00")
    found = await movements(shop, card)
    assert [str(each.amount) for each in found] == ["-30.00", "-15.00", "10.00", "20.00"]
    refunded = await shop.one(
        "SELECT max(created_on) FROM payment_transaction WHERE payment_id = :id AND type = 'refund'", id=payment.id
    )
    assert found[-1].moment == refunded
    assert {each.partner for each in found} == {shop.partner.commercial_name}
    assert [str(each.amount) for each in await movements(shop, other)] == ["-30.00", "7.00"]
