"""The large partner of the demo data: rows that are true to themselves, added up to a number, and written by REST like any."""

import datetime as dt
import pathlib
from typing import Any

import httpx
import orjson
import pytest
from sqlmodel import col, select

from coffret.demo import large
from coffret.demo.large import LargeResult, add_large_partner
from coffret.demo.large_draw import SPAN
from coffret.demo.large_shelf import COUPONS
from coffret.demo.network.seed import CARDS, VOUCHERS
from coffret.demo.seed import DemoDataRefused
from coffret.demo.users import LARGE_PARTNER_USER
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.core.codes import looks_valid, normalize
from store.core.settings import DeploymentEnvironment, Settings
from store.database.db import Database
from store.gift_card.gift_cards import GiftCardRow
from store.voucher.rules import REDEEMABLE
from store.voucher.vouchers import VoucherRow
from tests.bench import vouchers
from tests.bench.installation import Installation, open_installation

ROWS = 2000
SOLD = CARDS + 1, VOUCHERS + 1
"""The gift cards and vouchers of the network that the demo data begins with."""
UNPAID = {VoucherState.DRAFT, VoucherState.ERROR}
SOMETHING_WRONG = """
    SELECT 'voucher of another day' FROM voucher WHERE partner_id = $1 AND created_on NOT BETWEEN $2 AND $3
    UNION ALL SELECT 'no search text' FROM voucher WHERE partner_id = $1
      AND (name_text = '' OR origin_text = '' OR gifter_text NOT LIKE '%' || search_text(gifter_last_name || chr(10) || gifter_email))
    UNION ALL SELECT 'gifter is somebody else' FROM voucher JOIN customer ON customer.id = gifter_id
      WHERE voucher.partner_id = $1 AND gifter_email <> customer.email
    UNION ALL SELECT 'giftee is somebody else' FROM voucher JOIN customer ON customer.id = giftee_id
      WHERE voucher.partner_id = $1 AND giftee_email <> customer.email
    UNION ALL SELECT 'option of nobody' FROM voucher_chosen_option chosen JOIN voucher ON voucher.id = voucher_id
      WHERE chosen.partner_id <> voucher.partner_id OR chosen.total_price_amount <> chosen.count * unit_price_amount
    UNION ALL SELECT 'total is not the sum' FROM voucher WHERE partner_id = $1 AND total_price_amount <> rent_price_amount
      + coalesce((SELECT sum(total_price_amount) FROM voucher_chosen_option WHERE voucher_id = voucher.id), 0)
    UNION ALL SELECT 'booking on another day' FROM voucher_rental rental JOIN voucher ON voucher.id = voucher_id
      WHERE rental.partner_id = $1 AND starts_on <> (used_on AT TIME ZONE 'UTC')::date
    UNION ALL SELECT 'card is not what moved' FROM gift_card WHERE partner_id = $1 AND remaining_amount <>
      (SELECT sum(amount) FROM gift_card_movement WHERE gift_card_id = gift_card.id)
    UNION ALL SELECT 'sales miscounted' FROM voucher_prototype WHERE partner_id = $1 AND nb_orders <>
      (SELECT count(*) FROM voucher WHERE voucher_prototype_id = voucher_prototype.id AND kind = 'voucher' AND activated_on IS NOT NULL)
"""


def ignore_progress(_done: int, _all: int) -> None:
    """Nobody looks."""


async def test_what_is_laid_is_true_to_itself_and_is_written_like_any(
    database_url: str, tmp_path: pathlib.Path
) -> None:
    async with open_installation(database_url, "", tmp_path) as installation:
        begun = clock.now()
        partner_id, _, token = await vouchers.lay(installation, ROWS)
        async with installation.app.state.container.services.db.sessions() as session:
            rows = (await session.exec(select(VoucherRow).where(col(VoucherRow.partner_id) == partner_id))).all()
            cards = (await session.exec(select(GiftCardRow).where(col(GiftCardRow.partner_id) == partner_id))).all()
        assert (len(rows), len(cards)) == (ROWS, ROWS // 20)
        for row in [*rows, *cards]:
            assert looks_valid(row.code)
            assert row.normal_code == normalize(row.code)
        for row in rows:
            check(row, begun)
        assert {row.state for row in rows} == set(VoucherState)
        assert len({row.language for row in rows}) == 8
        assert len({row.created_on.year for row in rows}) >= 6
        early = begun - SPAN - dt.timedelta(hours=1)
        assert await installation.means.pool.fetch(SOMETHING_WRONG, partner_id, early, clock.now()) == []
        await check_rows_over_rest(installation, token, {row.code for row in rows})


def check(row: VoucherRow, now: dt.datetime) -> None:
    """A voucher's state goes with its dates, and its prices with each other."""
    assert (row.activated_on is None) == (row.expires_on is None) == (row.state in UNPAID)
    assert row.purchase_price_amount <= row.total_price_amount
    assert (row.coupon_id is None) == (
        row.purchase_price_amount == row.total_price_amount
    ) or not row.total_price_amount
    if row.activated_on is None or row.expires_on is None:
        return
    assert row.created_on <= row.activated_on <= now
    assert row.used_on is None or row.activated_on <= row.used_on <= min(now, row.expires_on)
    assert (row.state in REDEEMABLE) <= (row.expires_on > now)
    assert (row.state is VoucherState.EXPIRED) <= (row.expires_on <= now)


async def check_rows_over_rest(installation: Installation, token: str, codes: set[str]) -> None:
    """Every row comes out over REST, page by page."""
    transport = httpx.ASGITransport(installation.app)
    seen: list[dict[str, Any]] = []
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        for page in range(1, ROWS // 100 + 1):
            query = {"page": page, "page_size": 100}
            answer = await client.get("/api/vouchers/", params=query, headers={"Authorization": f"Token {token}"})
            assert answer.status_code == 200, answer.text
            seen += orjson.loads(answer.content)["results"]
    assert {row["code"] for row in seen} == codes
    assert {row["coupon"] for row in seen} == {"", *COUPONS}
    assert all(row["voucher_prototype_name"] for row in seen)


async def test_a_run_adds_up_to_the_number_and_makes_the_same_rows(
    database_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "BATCH", 30)
    async with open_installation(database_url, "", tmp_path) as installation:
        db: Database = installation.app.state.container.services.db
        heard: list[tuple[int, int]] = []
        assert await add_large_partner(
            db, installation.settings, clock, 100, lambda *so_far: heard.append(so_far)
        ) == LargeResult(100, 100, 5, *SOLD)
        assert heard == [(30, 105), (60, 105), (90, 105), (100, 105), (105, 105)]
        codes = await codes_of(installation)
        assert await add_large_partner(db, installation.settings, clock, 100, ignore_progress) == LargeResult(
            100, 0, 5, *SOLD
        )
        assert await add_large_partner(db, installation.settings, clock, 10, ignore_progress) == LargeResult(
            100, 0, 5, *SOLD
        )
        assert await add_large_partner(db, installation.settings, clock, 130, ignore_progress) == LargeResult(
            130, 30, 6, *SOLD
        )
        later = await codes_of(installation)
        assert later[:100] == codes
        assert len(set(later)) == 130
        for table in ("voucher_chosen_option", "voucher_included_option", "voucher_rental", "voucher"):
            await installation.means.pool.execute(f"DELETE FROM {table}")  # noqa: S608 - one of the four
        assert await add_large_partner(db, installation.settings, clock, 130, ignore_progress) == LargeResult(
            130, 130, 6, *SOLD
        )
        assert await codes_of(installation) == later


async def codes_of(installation: Installation) -> list[str]:
    query = (
        "SELECT code FROM voucher WHERE partner_id = (SELECT partner_id FROM app_user WHERE username = $1) ORDER BY id"
    )
    return [row[0] for row in await installation.means.pool.fetch(query, LARGE_PARTNER_USER)]


async def test_it_is_refused_where_the_demo_data_is(database: Database) -> None:
    production = Settings().model_copy(update={"environment": DeploymentEnvironment.PRODUCTION})
    for settings, why in ((production, "development"), (Settings(), "not in this database")):
        with pytest.raises(DemoDataRefused, match=why):
            await add_large_partner(database, settings, clock, 10, ignore_progress)
    assert (await database.rows(select(VoucherRow.id))) == []
