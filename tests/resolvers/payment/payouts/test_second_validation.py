"""Payout requests that two users have to validate, and a setting that one user alone does not get rid of."""

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.account.tokens import issue_token
from resolvers.core.services import Services
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, update_network_gift_card_usage
from resolvers.partner.marketplaces import update_marketplace
from resolvers.payment.payouts.gathering import gather_payouts
from resolvers.payment.payouts.payouts import validate_payout_request
from schema.bank_account import BankAccountStatus
from schema.core.permission import Permission
from store.bank_account import BankAccountRow
from store.core.clock import clock
from tests.changes import Direct, Transport
from tests.fixtures.network import is_proved
from tests.fixtures.payment.payout import RETURNED_IBAN, make_ready
from tests.fixtures.tenants import PASSWORD, Tenants
from tests.resolvers.account.test_api_tokens import create_for
from tests.resolvers.payment.payouts.test_adjustments import second_user
from tests.resolvers.payment.payouts.test_payouts import earn, opened, refusal

TAKEN = {("", "SECOND_VALIDATION_REQUIRED")}
VALIDATED = "SELECT count(*) FROM event WHERE type = 'payout_request.validated'"
COLUMNS = "status, validated_by_id, first_validated_by_id, first_validated_on IS NOT NULL"


async def limit(tenants: Tenants, amount: str | None, who: str = "master") -> set[tuple[str, str]]:
    """Set from which amount two users are needed; what was wrong with that."""
    values = {"id": tenants.marketplaces["a"].id, "payout_settings": {"second_validation_from": amount}}
    return set((await Direct(tenants).change(who, update_marketplace, **values)).wrong)


async def ready(tenants: Tenants, amount: str | None = "30.00") -> int:
    """A payout request of 30.00 that can be validated; its id."""
    id = await opened(tenants)
    await make_ready(tenants, "a1")
    assert await limit(tenants, amount) == set()
    return id


async def state(tenants: Tenants) -> tuple[Any, ...]:
    """What the payout request says of who has validated it."""
    return tuple((await tenants.rows(f"SELECT {COLUMNS} FROM payout_request"))[0])  # noqa: S608 - a test's words


async def test_two_users_validate_it(tenants: Tenants, ask: Transport) -> None:
    id, second = await ready(tenants), await second_user(tenants)
    first_id, second_id = tenants.users["market a"].id, tenants.users[second].id
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    assert await state(tenants) == ("to be validated", None, first_id, True)
    assert await tenants.one(VALIDATED) == 0
    assert await tenants.one("SELECT count(*) FROM ledger_journal WHERE kind = 'payout_validated'") == 0
    before = await tenants.snapshot()
    assert await refusal(tenants, ask, "market a", validate_payout_request, id=id) == TAKEN
    assert await tenants.snapshot() == before
    assert (await ask.change(second, validate_payout_request, id=id)).done
    assert await state(tenants) == ("validated", second_id, first_id, True)
    assert await tenants.one(VALIDATED) == 1
    assert (await ask.change("market a", validate_payout_request, id=id)).done, "it is validated already"
    assert await is_proved(tenants)


@pytest.mark.parametrize("amount", [None, "30.01"])
async def test_below_the_amount_one_is_enough(tenants: Tenants, ask: Transport, amount: str | None) -> None:
    id = await ready(tenants, amount)
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    assert await state(tenants) == ("validated", tenants.users["market a"].id, None, False)


async def test_tokens_count_as_their_user(tenants: Tenants) -> None:
    id = await ready(tenants, "0")
    assert (await Direct(tenants).change("market a", validate_payout_request, id=id)).done
    async with tenants.services.db.sessions() as db, db.begin():
        tenants.tokens["again"] = await issue_token(db, tenants.users["market a"], "another", clock)
    answer = await Direct(tenants).change("again", validate_payout_request, id=id)
    assert answer.wrong == TAKEN
    headers = {"Authorization": f"Token {tenants.tokens['again']}"}
    rest = await tenants.client.post(f"/api/payout_requests/{id}/validate/", headers=headers)
    assert (rest.status_code, rest.json()["code"]) == (409, "second_validation_required")


async def token_by(tenants: Tenants, creator: str, who: str) -> str:
    """A caller with a token of a user that another user has created."""
    await tenants.with_password(creator, PASSWORD)
    payload = await create_for(tenants, creator, who)
    tenants.tokens[name := f"{who}, by {creator}"] = payload["newToken"]["secret"]
    return name


async def test_a_token_for_another_user_is_no_second_one(tenants: Tenants) -> None:
    id, second = await ready(tenants), await second_user(tenants)
    ask, theirs = Direct(tenants), await token_by(tenants, "market a", second)
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    before = await tenants.snapshot()
    assert (await ask.change(theirs, validate_payout_request, id=id)).wrong == TAKEN
    assert await tenants.snapshot() == before
    assert (await ask.change(second, validate_payout_request, id=id)).done, "the user without that token is another one"
    assert (await state(tenants))[0] == "validated"


@pytest.mark.parametrize("last", ["market a", "third, by market a"])
async def test_whoever_created_the_token_of_the_first_is_no_second_one(tenants: Tenants, last: str) -> None:
    id, second = await ready(tenants), await second_user(tenants)
    ask, theirs = Direct(tenants), await token_by(tenants, "market a", second)
    await tenants.user("third", "marketplace", marketplace_id=tenants.marketplaces["a"].id)
    await token_by(tenants, "market a", "third")
    assert (await ask.change(theirs, validate_payout_request, id=id)).done
    assert (await ask.change(last, validate_payout_request, id=id)).wrong == TAKEN
    assert (await ask.change("master", validate_payout_request, id=id)).done


async def test_users_of_partners_are_none_of_the_two(tenants: Tenants) -> None:
    id = await ready(tenants)
    of = tenants.partners["a1"].id
    await tenants.user("own", "partner", partner_id=of, permissions=[Permission.VALIDATE_PAYOUT])
    assert (await Direct(tenants).change("own", validate_payout_request, id=id)).wrong == {("", "MARKETPLACE_ONLY")}
    assert await state(tenants) == ("to be validated", None, None, False)


async def test_two_at_once(tenants: Tenants) -> None:
    id, second = await ready(tenants), await second_user(tenants)
    ask = Direct(tenants)
    answers = await asyncio.gather(*(ask.change("market a", validate_payout_request, id=id) for _ in range(8)))
    assert sorted(each.done for each in answers) == [False] * 7 + [True]
    assert all(each.done or each.wrong == TAKEN for each in answers)
    assert (await state(tenants))[0] == "to be validated"
    names = [second, "master", second, "master"]
    found = await asyncio.gather(*(ask.change(who, validate_payout_request, id=id) for who in names))
    assert all(each.done for each in found), "whoever comes last finds it validated"
    assert await tenants.one(VALIDATED) == 1
    assert (await state(tenants))[1] in {tenants.users[second].id, tenants.users["master"].id}


async def test_an_automatic_validation_waits_for_them(tenants: Tenants) -> None:
    id = await ready(tenants)
    await tenants.execute("UPDATE partner SET auto_validate_payout = true")
    services: Services = tenants.services
    await gather_payouts(services)
    assert (await state(tenants))[0] == "to be validated"
    assert "two users" in (await tenants.one("SELECT detail FROM payout_request WHERE id = :id", id=id)).lower()
    assert await limit(tenants, None) == set()
    await gather_payouts(services)
    assert await state(tenants) == ("validated", None, None, False)


async def test_the_first_one_is_enough_when_it_is_worth_less(tenants: Tenants) -> None:
    id = await ready(tenants)
    assert (await Direct(tenants).change("market a", validate_payout_request, id=id)).done
    assert await limit(tenants, "31.00") == set()
    assert (await Direct(tenants).change("market a", validate_payout_request, id=id)).done
    assert await state(tenants) == ("validated", tenants.users["market a"].id, None, False)


async def test_it_needs_two_users_after_items_have_left_it(tenants: Tenants) -> None:
    usage, ask = await earn(tenants, value="20.00"), Direct(tenants)
    id = await ready(tenants, "45.00")
    await tenants.execute("UPDATE partner SET freeze_payout = true")
    await tenants.execute("UPDATE payout_request SET last_day = CURRENT_DATE + 1")
    later = (clock.now() + dt.timedelta(days=60)).isoformat()
    assert (await ask.change("market a", update_network_gift_card_usage, id=usage, freeze_payout_date=later)).done
    assert await tenants.one("SELECT payout_amount FROM payout_request") == Decimal("30.00")
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    assert (await state(tenants))[0] == "to be validated"
    assert (await ask.change("market a", validate_payout_request, id=id)).wrong == TAKEN
    assert (await ask.change("master", validate_payout_request, id=id)).done
    assert (await state(tenants))[0] == "validated"


async def test_the_first_one_is_for_an_amount_and_a_bank_account(tenants: Tenants) -> None:
    """Whatever becomes of either, two users have validated what is sent where it is sent."""
    usage, ask = await earn(tenants, value="20.00"), Direct(tenants)
    id, second = await ready(tenants), await second_user(tenants)
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    await other_account(tenants)
    assert (await ask.change(second, validate_payout_request, id=id)).done
    second_id = tenants.users[second].id
    assert await state(tenants) == ("to be validated", None, second_id, True), "it has begun again"
    assert (await ask.change(second, validate_payout_request, id=id)).wrong == TAKEN
    assert (await ask.change("market a", cancel_network_gift_card_usage, id=usage)).done
    assert (await ask.change(second, validate_payout_request, id=id)).done, "of another amount it is the first"
    assert await state(tenants) == ("to be validated", None, second_id, True)
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    assert await state(tenants) == ("validated", tenants.users["market a"].id, second_id, True)
    sent = "SELECT payout_amount::text || ' ' || bank_account_iban FROM payout_request"
    assert await tenants.one(sent) == f"30.00 {RETURNED_IBAN}"


async def another(tenants: Tenants, value: str = "20.00") -> int:
    """One more payout request of the same partner, while the one before is no longer open."""
    await tenants.execute("UPDATE payout_request SET last_day = CURRENT_DATE - 1, first_day = CURRENT_DATE - 1")
    return await opened(tenants, value=value)


@pytest.mark.parametrize("before", ["master", None])
async def test_smaller_ones_of_a_day_count_together(tenants: Tenants, before: str | None) -> None:
    """Whoever has validated the one before, or nobody: one user more is not enough for both."""
    ask, id = Direct(tenants), await ready(tenants, "45.00")
    if before is None:
        await tenants.execute("UPDATE partner SET auto_validate_payout = true")
        await gather_payouts(tenants.services)
        await tenants.execute("UPDATE partner SET auto_validate_payout = false")
    else:
        assert (await ask.change(before, validate_payout_request, id=id)).done
    small, second = await another(tenants), await second_user(tenants)
    assert (await ask.change("market a", validate_payout_request, id=small)).done
    assert (await ask.change("market a", validate_payout_request, id=small)).wrong == TAKEN
    assert (await ask.change(second, validate_payout_request, id=small)).done
    third = await another(tenants, "14.99")
    assert (await ask.change("market a", validate_payout_request, id=third)).done
    states = await tenants.rows(f"SELECT {COLUMNS} FROM payout_request WHERE id = :id", id=third)  # noqa: S608 - as above
    assert tuple(states[0]) == ("validated", tenants.users["market a"].id, None, False), (
        "what two have seen does not count"
    )


@pytest.mark.parametrize(
    "gone", ["validated_on = validated_on - interval '24 hours'", "status = 'failed'", "partner_id = partner_id + 1"]
)
async def test_what_is_a_day_old_or_failed_or_of_others_does_not_count(tenants: Tenants, gone: str) -> None:
    ask, id = Direct(tenants), await ready(tenants, "45.00")
    assert (await ask.change("market a", validate_payout_request, id=id)).done
    small = await another(tenants)
    await tenants.execute(f"UPDATE payout_request SET {gone} WHERE id = :id", id=id)  # noqa: S608 - a test's words
    assert (await ask.change("market a", validate_payout_request, id=small)).done
    assert await tenants.one("SELECT status FROM payout_request WHERE id = :id", id=small) == "validated"


async def other_account(tenants: Tenants) -> None:
    """The partner is paid to another bank account, which the provider has confirmed."""
    iban, id = RETURNED_IBAN, tenants.partners["a1"].id
    account: dict[str, Any] = {"iban": iban, "iban_end": iban[-4:], "holder": "A", "status": BankAccountStatus.ACTIVE}
    async with tenants.services.db.sessions() as db, db.begin():
        db.add(BankAccountRow(partner_id=id, account_id="of-a1", provider_id="another", **account))
    await tenants.execute("UPDATE partner SET iban = :iban WHERE id = :id", iban=iban, id=id)


@pytest.mark.parametrize("name", ["second_validation_from", "approval_from"])
async def test_one_user_alone_does_not_get_rid_of_the_other(tenants: Tenants, name: str) -> None:
    id, ask = tenants.marketplaces["a"].id, Direct(tenants)

    async def set_to(who: str, amount: str | None) -> set[tuple[str, str]]:
        return set((await ask.change(who, update_marketplace, id=id, payout_settings={name: amount})).wrong)

    assert await set_to("market a", "100") == set(), "its own users begin"
    assert await set_to("market a", "50") == set(), "and are stricter"
    before = await tenants.snapshot()
    for amount in ("50.01", None):
        assert await set_to("market a", amount) == {("", "SAFEGUARD_LOWERED")}
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", update_marketplace, id=id, name="Renamed")).done
    assert await set_to("master", "200") == set()
    assert await set_to("master", None) == set()
    query = "query($id: Int!) { marketplace(id: $id) { payoutSettings { approvalFrom { amount } secondValidationFrom { amount } } } }"
    told = (await tenants.graphql("market a", query, id=id))["data"]["marketplace"]["payoutSettings"]
    assert told == {"approvalFrom": None, "secondValidationFrom": None}
