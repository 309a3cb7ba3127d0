"""What is guarded and what is worked out: shown to whom, in how many statements, and refused at the start when unfinished."""

from typing import Any

import orjson
import pytest
import strawberry

from resolvers.core.caller import Caller, Role
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from rest_compat.shapes.keys import ShapeError
from rest_compat.shapes.shape import ResourceShape
from schema.core.permission import Permission
from schema.core.resource import SchemaModel, computed
from schema.graph.schema import build_schema
from schema.graph.server import GraphQLRequest, GraphQLServer
from store.database.db import Database
from tests.example_cards import Card, Issuer, Mood, context, services
from tests.schema.graph.example_schema import schema

GRAPHS = [GraphQLServer(schema), GraphQLServer(schema, compiled=False)]
ISSUERS = "cards(first: 50) { nodes { issuer { id vault { note } mood { word } moods { word } } } }"


async def ask(graph: GraphQLServer, asking: Context, query: str) -> Any:
    """The answer as it would be sent, and read again."""
    return orjson.loads(orjson.dumps((await graph.execute(GraphQLRequest(query, {}), asking)).body))


def issuers(answer: Any) -> dict[int, Any]:
    """The issuers of an answer, by id."""
    return {node["issuer"].pop("id"): node["issuer"] for node in answer["data"]["cards"]["nodes"]}


@pytest.mark.parametrize("graph", GRAPHS, ids=["compiled", "plain"])
async def test_what_is_guarded_is_the_owners(db: Database, graph: GraphQLServer) -> None:
    seen = issuers(await ask(graph, context(db, 1, *Permission), f"{{ {ISSUERS} }}"))
    assert {id: found["vault"] for id, found in seen.items()} == {
        1: {"note": "hidden"}, 2: None, 3: {"note": "hidden"}, 4: None, 5: {"note": "hidden"}
    }  # fmt: skip
    calm = {"word": "calm"}
    assert {id: found["moods"] for id, found in seen.items()} == {
        1: [{"word": "1"}, calm], 2: None, 3: [], 4: None, 5: None
    }  # fmt: skip
    assert {id: found["mood"] for id, found in seen.items()} == {
        id: {"word": f"i{id - 1} is fine"} if id != 4 else None for id in range(1, 6)
    }


@pytest.mark.parametrize("graph", GRAPHS, ids=["compiled", "plain"])
@pytest.mark.parametrize(("role", "sees"), [(Role.MARKETPLACE, True), (Role.MASTER, True), (Role.PARTNER, False)])
async def test_a_marketplace_and_the_master_see_what_is_theirs(
    db: Database, graph: GraphQLServer, role: Role, sees: bool
) -> None:
    asking = context(db, 1, *Permission)
    at = asking.required_caller.marketplace_id if role is Role.MARKETPLACE else None
    own = 1 if role is Role.PARTNER else None
    asking = Context(services(db), Caller(role, frozenset(Permission), partner_id=own, marketplace_id=at))
    query = "{ recentCards(most: 3) { issuer { id vault { note } } } }"
    answer = await ask(graph, asking, query)
    assert [card["issuer"]["vault"] is not None for card in answer["data"]["recentCards"]] == [True, sees, True]


@pytest.mark.parametrize("graph", GRAPHS, ids=["compiled", "plain"])
@pytest.mark.parametrize("asked", ["vault { note }", "moods { word }"])
async def test_who_lacks_the_permission_is_told_at_the_field(db: Database, graph: GraphQLServer, asked: str) -> None:
    asking = context(db, 1, Permission.VIEW_GIFT_CARD)
    answer = await ask(graph, asking, f"{{ card(id: 1) {{ code issuer {{ slug {asked} }} }} }}")
    (error,) = answer["errors"]
    name = asked.split(maxsplit=1)[0]
    assert error["path"] == ["card", "issuer", name]
    assert error["extensions"]["code"] == "FORBIDDEN"
    assert answer["data"]["card"] == {"code": "100%_0", "issuer": {"slug": "i0", name: None}}


@pytest.mark.parametrize("graph", GRAPHS, ids=["compiled", "plain"])
async def test_a_level_is_worked_out_at_once(db: Database, statements: list[str], graph: GraphQLServer) -> None:
    counts = []
    for size in (1, 50):
        statements.clear()
        query = ISSUERS.replace("first: 50", f"first: {size}, orderBy: OLDEST")
        assert "errors" not in await ask(graph, context(db, 1, *Permission), f"{{ {query} }}")
        counts.append(len(statements))
    assert counts[0] == counts[1]


async def test_what_is_guarded_costs_no_statement(db: Database, statements: list[str]) -> None:
    await ask(GRAPHS[0], context(db, 1, *Permission), "{ cards { nodes { issuer { slug vault { note } } } } }")
    assert len(statements) == 1, statements


async def test_what_is_worked_out_is_counted(db: Database) -> None:
    plain = await ask(GRAPHS[0], context(db, 1, *Permission), "{ card(id: 1) { issuer { slug } } }")
    more = await ask(GRAPHS[0], context(db, 1, *Permission), "{ card(id: 1) { issuer { mood { word } } } }")
    requested = [answer["extensions"]["cost"]["requested"] for answer in (plain, more)]
    assert requested[1] == requested[0] + 1


# ---- at the start


@strawberry.pydantic.type(description="A thing.")
class Thing(SchemaModel):
    """A thing."""

    id: int
    mood = computed(Mood, "How it is.")


def test_a_field_that_nothing_works_out_stops_the_start() -> None:
    @strawberry.type
    class Query:
        @strawberry.field
        def thing(self) -> Thing | None:
            """A thing."""
            return None

    with pytest.raises(LookupError, match=r"Thing\.mood: no function computes it"):
        build_schema(Query)


def test_only_what_is_declared_so_is_worked_out_and_once() -> None:
    with pytest.raises(TypeError, match=r"Issuer\.slug is no computed field"):
        computes(Issuer, "slug")
    with pytest.raises(TypeError, match=r"Issuer\.nothing is no computed field"):
        computes(Issuer, "nothing")
    with pytest.raises(ValueError, match=r"Issuer\.mood has two functions"):
        computes(Issuer, "mood")


def test_rest_shows_nothing_guarded_through_a_relation() -> None:
    assert ResourceShape("Issuer", Issuer, {"note": "vault.note"}).guarded == ["note"]
    with pytest.raises(ShapeError, match=r"reads note through a relation"):
        ResourceShape("Card", Card, {"note": "issuer.vault.note"})
