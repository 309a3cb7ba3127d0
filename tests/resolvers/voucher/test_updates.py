"""What becomes of vouchers: moved by whoever may, extended, corrected, booked; and that a refusal changes nothing."""

import asyncio
import datetime as dt
import itertools
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolvers.job.expiry import expire_vouchers
from resolvers.voucher import updates
from schema.core.errors import InvalidTransition
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import ExpeditionStatus, VoucherState
from store.core.clock import clock
from store.voucher.states import TRANSITIONS, transition
from tests.changes import Direct, OverGraphQL, Transport
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.fixtures.voucher import WORKED, holder, sell, voucher_events, voucher_of

S = VoucherState
NOBODYS = {("", "NOT_FOUND")}
MOVING = (Permission.USE_VOUCHER, Permission.UPDATE_VOUCHER, Permission.REOPEN_VOUCHER)


def moment(text: str | None) -> dt.datetime | None:
    return None if text is None else dt.datetime.fromisoformat(text)


async def test_every_move_takes_its_permission_and_no_other(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")
    ask = OverGraphQL(tenants)
    everything = await holder(tenants, "a1", *MOVING)
    for old, new in itertools.product(S, repeat=2):
        row = await tenants.add(voucher_of(sold, old))
        before = await tenants.row("voucher", row.id)
        needed = TRANSITIONS.permission(old, new)
        if old is new:
            may = await holder(tenants, "a1", Permission.USE_VOUCHER)
            assert (await ask.change(may, updates.update_voucher, code=row.code, state=new)).done
        elif needed is None:
            outcome = await ask.change(everything, updates.update_voucher, code=row.code, state=new)
            assert outcome.wrong == {("", "INVALID_TRANSITION")}
        if needed is None:
            assert await tenants.row("voucher", row.id) == before
            assert await voucher_events(tenants, row.id) == []
            continue
        others = {Permission.USE_VOUCHER, *(MOVING if needed is Permission.USE_VOUCHER else set(MOVING) - {needed})}
        if needed is not Permission.USE_VOUCHER:
            may_not = await holder(tenants, "a1", *sorted(others))
            refused = await ask.change(may_not, updates.update_voucher, code=row.code, state=new)
            assert refused.wrong == {("", "FORBIDDEN")}, (old, new)
            assert await tenants.row("voucher", row.id) == before
        may = await holder(tenants, "a1", *sorted({Permission.USE_VOUCHER, needed}))
        assert (await ask.change(may, updates.update_voucher, code=row.code, state=new)).done, (old, new)
        after = await tenants.row("voucher", row.id)
        assert after["state"] == new.value
        assert (after["used_on"] is not None) is (new is S.USED)
        assert (after["activated_on"] is not None) is (old in WORKED or new is S.PAID)
        assert [(kind, data["old_state"], data["state"]) for kind, data in await voucher_events(tenants, row.id)] == [
            ("voucher.state_changed", old.value, new.value)
        ]


async def test_nothing_moves_for_whoever_may_not_use_vouchers(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    row = await tenants.add(voucher_of(sold))
    without = await holder(
        tenants, "a1", *sorted(GRANTABLE_PERMISSIONS - {Permission.USE_VOUCHER, Permission.MANAGE_MASTERADMIN})
    )
    before = await tenants.snapshot()
    outcome = await ask.change(without, updates.update_voucher, code=row.code, state=S.USED)
    assert outcome.wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before


async def test_a_draft_that_is_paid_begins_its_validity_and_counts_as_sold(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    row = await tenants.add(voucher_of(sold, S.DRAFT))
    for state in (S.ERROR, S.PAID):
        assert (await ask.change("a1", updates.update_voucher, code=row.code, state=state)).done
    after = await tenants.row("voucher", row.id)
    begun, end = moment(after["activated_on"]), moment(after["expires_on"])
    assert begun is not None
    assert end is not None
    assert dt.timedelta(days=180) < end - begun < dt.timedelta(days=186)
    assert (await tenants.row("voucher_prototype", sold.stay.id))["nb_orders"] == 1
    for state in (S.ERROR, S.PAID):
        assert (await ask.change("a1", updates.update_voucher, code=row.code, state=state)).done
    again = await tenants.row("voucher", row.id)
    assert (again["activated_on"], again["expires_on"]) == (after["activated_on"], after["expires_on"])
    assert (await tenants.row("voucher_prototype", sold.stay.id))["nb_orders"] == 1


async def test_a_code_is_found_however_it_is_written_and_by_nobody_else(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    row = await tenants.add(voucher_of(sold))
    spellings = (row.code, row.normal_code, row.code.lower(), f" {row.code.replace('-', ' – ')} ")
    for spelling, state in zip(spellings, (S.USING, S.USING, S.USED, S.USED), strict=True):
        assert (await ask.change("a1", updates.update_voucher, code=spelling, state=state)).done, spelling
    before = await tenants.snapshot()
    for who in ("a2", "b1", "market b"):
        for code in (row.code, "AAAA-BBBB"):
            outcome = await ask.change(who, updates.update_voucher, code=code, state=S.PAID)
            assert outcome.wrong == NOBODYS
    assert await tenants.snapshot() == before
    for who, state in (("market a", S.PAID), ("master", S.USED)):
        assert (await ask.change(who, updates.update_voucher, code=row.code, state=state)).done


async def test_who_tries_codes_is_stopped(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")
    row = await tenants.add(voucher_of(sold))
    ask = OverGraphQL(tenants)
    seen: set[tuple[str, str]] = set()
    for number in range(1000):
        outcome = await ask.change("a2", updates.update_voucher, code=f"GUESS{number}", state=S.USED)
        seen |= outcome.wrong
        if outcome.wrong != NOBODYS:
            break
    assert seen == {*NOBODYS, ("", "TOO_MANY_REQUESTS")}
    assert (await tenants.row("voucher", row.id))["state"] == "paid"


CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "state": (updates.update_voucher, {"state": S.USED}),
    "more time": (updates.extend_voucher, {"expires_on": "2050-01-01T00:00:00Z"}),
    "details": (updates.update_voucher_details, {"message": "Enjoy"}),
    "booking": (updates.add_voucher_rental, {"starts_on": "2030-01-01"}),
    "no booking": (updates.remove_voucher_rental, {"id": 1}),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_voucher_of_another_tenant_is_not_there(tenants: Tenants, ask: Transport, change: str) -> None:
    row = await tenants.add(voucher_of(await sell(tenants, "a1")))
    operation, sent = CHANGES[change]
    nobody = await holder(tenants, "a1", Permission.VIEW_VOUCHER)
    before = await tenants.snapshot()
    for who in EVERYBODY:
        if who not in {"a1", "market a", "master"}:
            assert (await ask.change(who, operation, code=row.code, **sent)).wrong == NOBODYS
    assert (await ask.change("a1", operation, code="NO SUCH CODE", **sent)).wrong == NOBODYS
    assert (await ask.change(nobody, operation, code=row.code, **sent)).wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before
    if change != "no booking":
        assert (await ask.change("a1", operation, code=row.code, **sent)).done


async def test_more_time_is_given_to_what_can_have_it(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    now = clock.now()
    end = now + dt.timedelta(days=365)
    later = (end + dt.timedelta(days=30)).isoformat()
    for state in (S.PAID, S.USING):
        row = await tenants.add(voucher_of(sold, state, expires_on=end))
        assert (await ask.change("a1", updates.extend_voucher, code=row.code, expires_on=later)).done
        after = await tenants.row("voucher", row.id)
        assert (after["state"], moment(after["expires_on"])) == (state.value, moment(later))
        ((kind, data),) = await voucher_events(tenants, row.id)
        assert kind == "voucher.extended"
        assert (moment(data["old_expires_on"]), moment(data["expires_on"])) == (end, moment(later))
    refused = {
        S.DRAFT: ("", "NOT_EXTENDABLE"),
        S.ERROR: ("", "NOT_EXTENDABLE"),
        S.USED: ("", "NOT_EXTENDABLE"),
    }
    for state, wrong in refused.items():
        row = await tenants.add(voucher_of(sold, state))
        before = await tenants.snapshot()
        outcome = await ask.change("a1", updates.extend_voucher, code=row.code, expires_on=later)
        assert outcome.wrong == {wrong}
        assert await tenants.snapshot() == before
    unending = await tenants.add(voucher_of(sold, expires_on=None))
    row = await tenants.add(voucher_of(sold, expires_on=end))
    before = await tenants.snapshot()
    outcome = await ask.change("a1", updates.extend_voucher, code=unending.code, expires_on=later)
    assert outcome.wrong == {("", "NOT_EXTENDABLE")}
    for wrong_end in (end, end - dt.timedelta(seconds=1), now - dt.timedelta(days=1)):
        sent = wrong_end.isoformat()
        outcome = await ask.change("a1", updates.extend_voucher, code=row.code, expires_on=sent)
        assert outcome.wrong == {("expires_on", "INVALID")}
    assert await tenants.snapshot() == before


async def test_an_expired_voucher_comes_back_for_whoever_may_bring_it_back(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    row = await tenants.add(voucher_of(sold, S.EXPIRED, expires_on=clock.now() - dt.timedelta(days=3)))
    later = (clock.now() + dt.timedelta(days=30)).isoformat()
    before = await tenants.snapshot()
    outcome = await ask.change("a1", updates.extend_voucher, code=row.code, expires_on=later)
    assert outcome.wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", updates.extend_voucher, code=row.code, expires_on=later)).done
    assert (await tenants.row("voucher", row.id))["state"] == "paid"
    assert [kind for kind, _ in await voucher_events(tenants, row.id)] == ["voucher.extended", "voucher.state_changed"]
    assert await expire_vouchers(tenants.services) == 0


async def test_bookings_are_noted_and_taken_off(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    row, other = await tenants.add(voucher_of(sold)), await tenants.add(voucher_of(sold))
    of: dict[str, Any] = {"code": row.code, "starts_on": "2030-07-01", "ends_on": "2030-07-03"}
    said = {"reference": "B-77", "comment": "Late arrival"}
    assert (await ask.change("a1", updates.add_voucher_rental, **of, **said)).done
    rental = await tenants.newest("voucher_rental")
    assert {key: rental[key] for key in ("starts_on", "ends_on", *said)} == {
        "starts_on": "2030-07-01",
        "ends_on": "2030-07-03",
        **said,
    }
    assert (await tenants.row("voucher", row.id))["state"] == "paid"
    before = await tenants.snapshot()
    outcome = await ask.change("a1", updates.add_voucher_rental, **{**of, "ends_on": "2030-06-30"})
    assert outcome.wrong == {("ends_on", "INVALID")}
    for code in (other.code, row.code):
        id = rental["id"] if code == other.code else rental["id"] + 1
        assert (await ask.change("a1", updates.remove_voucher_rental, code=code, id=id)).wrong == NOBODYS
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", updates.remove_voucher_rental, code=row.code, id=rental["id"])).done
    assert await tenants.one("SELECT count(*) FROM voucher_rental") == 0


async def test_a_voucher_has_so_many_bookings_and_no_more(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "MOST_RENTALS", 2)
    row = await tenants.add(voucher_of(await sell(tenants, "a1")))
    ask = OverGraphQL(tenants)
    sent: dict[str, Any] = {"code": row.code, "starts_on": "2030-07-01"}
    outcomes = await asyncio.gather(*(ask.change("a1", updates.add_voucher_rental, **sent) for _ in range(4)))
    assert sorted(outcome.done for outcome in outcomes) == [False, False, True, True]
    assert await tenants.one("SELECT count(*) FROM voucher_rental") == 2


async def test_a_booking_comes_and_goes_with_the_use(tenants: Tenants, ask: Transport) -> None:
    """In one step with the move, for whoever may move it; nothing of it stays when any of it is refused."""
    who = await holder(tenants, "a1", Permission.USE_VOUCHER, Permission.REOPEN_VOUCHER, Permission.VIEW_VOUCHER)
    row = await tenants.add(voucher_of(await sell(tenants, "a1")))
    use = partial(ask.change, who, updates.update_voucher, code=row.code)
    stay = {"starts_on": "2030-07-01", "ends_on": "2030-07-03", "reference": "B-77"}
    before = await tenants.snapshot()
    refused = await use(state=S.USED, rental={**stay, "ends_on": "2030-06-30"})
    assert refused.wrong == {("rental.ends_on", "INVALID")}
    assert (await use(state=S.PAID, rental=stay)).wrong == {("rental", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await use(state=S.USED, from_state=S.PAID, rental=stay)).done
    noted = "SELECT r.id FROM voucher_rental r JOIN voucher v ON v.id = r.voucher_id AND v.used_on = r.created_on"
    id = await tenants.one(f"{noted} WHERE r.reference = 'B-77' AND v.state = 'used'")
    assert (await use(state=S.USED, rental=stay)).done  # the state that it is in already changes nothing
    assert await tenants.one("SELECT count(*) FROM voucher_rental") == 1
    before = await tenants.snapshot()
    assert (await use(state=S.PAID, remove_rental_ids=[id, id + 1])).wrong == NOBODYS
    assert await tenants.snapshot() == before
    assert (await use(state=S.PAID, remove_rental_ids=[id, id])).done
    assert (await tenants.row("voucher", row.id))["state"] == "paid"
    assert await tenants.one("SELECT count(*) FROM voucher_rental") == 0
    assert (await use(state=S.USING, remove_rental_ids=[id])).wrong == {("remove_rental_ids", "INVALID")}
    assert (await tenants.row("voucher", row.id))["state"] == "paid"


async def test_whom_a_voucher_is_for_without_an_address_stays_one_customer(tenants: Tenants) -> None:
    """Corrected where nobody else knows of them; where another voucher is theirs too, that one keeps them as they are."""
    sold, ask = await sell(tenants, "a1"), Direct(tenants)
    row = await tenants.add(voucher_of(sold))

    async def correct(code: str, **names: str | None) -> dict[str, Any]:
        assert (await ask.change("a1", updates.update_voucher_details, code=code, giftee_details=names)).done
        id = await tenants.one("SELECT giftee_id FROM voucher WHERE code = :code", code=code)
        return await tenants.row("customer", id)

    first = await correct(row.code, first_name="Mary", last_name="Currie")
    second = await correct(row.code, first_name="Marie", last_name="Curie")
    assert (second["id"], second["first_name"], second["last_name"]) == (first["id"], "Marie", "Curie")
    shared = await tenants.add(voucher_of(sold, giftee_id=first["id"]))
    third = await correct(row.code, first_name="Irène")
    assert third["id"] != first["id"]
    assert (await tenants.row("customer", first["id"]))["first_name"] == "Marie"
    assert await tenants.one("SELECT giftee_id FROM voucher WHERE id = :id", id=shared.id) == first["id"]
    known = await correct(row.code, email="irene@example.com")
    nameless = await correct(row.code, email=None, first_name="Ève")
    assert nameless["id"] != known["id"]
    assert (await tenants.row("customer", known["id"]))["first_name"] == "Irène"


async def test_what_staff_correct(tenants: Tenants, ask: Transport) -> None:
    row = await tenants.add(voucher_of(await sell(tenants, "a1"), message="Old", giftee_last_name="Stone"))
    giftee = {"first_name": "Ada", "email": "Ada@Example.com"}
    texts = {"message": None, "to_giftee": "Ada", "from_gifter": "The team"}
    update = updates.update_voucher_details
    assert (await ask.change("a1", update, code=row.code, giftee_details=giftee, **texts)).done
    after = await tenants.row("voucher", row.id)
    assert {key: after[key] for key in texts} == texts
    assert (after["giftee_first_name"], after["giftee_last_name"]) == ("Ada", "Stone")
    customer = await tenants.row("customer", after["giftee_id"])
    assert (customer["normal_email"], customer["last_name"]) == ("ada@example.com", "Stone")
    assert (await ask.change("a1", update, code=row.code, giftee_details={"first_name": None})).done
    assert (await tenants.row("voucher", row.id))["giftee_first_name"] is None
    assert (await tenants.row("voucher", row.id))["giftee_id"] == customer["id"]
    assert (await ask.change("a1", update, code=row.code, expedition_status=ExpeditionStatus.SENT)).done
    assert (await tenants.row("voucher", row.id))["expedition_date"] is not None
    assert (await ask.change("a1", update, code=row.code, expedition_status=ExpeditionStatus.TO_SEND)).done
    assert (await tenants.row("voucher", row.id))["expedition_date"] is None
    before = await tenants.snapshot()
    for wrong in ({"email": "no address"}, {"first_name": "x" * 81}):
        outcome = await ask.change("a1", update, code=row.code, giftee_details=wrong)
        (name,) = wrong
        assert {field for field, _ in outcome.wrong} == {f"giftee_details.{name}"}
    assert await tenants.snapshot() == before
    assert [kind for kind, _ in await voucher_events(tenants, row.id)] == []


# ---- at once


async def test_two_who_use_a_voucher_at_once_use_it_once(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")
    for _ in range(5):
        row = await tenants.add(voucher_of(sold))
        contexts = [await tenants.context("a1") for _ in range(6)]
        used = UpdateVoucher(code=row.code, state=S.USED)
        answers = await asyncio.gather(*(updates.update_voucher(context, used) for context in contexts))
        assert {answer.state for answer in answers} == {S.USED}
        assert len({answer.used_on for answer in answers}) == 1
        assert [kind for kind, _ in await voucher_events(tenants, row.id)] == ["voucher.state_changed"]


async def test_of_two_moves_at_once_each_is_one_of_the_table(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")
    row = await tenants.add(voucher_of(sold))

    async def mover(states: list[VoucherState]) -> None:
        for state in states:
            try:
                await updates.update_voucher(await tenants.context("master"), UpdateVoucher(code=row.code, state=state))
            except InvalidTransition:
                continue

    await asyncio.gather(
        *(mover([*order] * 3) for order in itertools.permutations((S.PAID, S.USING, S.USED, S.ERROR), 4))
    )
    at = S.PAID
    for _, data in await voucher_events(tenants, row.id):
        old, new = VoucherState(data["old_state"]), VoucherState(data["state"])
        assert old is at
        assert TRANSITIONS.allows(old, new)
        assert (data["used_on"] is not None) is (new is S.USED)
        at = new
    assert (await tenants.row("voucher", row.id))["state"] == at.value


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.lists(st.sampled_from(S), max_size=12))
async def test_whatever_is_asked_of_a_voucher_it_goes_where_the_table_leads(
    tenants: Tenants, path: list[VoucherState]
) -> None:
    sold = await sell(tenants, "a1")
    async with tenants.services.db.sessions() as db, db.begin():
        row = voucher_of(sold, S.DRAFT)
        db.add(row)
        await db.flush()
        model, activated = S.DRAFT, None
        for state in path:
            allowed = TRANSITIONS.allows(model, state)
            if allowed or model is state:
                assert await transition(db, row, state, clock.now()) is allowed
            else:
                with pytest.raises(InvalidTransition):
                    await transition(db, row, state, clock.now())
            model = state if allowed else model
            activated = activated or row.activated_on
            assert row.state is model
            assert (row.used_on is not None) is (model is S.USED)
            assert row.activated_on == activated
            assert (activated is not None) >= (model in WORKED)
