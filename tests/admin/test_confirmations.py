"""What a form tells before money moves, or before something is lost."""

from admin.graph.schema_types import field_at, mutations
from admin.resources.consequences import CONSEQUENCES, PATHS
from admin.resources.registry import resources
from tests.admin.office import ROOT, Office, notices
from tests.fixtures.gift_card import gift_card


def values_above(office: Office, who: str) -> dict[str, str]:
    """The labelled values above the buttons."""
    page = office.browser(who).page
    return {row.one("dt").text: row.one("dd").text for row in page.one("dl", class_="facts").all("div")}


async def test_a_cancellation_tells_the_balance_that_is_lost(office: Office) -> None:
    card = await gift_card(office.tenants)
    staff = await office.open("a1", f"{ROOT}gift-cards/{card.id}/cancel-gift-card/")
    assert values_above(office, "a1")["Balance"] == "€50.00"
    assert notices(staff) == ["What is left on it is lost for its holder. This cannot be undone."]
    staff = await office.open("a1", f"{ROOT}gift-cards/{card.id}/spend-gift-card/")
    assert values_above(office, "a1")["Balance"] == "€50.00"
    staff = await office.open("a1", f"{ROOT}gift-cards/{card.id}/reveal-gift-card-code/")
    assert notices(staff) == ["The audit log records who looks at the code, and when."]
    assert card.code not in staff.response.text


async def test_an_erasure_tells_what_goes_and_what_stays(office: Office) -> None:
    staff = await office.open("a1", f"{ROOT}customers/new/erase-personal-data/")
    (text,) = notices(staff)
    assert "invoiced stays" in text
    assert text.endswith("This cannot be undone.")


def test_what_is_told_exists() -> None:
    assert mutations().keys() >= CONSEQUENCES.keys() | PATHS.keys()
    by_mutation = {action.mutation: each for each in resources().values() for action in each.actions}
    for mutation, paths in PATHS.items():
        for path in paths:
            assert field_at(by_mutation[mutation].type, path), (mutation, path)
