"""Whatever is wrong with an input is told at once: shapes, limits, and what its checks find among the rows."""

import pytest
from pydantic import BaseModel, ValidationError

from resolvers.core.operation import Call, Operation, operation
from schema.core.errors import InvalidInput
from schema.core.inputs import RejectedInput
from schema.core.permission import Permission
from schema.root import Mutation
from tests.changes import Transport
from tests.contract.declarations import published
from tests.fixtures.tenants import Tenants
from tests.wrong_in_two_ways import NOT_COVERED, TEXTS, cases


async def test_what_is_wrong_in_several_ways_is_told_at_once(tenants: Tenants, ask: Transport) -> None:
    table = await cases(tenants)
    before = await tenants.snapshot()
    told = {}
    for at, case in enumerate(table):
        assert len(case.wrong_fields.split()) > 1
        told[at, case.operation.name] = await ask.wrong(case.who, case.operation, **case.values)
    assert told == {(at, case.operation.name): set(case.wrong_fields.split()) for at, case in enumerate(table)}
    assert await tenants.snapshot() == before


async def test_every_mutation_is_tried_with_several_faults_or_says_why_not(tenants: Tenants) -> None:
    mutations = {it.name for field in published(Mutation) for it in field.sources if isinstance(it, Operation)}
    tried = {case.operation.name for case in await cases(tenants)}
    forgotten = mutations - tried - NOT_COVERED.keys()
    assert not forgotten, f"Add a case, or a reason for none, to tests/wrong_in_two_ways.py: {sorted(forgotten)}"
    assert not tried & NOT_COVERED.keys()
    assert tried | NOT_COVERED.keys() == mutations
    assert all(NOT_COVERED.values())


async def test_over_rest_as_well(tenants: Tenants) -> None:
    before = await tenants.snapshot()
    headers = {"Authorization": f"Token {tenants.tokens['a1']}"}
    texts = {
        f"{name}_{language}": "X" for name in TEXTS for language in ("en", "fr", "es", "it", "de", "nl", "ca", "pt")
    }
    body = {**texts, "type": "stay", "stay_price": -1, "universe": 4711, "images": [4711, 4712], "ranking": -1}
    answer = await tenants.client.post("/api/voucher_prototypes/", json={**body, "name_en": "\u0000"}, headers=headers)
    assert answer.status_code == 400
    assert set(answer.json()) == {"stay_price", "universe", "images", "ranking", "name_en"}
    assert len(answer.json()["images"]) == 2
    option = {key: text for key, text in texts.items() if not key.startswith("long")}
    wrong = {"selling_price": "x", "category_id": 4711, "voucher_prototypes_ids": [4711]}
    answer = await tenants.client.post("/api/voucher_options/", json={**option, **wrong, "name_pt": 5}, headers=headers)
    assert set(answer.json()) == {"selling_price", "category_id", "voucher_prototypes_ids", "name_pt"}
    body |= {"name_en": "X", "images": [4711, "x", 4712], "stay_price": 1, "ranking": 1}
    answer = await tenants.client.post("/api/voucher_prototypes/", json=body, headers=headers)
    assert set(answer.json()) == {"universe", "images"}
    assert len(answer.json()["images"]) == 3
    assert await tenants.snapshot() == before


async def test_a_cart_tells_of_its_address_and_of_its_lines(tenants: Tenants) -> None:
    await tenants.only_returns_to("a1", "shop.example")
    cart = {"items": [{"sku": "nothing", "quantity": 1}], "return_url": "https://elsewhere.example/"}
    headers = {"Authorization": f"Token {tenants.tokens['a1']}"}
    answer = await tenants.client.post("/api/v2/ecommerce/cart/", json=cart, headers=headers)
    assert set(answer.json()) == {"items", "return_url"}


class Numbered(BaseModel):
    """Two numbers, of which one is read by a check that can break."""

    first: int = 0
    second: int = 0


async def test_checks_that_break_on_a_part_of_an_input_leave_it_refused(tenants: Tenants) -> None:
    broken: list[int] = []

    @operation(Permission.VIEW_ORDER)
    async def divide(_call: Call, input: Numbered) -> int:
        """Divide."""
        broken.append(input.second)
        return 1 // input.second

    sent = {"first": "x", "second": 0}
    with pytest.raises(ValidationError) as wrong:
        Numbered.model_validate(sent)
    with pytest.raises(InvalidInput) as caught:
        await divide.refuse(await tenants.context("master"), RejectedInput.of(Numbered, wrong.value, sent))
    assert broken == [0]
    assert [problem.path for problem in caught.value.problems] == [("first",)]
