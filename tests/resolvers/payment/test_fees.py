"""Fee rules: who makes, changes and sees them, which one counts, and how its commission is rounded."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from resolvers.payment.fees import create_fee_rule, fee_rule, fee_rules, preview_commission, update_fee_rule
from schema.core.errors import Forbidden, MarketplaceOnly, NotFound
from schema.core.permission import Permission
from schema.payment.fee_input import CreateFeeRule, UpdateFeeRule
from store.payment.fees import FeeRuleRow
from tests.changes import Direct, Transport
from tests.fixtures.tenants import Tenants

RULE = "id partner { uuid } product origin percentage fixed { amount currency } vatRate isActive marketplace { uuid }"


async def rule(tenants: Tenants, who: str = "market a", **values: Any) -> FeeRuleRow:
    """A new fee rule."""
    outcome = await Direct(tenants).change(who, create_fee_rule, **values)
    assert outcome.done, outcome
    row: FeeRuleRow = outcome.result
    return row


async def preview(tenants: Tenants, who: str, partner: str, amount: str, **values: str) -> Mapping[str, Any]:
    """What `previewCommission` answers."""
    document = """query ($partner: UUID!, $amount: Decimal!, $product: String! = "", $origin: String! = "") {
        previewCommission(partnerUuid: $partner, amount: $amount, product: $product, origin: $origin) {
        rule { id } commission { amount currency } vat { amount } net { amount } } }"""
    uuid = str(tenants.partners[partner].uuid)
    answer = await tenants.graphql(who, document, partner=uuid, amount=amount, **values)
    assert "errors" not in answer, answer
    found: Mapping[str, Any] = answer["data"]["previewCommission"]
    return found


async def test_a_rule_is_made_and_changed(tenants: Tenants, ask: Transport) -> None:
    partner = tenants.partners["a2"]
    values = {
        "partner_uuid": str(partner.uuid),
        "product": "stay",
        "percentage": "2.5",
        "fixed": "0.30",
        "vat_rate": "20",
    }
    assert (await ask.change("market a", create_fee_rule, **values)).done
    row = await tenants.newest("fee_rule")
    assert row == row | {
        "marketplace_id": tenants.marketplaces["a"].id,
        "partner_id": partner.id,
        "product": "stay",
        "origin": None,
        "percentage": 2.5,
        "fixed_amount": 0.3,
        "vat_rate": 20.0,
        "is_active": True,
        "currency": "EUR",
    }
    changes = {"id": row["id"], "product": None, "origin": "newsletter", "percentage": "3", "is_active": False}
    assert (await ask.change("market a", update_fee_rule, **changes)).done
    changed = {"product": None, "origin": "newsletter", "percentage": 3.0, "is_active": False}
    assert await tenants.row("fee_rule", row["id"]) == row | changed


async def test_what_is_refused(tenants: Tenants, ask: Transport) -> None:
    own = await rule(tenants, percentage="1")
    uuid_b1 = str(tenants.partners["b1"].uuid)
    limited = {"percentage": "100.01", "fixed": "-0.01", "vat_rate": "-1", "product": "x" * 81, "origin": "x" * 81}
    before = await tenants.snapshot()
    assert await ask.wrong("market a", create_fee_rule, **limited) == set(limited)
    assert await ask.wrong("market a", create_fee_rule, partner_uuid=uuid_b1) == {"partner_uuid"}
    assert await ask.wrong("master", create_fee_rule) == {"marketplace_uuid"}
    assert await ask.wrong("market b", create_fee_rule, marketplace_uuid=str(tenants.marketplaces["a"].uuid)) == {
        "marketplace_uuid"
    }
    for who in ("market b", "market a"):
        outcome = await ask.change(who, update_fee_rule, id=own.id if who == "market b" else 4711, percentage="2")
        assert {code for _, code in outcome.wrong} == {"NOT_FOUND"}
    assert await tenants.snapshot() == before


async def test_a_second_active_rule_for_the_same_is_refused(tenants: Tenants, ask: Transport) -> None:
    partner_uuid = str(tenants.partners["a1"].uuid)
    for values in ({}, {"partner_uuid": partner_uuid, "product": "stay"}, {"origin": "newsletter"}):
        first = await rule(tenants, **values)
        assert {code for _, code in (await ask.change("market a", create_fee_rule, **values)).wrong} == {
            "ALREADY_TAKEN"
        }
        second = await rule(tenants, **values, is_active=False)
        again = await ask.change("market a", update_fee_rule, id=second.id, is_active=True)
        assert {code for _, code in again.wrong} == {"ALREADY_TAKEN"}
        assert (await ask.change("market a", update_fee_rule, id=first.id, is_active=False)).done
        assert (await ask.change("market a", update_fee_rule, id=second.id, is_active=True)).done
    await rule(tenants, "market b")
    blank = await ask.change("market a", create_fee_rule, product=" ", origin="")
    assert {code for _, code in blank.wrong} == {"ALREADY_TAKEN"}, "a blank name is none"


async def test_a_partner_reads_what_concerns_it_and_writes_nothing(tenants: Tenants) -> None:
    general = await rule(tenants)
    rules = {
        name: await rule(tenants, f"market {name[0]}", partner_uuid=str(tenants.partners[name].uuid))
        for name in ("a1", "a2", "b1")
    }
    seen = {
        "a1": {general.id, rules["a1"].id},
        "a2": {general.id, rules["a2"].id},
        "b1": {rules["b1"].id},
        "market a": {general.id, rules["a1"].id, rules["a2"].id},
        "market b": {rules["b1"].id},
        "master": {general.id, *(row.id for row in rules.values())},
    }
    for who, ids in seen.items():
        answer = await tenants.graphql(who, f"{{ feeRules(first: 50) {{ totalCount nodes {{ {RULE} }} }} }}")
        assert {node["id"] for node in answer["data"]["feeRules"]["nodes"]} == ids
        assert answer["data"]["feeRules"]["totalCount"] == len(ids)
        for row in (general, *rules.values()):
            lazy = await fee_rule(await tenants.context(who), row.id)
            if row.id in ids:
                assert (await lazy.object()).id == row.id
            else:
                with pytest.raises(NotFound):
                    await lazy.object()
    await tenants.user("granted", "partner", [Permission.MANAGE_MARKETPLACE], partner_id=tenants.partners["a1"].id)
    before = await tenants.snapshot()
    for who, error in {"a1": Forbidden, "granted": MarketplaceOnly}.items():
        context = await tenants.context(who)
        with pytest.raises(error):
            await create_fee_rule(context, CreateFeeRule(percentage=Decimal(0), product="x"))
        with pytest.raises(error):
            await update_fee_rule(context, UpdateFeeRule(id=rules["a1"].id))
    assert await tenants.snapshot() == before


async def test_lists_are_filtered(tenants: Tenants) -> None:
    partner_uuid = str(tenants.partners["a1"].uuid)
    rows = [
        await rule(tenants),
        await rule(tenants, product="stay"),
        await rule(tenants, origin="newsletter", is_active=False),
        await rule(tenants, partner_uuid=partner_uuid, product="stay"),
    ]
    filters = {
        'product: "stay"': [1, 3],
        'origin: "newsletter"': [2],
        "isActive: true": [0, 1, 3],
        f'partnerUuid: "{partner_uuid}"': [3],
        f'marketplaceUuid: "{tenants.marketplaces["a"].uuid}"': [0, 1, 2, 3],
        f'marketplaceUuid: "{tenants.marketplaces["b"].uuid}"': [],
    }
    for written, chosen in filters.items():
        query = f"{{ feeRules(orderBy: OLDEST, filter: {{{written}}}) {{ nodes {{ id }} }} }}"
        answer = await tenants.graphql("market a", query)
        assert [node["id"] for node in answer["data"]["feeRules"]["nodes"]] == [rows[at].id for at in chosen]
    assert str(fee_rules.default_order) == "-id"


async def test_the_most_specific_rule_counts(tenants: Tenants) -> None:
    partner = {"partner_uuid": str(tenants.partners["a1"].uuid)}
    weights: list[dict[str, str]] = [
        {},
        {"origin": "shop"},
        {"product": "stay"},
        {"product": "stay", "origin": "shop"},
        partner,
        {**partner, "origin": "shop"},
        {**partner, "product": "stay"},
        {**partner, "product": "stay", "origin": "shop"},
    ]
    await rule(tenants, partner_uuid=str(tenants.partners["a2"].uuid), product="stay", origin="shop", percentage="99")
    await rule(tenants, product="tickets", origin="shop", percentage="98")
    await rule(tenants, **partner, product="stay", origin="phone", percentage="97")
    for weight, names in enumerate(weights):
        row = await rule(tenants, **names, percentage=str(weight + 1))
        found = await preview(tenants, "a1", "a1", "100.00", product="stay", origin="shop")
        assert found["rule"] == {"id": row.id}, names
        assert found["commission"] == {"amount": f"{weight + 1}.00", "currency": "EUR"}
    other = await preview(tenants, "market a", "a1", "100.00", product="other", origin="other")
    assert other["commission"]["amount"] == "5.00"
    of_b1 = await preview(tenants, "master", "b1", "100.00", product="stay", origin="shop")
    assert (of_b1["rule"], of_b1["commission"]) == (None, {"amount": "0.00", "currency": "CHF"})


@pytest.mark.parametrize(
    ("values", "amount", "commission", "vat"),
    [
        (("2.50", "0", "0"), "0.20", "0.01", "0.00"),
        (("2.50", "0", "0"), "0.19", "0.00", "0.00"),
        (("10.00", "0", "0"), "0.05", "0.01", "0.00"),
        (("4.17", "0", "20.00"), "100.00", "5.00", "0.83"),
        (("1.00", "0.30", "20.00"), "12.50", "0.52", "0.09"),
        (("0", "2.00", "20.00"), "1.00", "0.99", "0.17"),
        (("0", "0.98", "0"), "1.00", "0.98", "0.00"),
        (("4.00", "0.25", "20.00"), "0.31", "0.30", "0.05"),
        (("100.00", "0", "20.00"), "0.02", "0.01", "0.00"),
        (("100.00", "0", "20.00"), "0.01", "0.00", "0.00"),
        (("100.00", "0", "0"), "9999999999.99", "9999999999.98", "0.00"),
    ],
)
async def test_commission_is_rounded_half_up_and_leaves_a_cent(
    tenants: Tenants, values: tuple[str, str, str], amount: str, commission: str, vat: str
) -> None:
    await rule(tenants, **dict(zip(("percentage", "fixed", "vat_rate"), values, strict=True)))
    found = await preview(tenants, "a1", "a1", amount)
    assert (found["commission"]["amount"], found["vat"]["amount"]) == (commission, vat)
    assert Decimal(found["net"]["amount"]) == Decimal(amount) - Decimal(commission)


async def test_a_preview_is_of_what_one_sees(tenants: Tenants) -> None:
    row = await rule(tenants, percentage="1")
    assert (await preview(tenants, "a2", "a2", "100.00"))["rule"] == {"id": row.id}
    context = await tenants.context("a1")
    with pytest.raises(NotFound):
        await preview_commission(context, partner_uuid=tenants.partners["a2"].uuid, amount=Decimal(1))
    await tenants.user("powerless", "partner", [], partner_id=tenants.partners["a1"].id)
    with pytest.raises(Forbidden):
        await preview_commission(
            await tenants.context("powerless"), partner_uuid=tenants.partners["a1"].uuid, amount=Decimal(1)
        )
    document = "query ($p: UUID!, $a: Decimal!) { previewCommission(partnerUuid: $p, amount: $a) { vat { amount } } }"
    for amount in ("0", "-1", "0.001", "10000000000"):
        answer = await tenants.graphql("a1", document, p=str(tenants.partners["a1"].uuid), a=amount)
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT", answer
