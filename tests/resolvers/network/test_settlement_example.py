"""The documentation of settlement: the money of one usage, followed to the cent as the page shows it."""

from resolvers.network.gift_card_usages import use_network_gift_card
from tests.changes import Direct
from tests.documents import ROOT, examples, fits
from tests.fixtures.network import is_proved, link, network_card, set_terms
from tests.fixtures.tenants import Tenants


async def test_the_example_is_answered_as_shown(tenants: Tenants) -> None:
    (example,) = examples(ROOT / "docs/settlement.md")
    await link(tenants, "a1")
    network = tenants.marketplaces["a"].id
    await tenants.execute("UPDATE marketplace SET time_zone = 'Europe/Paris' WHERE id = :id", id=network)
    await set_terms(tenants, management_fee_amount="1.00", commission_rate="10.00", vat_rate="20.00")
    card = await network_card(tenants)
    used = {"code": card.code, "value": "30.00", "partner_id": tenants.partners["a1"].id}
    assert (await Direct(tenants).change("market a", use_network_gift_card, **used)).done
    day = str(await tenants.one("SELECT max(effective_on) FROM ledger_journal WHERE kind = 'capture'"))
    answer = await tenants.graphql("market a", example.asked.text, **{"from": day, "to": day})
    answer.pop("extensions", None)
    assert fits(example.answer, answer), answer
    assert await is_proved(tenants)
    posted = await tenants.rows(
        "SELECT a.role, (abs(e.amount) / 100.0)::numeric(12, 2)::text FROM ledger_entry e "
        "JOIN ledger_journal j ON j.id = e.journal_id JOIN ledger_account a ON a.id = e.account_id WHERE j.kind = 'capture'"
    )
    assert dict(map(tuple, posted)) == {
        "card": "30.00",
        "partner_network": "25.20",
        "commission": "3.00",
        "management_fees": "1.00",
        "vat_on_commission": "0.80",
    }
