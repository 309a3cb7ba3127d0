"""The onboarding pages once payments are active: what is left to do, and its way out."""

from funnel.onboarding.texts import FAILURES, REQUIRED, REQUIREMENTS
from resolvers.onboarding import page as operations
from schema.activation import ActivationFailureReason
from schema.kyc.capability import RequirementCode
from schema.onboarding import OnboardingField
from store.onboarding.links import onboarding_path_for
from tests.fixtures.activation import Newcomer
from tests.funnel.checkout.customer import Customer
from tests.funnel.onboarding.fixtures import IBAN, back, link, notes, press, to_provider


async def active(newcomer: Newcomer) -> None:
    """Take the newcomer to where it can be paid."""
    await newcomer.authenticate((await newcomer.activate()).pending_user_action)
    assert (await newcomer.activate()).status == "COMPLETED"


async def test_what_is_left_to_do_has_its_way_out(newcomer: Newcomer, representative: Customer) -> None:
    await active(newcomer)
    await representative.open(await link(newcomer))
    left = {item.one("h3").text: item for item in representative.page.one("section", class_="needs").all("li")}
    assert set(left) == {"Your identity has to be verified", "A bank account is missing"}
    assert "Prove your identity" in left["Your identity has to be verified"].text
    assert "IBAN" in left["A bank account is missing"].text
    assert "Market" in representative.page.one("dl", class_="support").text


async def test_an_identity_is_proven_from_here_and_only_by_the_button(
    newcomer: Newcomer, representative: Customer
) -> None:
    await active(newcomer)
    url = await link(newcomer)
    for task in ("identity", "bank-account", "bank-account/confirm"):
        for method in ("GET", "HEAD"):
            assert (await representative.http.request(method, f"{url}{task}/")).status_code == 405
        assert (await representative.http.post(f"{url}{task}/", data={"csrf": "none"})).status_code == 403
    assert await newcomer.one("SELECT count(*) FROM identity_check") == 0
    await representative.open(url)
    await representative.send(f"{representative.path}identity/")
    assert representative.step == "leaving"
    assert await newcomer.one("SELECT count(*) FROM identity_check") == 1
    path = await newcomer.one("SELECT path FROM identity_check")
    await representative.open(f"/k/{path}")
    ways = [a.attributes["href"] for a in representative.page.one("main").all("a")]
    assert onboarding_path_for(newcomer.services.settings, await newcomer.now()) in ways


async def test_a_bank_account_is_named_then_confirmed(newcomer: Newcomer, representative: Customer) -> None:
    await active(newcomer)
    await representative.open(await link(newcomer))
    for typed, error in (
        ({"iban": "", "bic": ""}, "Enter the IBAN."),
        ({"iban": "FR7630006000011234567890188", "bic": ""}, "Check the IBAN"),
        ({"iban": IBAN, "bic": "DEUTDEFF"}, "Check the BIC"),
    ):
        await representative.send(f"{representative.path}bank-account/", typed)
        assert [told[: len(error)] for told in representative.errors] == [error]
        assert (await newcomer.now()).iban == ""
    await representative.send(f"{representative.path}bank-account/", {"iban": IBAN, "bic": ""})
    assert (await newcomer.now()).iban == IBAN
    assert IBAN not in representative.response.text
    assert "The account ends in 0189." in representative.page.one("main").text
    await representative.send(f"{representative.path}bank-account/confirm/")
    assert representative.step == "leaving"
    assert await newcomer.one("SELECT count(*) FROM bank_account") == 1


async def test_a_button_of_a_provider_that_is_away_says_so(newcomer: Newcomer, representative: Customer) -> None:
    await active(newcomer)
    await representative.open(await link(newcomer))
    await newcomer.fault("/**", kind="status", status=503, times=50)
    await representative.send(f"{representative.path}identity/")
    assert notes(representative) == ["The payment provider does not answer"]


async def test_a_new_address_is_authenticated_while_payments_go_on(
    newcomer: Newcomer, representative: Customer
) -> None:
    await active(newcomer)
    await newcomer.change(legal_representative_email="grace@chez-ada.example")
    await representative.open(await link(newcomer))
    assert "Payments go on meanwhile" in representative.page.one("main").text
    await newcomer.authenticate(await to_provider(representative))
    await back(newcomer, representative)
    assert representative.h1 == "Payments are active"


async def test_pressing_a_button_that_is_no_longer_there_shows_how_it_stands(
    newcomer: Newcomer, representative: Customer
) -> None:
    await representative.open(await link(newcomer))
    page = representative.page
    await active(newcomer)
    sessions = await newcomer.sessions()
    representative.page = page
    await press(representative)
    assert representative.h1 == "Payments are active"
    assert await newcomer.sessions() == sessions


async def test_an_account_that_receives_nothing_does_not_look_active(
    newcomer: Newcomer, representative: Customer
) -> None:
    await active(newcomer)
    await newcomer.block(inflows=True)
    await back(newcomer, representative)
    assert representative.h1 == "You cannot receive payments at the moment"
    assert "You cannot receive payments" not in " ".join(e.text for e in representative.page.all("h3"))


def test_everything_that_can_be_told_has_words() -> None:
    assert set(FAILURES) == set(ActivationFailureReason)
    assert set(REQUIREMENTS) == set(RequirementCode)
    assert set(REQUIRED) == set(OnboardingField)
    assert set(FAILURES) >= operations.RETRYABLE_FAILURES
