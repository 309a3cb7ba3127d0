"""Vouchers expire: all whose time is over, each once, whenever the job runs and however many do."""

import asyncio
import datetime as dt

import pytest
from sqlalchemy import text

from resolvers.job import expiry
from resolvers.job.expiry import expire_vouchers
from resolvers.job.registry import SCHEDULES
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import sell, voucher_events, voucher_of

S = VoucherState
MANY = 450


async def test_what_is_over_expires_and_nothing_else(tenants: Tenants) -> None:
    sold, elsewhere = await sell(tenants, "a1"), await sell(tenants, "b1")
    now = clock.now()
    over, later = now - dt.timedelta(seconds=1), now + dt.timedelta(days=1)
    due = [voucher_of(sold, S.PAID, expires_on=over), voucher_of(elsewhere, S.USING, expires_on=over)]
    kept = [voucher_of(sold, state, expires_on=over) for state in (S.DRAFT, S.ERROR, S.USED, S.EXPIRED)]
    kept += [voucher_of(sold, expires_on=later), voucher_of(sold, expires_on=None)]
    await tenants.add(*due, *kept)
    before = {row.id: await tenants.row("voucher", row.id) for row in kept}
    assert await expire_vouchers(tenants.services) == len(due)
    for row in due:
        assert (await tenants.row("voucher", row.id))["state"] == "exprd"
        ((kind, data),) = await voucher_events(tenants, row.id)
        assert (kind, data["old_state"], data["state"]) == ("voucher.state_changed", row.state.value, "exprd")
    assert {row.id: await tenants.row("voucher", row.id) for row in kept} == before
    assert await expire_vouchers(tenants.services) == 0
    clock.advance(dt.timedelta(days=1))
    assert await expire_vouchers(tenants.services) == 1
    assert len(await voucher_events(tenants)) == len(due) + 1


async def test_many_expire_once_each_however_many_look(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "BATCH_SIZE", 40)
    sold = await sell(tenants, "a1")
    over = clock.now() - dt.timedelta(days=3)
    await tenants.add(*(voucher_of(sold, expires_on=over) for _ in range(MANY)))
    counts = await asyncio.gather(*(expire_vouchers(tenants.services) for _ in range(3)))
    counts.append(await expire_vouchers(tenants.services))
    assert sum(counts) == MANY
    assert await tenants.one("SELECT count(*) FROM voucher WHERE state = 'exprd'") == MANY
    assert await tenants.one("SELECT count(DISTINCT subject) FROM event WHERE type = 'voucher.state_changed'") == MANY
    assert await tenants.one("SELECT count(*) FROM event WHERE type = 'voucher.state_changed'") == MANY


async def test_a_voucher_that_somebody_holds_is_left_for_the_next_time(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")
    over = clock.now() - dt.timedelta(days=3)
    held, free = voucher_of(sold, expires_on=over), voucher_of(sold, expires_on=over)
    await tenants.add(held, free)
    async with tenants.services.db.engine.begin() as holding:
        await holding.execute(text("SELECT 1 FROM voucher WHERE id = :id FOR UPDATE"), {"id": held.id})
        assert await expire_vouchers(tenants.services) == 1
        assert (await tenants.row("voucher", held.id))["state"] == "paid"
    assert await expire_vouchers(tenants.services) == 1


async def test_it_is_done_soon_after_midnight_wherever_that_is(tenants: Tenants) -> None:
    task = SCHEDULES["expire_vouchers"]
    assert task.run is expire_vouchers
    minute, *rest = task.cron.split()
    assert int(minute) < 10
    assert rest == ["*"] * 4


async def test_the_due_are_found_by_their_index(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")
    await tenants.add(voucher_of(sold))
    await tenants.execute(
        """INSERT INTO voucher (partner_id, code, normal_code, document_token, voucher_prototype_id, state, kind, origin,
            imported_from, language, prototype_name, prototype_description, prototype_rent_conditions, prototype_type,
            nb_nights, nb_adults, nb_children, nb_babies, reception_mode, self_gifted, to_giftee, from_gifter,
            payment_type, is_group_payment, created_on, updated_on, used_on, expires_on, gifter_civility,
            gifter_first_name, gifter_last_name, gifter_email, gifter_address, gifter_postal_code, gifter_city,
            gifter_country, currency, total_price_amount, purchase_price_amount, rent_price_amount,
            bought_rent_price_amount, expedition_status, cover_letter_url)
        SELECT partner_id, 'X' || n, 'X' || n, 'X' || n, voucher_prototype_id, 'used', kind, origin,
            imported_from, language, prototype_name, prototype_description, prototype_rent_conditions, prototype_type,
            nb_nights, nb_adults, nb_children, nb_babies, reception_mode, self_gifted, to_giftee, from_gifter,
            payment_type, is_group_payment, created_on, updated_on, now(), now() - interval '1 year', gifter_civility,
            gifter_first_name, gifter_last_name, gifter_email, gifter_address, gifter_postal_code, gifter_city,
            gifter_country, currency, total_price_amount, purchase_price_amount, rent_price_amount,
            bought_rent_price_amount, expedition_status, cover_letter_url
        FROM voucher, generate_series(1, 5000) n"""
    )
    await tenants.execute("ANALYZE voucher")
    plan = await tenants.rows(
        "EXPLAIN SELECT id FROM voucher WHERE state IN ('paid', 'using') AND expires_on <= now() "
        "ORDER BY expires_on, id LIMIT 200 FOR UPDATE SKIP LOCKED"
    )
    assert "voucher_due_idx" in "\n".join(row[0] for row in plan)
