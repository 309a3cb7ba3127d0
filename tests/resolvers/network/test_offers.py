"""Offers: drafted, changed, submitted, accepted and rejected; by whom, in which states, and who sees them."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from resolvers.core.lists.listing import PageArguments
from resolvers.network.offers import accept_offer, create_offer, offer, offers, reject_offer, submit_offer, update_offer
from schema.core.errors import Forbidden, MarketplaceOnly, NotFound
from schema.core.permission import Permission
from schema.core.text import Text
from schema.event import EVENT_DATA_KEYS, EventType
from schema.network.box import OfferStatus
from schema.network.box_input import AcceptOffer, CreateOffer, RejectOffer, SubmitOffer, UpdateOffer
from store.network.boxes import BoxRow, OfferRow
from tests.changes import Direct, Transport
from tests.fixtures.box import link_partners, new_box, new_offer, new_prototype
from tests.fixtures.tenants import EVERYBODY, Tenants

DRAFT, SUBMITTED = OfferStatus.DRAFT, OfferStatus.SUBMITTED
ACCEPTED, REJECTED = OfferStatus.ACCEPTED, OfferStatus.REJECTED
INVALID_TRANSITION, NOT_ADMITTED = frozenset({("", "INVALID_TRANSITION")}), frozenset({("", "OFFER_NOT_ADMITTED")})
NOT_FOUND = frozenset({("", "NOT_FOUND")})
MOVES: Mapping[Any, tuple[str, OfferStatus, frozenset[OfferStatus]]] = {
    submit_offer: ("a1", SUBMITTED, frozenset({DRAFT})),
    accept_offer: ("market a", ACCEPTED, frozenset({SUBMITTED})),
    reject_offer: ("market a", REJECTED, frozenset({SUBMITTED, ACCEPTED})),
}
"""Each move: who makes it, where it leads, and the statuses from which it is allowed."""


@pytest.fixture
async def box(tenants: Tenants) -> BoxRow:
    """A box that admits all partners of its marketplace."""
    await link_partners(tenants, "a1", "a2", "b1")
    return await new_box(tenants)


async def events_of(tenants: Tenants, offer_id: int) -> list[tuple[str, dict[str, Any]]]:
    rows = await tenants.rows(
        "SELECT type, data FROM event WHERE type LIKE 'offer.%' AND subject = :id ORDER BY id", id=str(offer_id)
    )
    return [(kind, data) for kind, data in rows]


# ---- creation and the way to a decision


async def test_an_offer_goes_its_way(tenants: Tenants, ask: Transport, box: BoxRow) -> None:
    product = await new_prototype(tenants, "a1")
    values = {
        "box_id": box.id,
        "name": {"en": "A massage"},
        "description": {"fr": "Deux"},
        "terms_of_use": {"de": "Werktags"},
        "product_id": product.id,
        "ranking": 5,
    }
    assert (await ask.change("a1", create_offer, **values)).done
    row = await tenants.newest("offer")
    assert row == row | {
        **values,
        "partner_id": tenants.partners["a1"].id,
        "marketplace_id": tenants.marketplaces["a"].id,
        "status": "DRAFT",
        "is_active": True,
        "submitted_on": None,
        "accepted_on": None,
        "rejected_on": None,
        "rejection_reason": "",
        "edited_on": row["created_on"],
    }
    id = row["id"]
    assert (await ask.change("a1", submit_offer, id=id)).done
    submitted = await tenants.row("offer", id)
    assert submitted == row | {"status": "SUBMITTED", "submitted_on": submitted["submitted_on"]}
    assert submitted["submitted_on"] is not None
    assert (await ask.change("market a", reject_offer, id=id, reason="Which days?")).done
    rejected = await tenants.row("offer", id)
    assert (rejected["status"], rejected["rejection_reason"]) == ("REJECTED", "Which days?")
    assert rejected["rejected_on"] is not None
    assert (await ask.change("a1", update_offer, id=id, terms_of_use={"de": "Montags"})).done
    edited = await tenants.row("offer", id)
    assert edited == rejected | {"status": "DRAFT", "terms_of_use": {"de": "Montags"}, "edited_on": edited["edited_on"]}
    assert edited["edited_on"] > rejected["edited_on"]
    assert (await ask.change("a1", submit_offer, id=id)).done
    assert (await ask.change("market a", accept_offer, id=id)).done
    accepted = await tenants.row("offer", id)
    assert (accepted["status"], accepted["rejected_on"], accepted["rejection_reason"]) == ("ACCEPTED", None, "")
    assert accepted["accepted_on"] is not None
    assert (await ask.change("market a", reject_offer, id=id)).done
    revoked = await tenants.row("offer", id)
    assert (revoked["status"], revoked["accepted_on"], revoked["rejection_reason"]) == ("REJECTED", None, "")
    kinds = ["submitted", "rejected", "submitted", "accepted", "rejected"]
    told = await events_of(tenants, id)
    assert [kind for kind, _ in told] == [f"offer.{kind}" for kind in kinds]
    for kind, data in told:
        assert set(data) == set(EVENT_DATA_KEYS[EventType(kind)])
        assert (data["id"], data["box_id"], data["product_id"]) == (id, box.id, product.id)
        assert data["name"] == {"en": "A massage"}
    assert told[1][1]["rejection_reason"] == "Which days?"
    assert await tenants.rows("SELECT DISTINCT partner_id, marketplace_id FROM event WHERE type LIKE 'offer.%'") == [
        (tenants.partners["a1"].id, tenants.marketplaces["a"].id)
    ]


async def test_a_marketplace_drafts_for_a_partner(tenants: Tenants, ask: Transport, box: BoxRow) -> None:
    values = {"box_id": box.id, "name": {"en": "X"}}
    assert (await ask.change("market a", create_offer, **values)).wrong == {("partner_uuid", "INVALID")}
    uuid = str(tenants.partners["a2"].uuid)
    assert (await ask.change("market a", create_offer, **values, partner_uuid=uuid)).done
    row = await tenants.newest("offer")
    assert (row["partner_id"], row["status"]) == (tenants.partners["a2"].id, "DRAFT")
    assert (await ask.change("a2", submit_offer, id=row["id"])).done


@pytest.mark.parametrize("operation", MOVES, ids=lambda operation: operation.name)
async def test_each_move_has_its_statuses(tenants: Tenants, ask: Transport, box: BoxRow, operation: Any) -> None:
    who, new, allowed = MOVES[operation]
    for status in OfferStatus:
        row = await new_offer(tenants, box, "a1", status)
        before = await tenants.snapshot()
        outcome = await ask.change(who, operation, id=row.id)
        if status in allowed:
            assert outcome.done
            assert (await tenants.row("offer", row.id))["status"] == new
        else:
            assert outcome.wrong == INVALID_TRANSITION
            assert await tenants.snapshot() == before


async def test_nothing_is_accepted_that_nobody_has_read(tenants: Tenants, ask: Transport, box: BoxRow) -> None:
    row = await new_offer(tenants, box, "a1", SUBMITTED)
    read = (await tenants.row("offer", row.id))["edited_on"]
    assert (await ask.change("a1", update_offer, id=row.id, name={"en": "Other"})).done
    assert (await ask.change("a1", submit_offer, id=row.id)).done
    before = await tenants.snapshot()
    outcome = await ask.change("market a", accept_offer, id=row.id, edited_on=read)
    assert outcome.wrong == {("", "OFFER_CHANGED")}
    assert await tenants.snapshot() == before
    told = await tenants.graphql("market a", f"{{ offer(id: {row.id}) {{ editedOn }} }}")
    assert (await ask.change("market a", accept_offer, id=row.id, edited_on=told["data"]["offer"]["editedOn"])).done


async def test_one_of_several_decisions_wins(tenants: Tenants, box: BoxRow) -> None:
    races: list[list[Any]] = [[accept_offer] * 4, [accept_offer, reject_offer] * 2, [submit_offer] * 3]
    for moves in races:
        row = await new_offer(tenants, box, "a1", DRAFT if submit_offer in moves else SUBMITTED)
        outcomes = await asyncio.gather(*(Direct(tenants).change(MOVES[move][0], move, id=row.id) for move in moves))
        refused = [outcome for outcome in outcomes if not outcome.done]
        assert all(outcome.wrong == INVALID_TRANSITION for outcome in refused)
        told = await events_of(tenants, row.id)
        # an acceptance may be taken back by a rejection that waited for it; nothing else happens twice
        assert len(told) == len(outcomes) - len(refused)
        assert [kind for kind, _ in told] in (
            [["offer.submitted"]]
            if submit_offer in moves
            else [["offer.accepted"], ["offer.rejected"], ["offer.accepted", "offer.rejected"]]
        )


async def test_a_change_and_a_decision_at_once(tenants: Tenants, box: BoxRow) -> None:
    for number in range(6):
        row = await new_offer(tenants, box, "a1", SUBMITTED)
        changed, accepted = await asyncio.gather(
            Direct(tenants).change("a1", update_offer, id=row.id, name={"en": f"Other {number}"}),
            Direct(tenants).change("market a", accept_offer, id=row.id),
        )
        assert changed.done is not accepted.done
        there = await tenants.row("offer", row.id)
        assert (there["status"], there["name"]["en"]) == (
            ("DRAFT", f"Other {number}") if changed.done else ("ACCEPTED", "A massage")
        )


# ---- changes


@pytest.mark.parametrize("status", OfferStatus)
async def test_what_a_partner_changes(tenants: Tenants, ask: Transport, box: BoxRow, status: OfferStatus) -> None:
    product = await new_prototype(tenants, "a1")
    for change in (
        {"name": {"en": "Other"}},
        {"description": {"en": "Other"}},
        {"terms_of_use": {"fr": "Autre"}},
        {"product_id": product.id},
        {"ranking": 9},
    ):
        row = await new_offer(tenants, box, "a1", status)
        before = await tenants.snapshot()
        outcome = await ask.change("a1", update_offer, id=row.id, **change)
        if status is ACCEPTED:
            assert outcome.wrong == INVALID_TRANSITION
            assert await tenants.snapshot() == before
            continue
        assert outcome.done
        there = await tenants.row("offer", row.id)
        assert there["status"] == "DRAFT"
        assert all(there[name] == value for name, value in change.items())
    kept = await new_offer(tenants, box, "a1", status)
    before = await tenants.row("offer", kept.id)
    assert (await ask.change("a1", update_offer, id=kept.id, name={"en": "A massage"}, is_active=False)).done
    assert await tenants.row("offer", kept.id) == before | {"is_active": False}
    assert (await ask.change("a1", update_offer, id=kept.id, is_active=True)).done
    assert await tenants.row("offer", kept.id) == before


@pytest.mark.parametrize("status", OfferStatus)
async def test_what_a_marketplace_changes(tenants: Tenants, ask: Transport, box: BoxRow, status: OfferStatus) -> None:
    row = await new_offer(tenants, box, "a1", status)
    before = await tenants.row("offer", row.id)
    assert (await ask.change("market a", update_offer, id=row.id, name={"fr": "Un massage"}, is_active=False)).done
    there = await tenants.row("offer", row.id)
    assert there == before | {
        "name": {"en": "A massage", "fr": "Un massage"},
        "is_active": False,
        "edited_on": there["edited_on"],
    }
    assert there["edited_on"] > before["edited_on"]


# ---- refusals


async def test_fields_that_are_refused(tenants: Tenants, ask: Transport, box: BoxRow) -> None:
    own = await new_offer(tenants, box, "a1")
    of_a2, of_b = await new_prototype(tenants, "a2"), await new_box(tenants, "b")
    hidden = await new_box(tenants, is_active=False)
    new = {"box_id": box.id, "name": {"en": "X"}}
    before = await tenants.snapshot()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"name": {"en": " "}}, "name"),
        *(({"product_id": id}, "product_id") for id in (of_a2.id, 4711, 0)),
        ({"ranking": -1}, "ranking"),
    ]
    for change, field in cases:
        assert await ask.wrong("a1", create_offer, **{**new, **change}) == {field}, change
        changed: dict[str, Any] = {"name": {"en": None}} if field == "name" else change
        assert await ask.wrong("a1", update_offer, id=own.id, **changed) == {field}, change
    for box_id in (of_b.id, hidden.id, 4711, 0):
        assert await ask.wrong("a1", create_offer, box_id=box_id, name={"en": "X"}) == {"box_id"}
    uuid = str(tenants.partners["b1"].uuid)
    assert await ask.wrong("master", create_offer, **new, partner_uuid=uuid) == {"box_id"}
    assert "partner_uuid" in await ask.wrong("a1", create_offer, **new, partner_uuid=uuid)
    assert await ask.wrong("market a", reject_offer, id=own.id, reason="x" * 1001) == {"reason"}
    assert await tenants.snapshot() == before


async def test_a_box_does_not_admit_everybody(tenants: Tenants, ask: Transport, box: BoxRow) -> None:
    limited = await new_box(tenants, partners=["a2"])
    moves: dict[Any, OfferStatus] = {submit_offer: DRAFT, accept_offer: SUBMITTED}
    rows = {move: await new_offer(tenants, limited, "a1", status) for move, status in moves.items()}
    open_rows = {move: await new_offer(tenants, box, "a1", status) for move, status in moves.items()}
    before = await tenants.snapshot()
    new = {"box_id": limited.id, "name": {"en": "X"}}
    assert (await ask.change("a1", create_offer, **new)).wrong == NOT_ADMITTED
    for move, row in rows.items():
        assert (await ask.change(MOVES[move][0], move, id=row.id)).wrong == NOT_ADMITTED
    assert await tenants.snapshot() == before
    for statement in ("linked_to_nv_settings = false", "linked_to_nv_settings = true, status = 'i'"):
        await tenants.execute(f"UPDATE partner SET {statement} WHERE source_id = 'a1'")  # noqa: S608 - the test's words
        before = await tenants.snapshot()
        assert (await ask.change("a1", create_offer, box_id=box.id, name={"en": "X"})).wrong == NOT_ADMITTED
        for move, row in open_rows.items():
            assert (await ask.change(MOVES[move][0], move, id=row.id)).wrong == NOT_ADMITTED
        assert await tenants.snapshot() == before
    await tenants.execute("UPDATE partner SET status = 'n' WHERE source_id = 'a1'")
    for move, row in open_rows.items():
        assert (await ask.change(MOVES[move][0], move, id=row.id)).done
    assert (await ask.change("a2", create_offer, **new)).done


async def test_others_change_nothing(tenants: Tenants, ask: Transport, box: BoxRow) -> None:
    submitted, accepted = [await new_offer(tenants, box, "a1", status) for status in (SUBMITTED, ACCEPTED)]
    before = await tenants.snapshot()
    for row in (submitted, accepted):
        for who in ("a2", "b1", "market b"):
            assert (await ask.change(who, update_offer, id=row.id, name={"en": "Mine"})).wrong == NOT_FOUND
            assert (await ask.change(who, submit_offer, id=row.id)).wrong == NOT_FOUND
        for move in (accept_offer, reject_offer):
            assert (await ask.change("market b", move, id=row.id)).wrong == NOT_FOUND
            assert (await ask.change("market a", move, id=4711)).wrong == NOT_FOUND
    assert await tenants.snapshot() == before


async def test_a_partner_decides_nothing(tenants: Tenants, box: BoxRow) -> None:
    row = await new_offer(tenants, box, "a1", SUBMITTED)
    partner = {"partner_id": tenants.partners["a1"].id}
    await tenants.user("manager", "partner", [Permission.MANAGE_CATALOGUE], **partner)
    await tenants.user("reader", "partner", [Permission.VIEW_CATALOGUE], **partner)
    market = {"marketplace_id": tenants.marketplaces["a"].id}
    await tenants.user("market reader", "marketplace", [Permission.VIEW_CATALOGUE], **market)
    before = await tenants.snapshot()
    inputs: dict[Any, Any] = {accept_offer: AcceptOffer, reject_offer: RejectOffer}
    for operation, kind in inputs.items():
        for who, error in {"manager": MarketplaceOnly, "reader": Forbidden, "market reader": Forbidden}.items():
            for id in (row.id, 4711):
                with pytest.raises(error):
                    await operation(await tenants.context(who), kind(id=id))
    new = CreateOffer.model_validate({"box_id": box.id, "name": {"en": "X"}})
    for who in ("reader", "market reader"):
        context = await tenants.context(who)
        with pytest.raises(Forbidden):
            await create_offer(context, new)
        with pytest.raises(Forbidden):
            await update_offer(context, UpdateOffer(id=row.id))
        with pytest.raises(Forbidden):
            await submit_offer(context, SubmitOffer(id=row.id))
    assert await tenants.snapshot() == before


# ---- lists


async def listed(tenants: Tenants, who: str, arguments: str = "") -> list[int]:
    answer = await tenants.graphql(who, f"{{ offers(first: 50{arguments}) {{ totalCount nodes {{ id }} }} }}")
    assert "errors" not in answer, answer
    found = [node["id"] for node in answer["data"]["offers"]["nodes"]]
    assert answer["data"]["offers"]["totalCount"] == len(found)
    return found


async def test_who_sees_which_offers(tenants: Tenants, box: BoxRow) -> None:
    of_b = await new_box(tenants, "b")
    rows: dict[str, dict[Any, OfferRow]] = {}
    for name in ("a1", "a2", "b1"):
        at = of_b if name == "b1" else box
        rows[name] = {status: await new_offer(tenants, at, name, status) for status in OfferStatus}
        rows[name]["withdrawn"] = await new_offer(tenants, at, name, ACCEPTED, is_active=False)
    own = {name: {row.id for row in of.values()} for name, of in rows.items()}
    seen = {
        "a1": own["a1"] | {rows["a2"][ACCEPTED].id},
        "a2": own["a2"] | {rows["a1"][ACCEPTED].id},
        "b1": own["b1"],
        "market a": own["a1"] | own["a2"],
        "market b": own["b1"],
        "master": own["a1"] | own["a2"] | own["b1"],
    }
    assert set(seen) == set(EVERYBODY)
    for who, ids in seen.items():
        assert set(await listed(tenants, who)) == ids, who
        context = await tenants.context(who)
        assert {row.id for row in await (await offers(context, PageArguments(first=50))).rows.objects()} == ids
        for row in (row for of in rows.values() for row in of.values()):
            lazy = await offer(context, row.id)
            if row.id in ids:
                assert (await lazy.object()).id == row.id
            else:
                with pytest.raises(NotFound):
                    await lazy.object()
        answer = await tenants.graphql(who, "{ boxes { nodes { id offers { id } } } }")
        told = {node["id"]: [one["id"] for one in node["offers"]] for node in answer["data"]["boxes"]["nodes"]}
        assert {id for inner in told.values() for id in inner} == ids
        assert all(inner == sorted(inner, reverse=True) for inner in told.values())


async def test_the_prototype_of_another_partner_is_not_shown(tenants: Tenants, box: BoxRow) -> None:
    product = await new_prototype(tenants, "a1", nb_orders=42)
    row = await new_offer(tenants, box, "a1", ACCEPTED, product_id=product.id)
    document = f"{{ offer(id: {row.id}) {{ productId product {{ id nbOrders }} partner {{ id }} box {{ id }} }} }}"
    for who in ("a1", "a2", "market a", "master"):
        told = (await tenants.graphql(who, document))["data"]["offer"]
        assert (told["productId"], told["box"]["id"]) == (product.id, box.id)
        assert told["partner"]["id"] == tenants.partners["a1"].id
        assert told["product"] == (None if who == "a2" else {"id": product.id, "nbOrders": 42})


async def test_offers_are_filtered_and_ordered(tenants: Tenants, box: BoxRow) -> None:
    product, other = await new_prototype(tenants, "a1"), await new_box(tenants)
    rows = [
        await new_offer(tenants, box, "a1", ranking=3, product_id=product.id),
        await new_offer(tenants, box, "a2", ACCEPTED, ranking=1, name=Text(en="Other")),
        await new_offer(tenants, other, "a1", SUBMITTED, ranking=2, is_active=False),
    ]
    ids = [row.id for row in rows]
    uuid = tenants.partners["a2"].uuid
    for arguments, wanted in {
        "": [2, 1, 0],
        ", orderBy: OLDEST": [0, 1, 2],
        ", orderBy: RANKING": [1, 2, 0],
        f", filter: {{boxId: {box.id}}}": [1, 0],
        f", filter: {{productId: {product.id}}}": [0],
        ", filter: {statuses: [DRAFT, SUBMITTED]}": [2, 0],
        ", filter: {statuses: [ACCEPTED]}": [1],
        ", filter: {isActive: false}": [2],
        f', filter: {{partnerUuid: "{uuid}"}}': [1],
        f', filter: {{marketplaceUuid: "{tenants.marketplaces["a"].uuid}"}}': [2, 1, 0],
        f", filter: {{ids: [{ids[0]}]}}": [0],
    }.items():
        for who in ("market a", "master"):
            assert await listed(tenants, who, arguments) == [ids[at] for at in wanted], arguments
