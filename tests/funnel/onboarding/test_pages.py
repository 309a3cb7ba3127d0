"""The onboarding pages without a browser: the way to the provider and back, and every way it can end."""

import datetime as dt
import re

import pytest

from coffret.sandbox.users.sca import ScaOutcome
from resolvers.activation import transitions
from store.activation.account_requests import account_digest
from store.core.clock import clock
from store.providers.errors import InvalidRequest
from tests.fixtures.activation import Newcomer
from tests.funnel.checkout.customer import Customer
from tests.funnel.onboarding.fixtures import FORGOTTEN, back, field_names, fill, link, notes, press, to_provider

# ---- the way to the provider


async def test_only_the_button_opens_a_session(newcomer: Newcomer, representative: Customer) -> None:
    url = await link(newcomer)
    for path in ("", "return/", "leaving/"):
        for method in ("GET", "HEAD"):
            answer = await representative.http.request(method, f"{url}{path}")
            assert answer.status_code in {200, 303}, (method, path)
    assert (await representative.http.get(f"{url}provider/")).status_code == 405
    assert (await representative.http.head(f"{url}provider/")).status_code == 405
    assert (await representative.http.post(f"{url}provider/", data={"csrf": "none"})).status_code == 403
    assert (await newcomer.sessions(), await newcomer.calls()) == (0, 0)
    await representative.open(url)
    assert re.match(r"http://provider\.test/_provider/sca\?token=", await to_provider(representative))
    assert await newcomer.sessions() == 1


async def test_what_happens_there_is_told_before(newcomer: Newcomer, representative: Customer) -> None:
    await representative.open(await link(newcomer))
    steps = " ".join(step.text for step in representative.page.one("ol", class_="journey").all("li"))
    for word in ("terms", "consents", "passkey", "skip", "e-mail", "PIN", "mobile", "SMS"):
        assert word in steps
    assert "mobile phone" in representative.page.one("ul", class_="at-hand").text
    assert "ten minutes" in representative.page.one("main").text


async def test_the_link_is_the_same_while_it_can_be_used_and_then_a_fresh_one(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    first = await to_provider(representative)
    await representative.open(representative.path)
    assert representative.step != "leaving", "a reload leads to the button"
    assert await to_provider(representative) == first
    clock.advance(dt.timedelta(minutes=11))
    await representative.open(await link(newcomer))
    assert await to_provider(representative) != first
    assert len(await newcomer.accounts()) == 1


async def test_a_provider_that_is_away_is_told_beside_the_button(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.fault("/sca/users/*", kind="status", status=503, times=50)
    await representative.open(await link(newcomer))
    await press(representative)
    assert representative.response.status_code == 200
    assert notes(representative) == ["The payment provider does not answer"]
    await representative.open(representative.path)
    assert notes(representative) == [], "it is told once"


# ---- and back


async def test_the_whole_way(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(**FORGOTTEN)
    await representative.open(await link(newcomer))
    await fill(representative)
    url = await to_provider(representative)
    await newcomer.authenticate(url)
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"
    assert "Chez Ada can be paid by card" in representative.page.one("main").text
    assert (await newcomer.now()).payments_active
    await representative.open(await link(newcomer))
    assert representative.h1 == "Payments are active"
    assert await newcomer.events() == ["partner.payments_activated"]


@pytest.mark.parametrize("expires", [True, False])
async def test_a_session_that_ran_out_or_was_left_has_the_button_again(
    newcomer: Newcomer, representative: Customer, expires: bool
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    if expires:
        clock.advance(dt.timedelta(minutes=11))
    await back(newcomer, representative)
    assert notes(representative) == ["You have not finished yet"]
    assert (await to_provider(representative) == url) is not expires


async def test_a_session_that_failed_has_the_reason_and_the_number_and_the_button(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    process = (await newcomer.row()).id
    await newcomer.authenticate(url, ScaOutcome.FAILED)
    await back(newcomer, representative)
    assert notes(representative) == ["You could not be authenticated"]
    assert str(process) in representative.page.one("dl", class_="support").text
    again = await to_provider(representative)
    await newcomer.authenticate(again)
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"


async def test_what_takes_its_time_is_looked_at_again_ever_more_seldom(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    await newcomer.fault("/wallets", kind="status", status=503, times=500)
    await newcomer.authenticate(url)
    await back(newcomer, representative)
    assert representative.h1 == "Your activation is being processed"
    pauses = []
    while "refresh" in representative.response.headers:
        seconds, again = representative.refresh
        pauses.append(seconds)
        assert f"{await link(newcomer)}return/?looked=".endswith(again.rstrip("0123456789"))
        await representative.open(again)
    assert pauses == sorted(pauses)
    assert 5 < len(pauses) < 20
    assert "longer than usual" in representative.page.one("main").text
    assert str((await newcomer.row()).id) in representative.page.one("dl", class_="support").text
    await newcomer.control("DELETE", "/faults")
    await representative.open(representative.page.one("a", class_="main").attributes["href"])
    assert representative.h1 == "Payments are active"


async def test_an_account_that_is_blocked_ends_with_the_reason_and_what_support_asks_for(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    url = await to_provider(representative)
    await newcomer.block(inflows=True)
    await newcomer.authenticate(url)
    await back(newcomer, representative)
    assert representative.h1 == "The payment provider has blocked the account"
    assert str((await newcomer.row()).id) in representative.page.one("dl", class_="support").text
    assert representative.page.one("main").all("form") == []


async def test_what_the_provider_did_not_take_is_asked_again_with_the_reason(
    newcomer: Newcomer, representative: Customer
) -> None:
    await newcomer.change(legal_representative_nationality="fr")
    await representative.open(await link(newcomer))
    await press(representative)
    assert field_names(representative) == {"legal_representative_nationality"}
    assert representative.errors == ["The payment provider did not accept this. Please correct it."]
    assert representative.page.one("select", id="legal_representative_nationality").all("option", selected="") == []
    await representative.send("/onboarding/", {"legal_representative_nationality": "FR"})
    assert notes(representative) == []
    await newcomer.authenticate(await to_provider(representative))
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"


async def test_what_only_the_platform_can_correct_ends_with_what_it_has_to_know(
    newcomer: Newcomer, representative: Customer
) -> None:
    begun = await newcomer.activate()
    refused = InvalidRequest("Refused.", {"HeadquartersAddress.AddressLine2": "The field AddressLine2 is invalid."})
    await transitions.record_refusal(
        newcomer.services, begun.id, refused, reported_digest=account_digest(await newcomer.now())
    )
    await representative.open(await link(newcomer))
    assert representative.h1 == "The payment provider did not accept a detail"
    told = representative.page.one("dl", class_="support").text
    assert str(begun.id) in told
    assert "AddressLine2" in told
