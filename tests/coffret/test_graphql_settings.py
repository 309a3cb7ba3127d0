"""The settings of GraphQL: its bounds, and the documents that it trusts."""

import json
import pathlib

import httpx
import pytest

from coffret.app import build_graph, create_app
from coffret.command_error import CommandError
from coffret.commands import doctor
from coffret.commands.environment import read_settings
from coffret.commands.findings import CheckState
from schema.root import sdl
from store.core.settings import Settings
from tests.coffret.conftest import PRODUCTION, running
from tests.servers.production import SERVICE_HOST

ME = "{ me { permissions } }"
SCHEMA = ("/docs/graphql/", "/docs/graphql", "/graphql/schema.graphql")
KINDS = "{ __schema { queryType { name } } }"


def documents(folder: pathlib.Path, **written: str) -> pathlib.Path:
    path = folder / "documents.json"
    path.write_text(json.dumps(written))
    return path


async def code(client: httpx.AsyncClient, **body: str) -> str | None:
    answer = (await client.post("/graphql/", json=body)).json()
    return answer["errors"][0]["extensions"]["code"] if "errors" in answer else None


async def test_bounds_are_settings(app_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"DEPTH": "3", "ALIASES": "1", "TOKENS": "40", "COST": "60"}.items():
        monkeypatch.setenv(f"COFFRET_GRAPHQL_{name}", value)
    settings = Settings(database_url=app_settings.database_url, data_dir=app_settings.data_dir)
    async with running(settings) as (_, client):
        assert await code(client, query="{ products { nodes { name { en } } } }") == "DEPTH_LIMIT_EXCEEDED"
        assert await code(client, query="{ a: __typename b: __typename }") == "ALIASES_LIMIT_EXCEEDED"
        assert await code(client, query="{" + 40 * " __typename" + "}") == "TOKENS_LIMIT_EXCEEDED"
        assert await code(client, query="{ products(first: 61) { totalCount nodes { id } } }") == "COST_LIMIT_EXCEEDED"
        told = (await client.post("/graphql/", json={"query": ME})).json()
        assert told["extensions"]["cost"] == {"requested": 1, "limit": 60}


async def test_only_trusted_documents(app_settings: Settings, production: Settings, tmp_path: pathlib.Path) -> None:
    trusting = {"graphql_documents": documents(tmp_path, me=ME), "graphql_trusted_only": True}
    open_wide = {"introspection": True, "graphiql": True}
    async with running(production.model_copy(update=trusting | open_wide)) as (_, client):
        client.headers["host"] = SERVICE_HOST
        assert await code(client, documentId="me") == "UNAUTHENTICATED"
        assert await code(client, query=ME) == "UNAUTHENTICATED"
        for other in (KINDS, "{ me { user { id } } }"):
            assert await code(client, query=other) == "DOCUMENT_NOT_TRUSTED"
        page = await client.get("/graphql/", headers={"accept": "text/html"})
        assert page.status_code == 406
        assert [(await client.get(path)).status_code for path in SCHEMA] == [404, 404, 404]
        assert "/docs/graphql/" not in (await client.get("/docs/")).text
    async with running(app_settings.model_copy(update=trusting)) as (_, client):
        assert await code(client, query=KINDS) is None
        assert await code(client, query="{ me { user { id } } }") == "DOCUMENT_NOT_TRUSTED"
        assert (await client.get("/graphql/", headers={"accept": "text/html"})).status_code == 200


async def test_the_schema_is_shown_where_introspection_is_off(production: Settings) -> None:
    async with running(production) as (_, client):
        client.headers["host"] = SERVICE_HOST
        assert await code(client, query=KINDS) == "INTROSPECTION_DISABLED"
        assert [(await client.get(path)).status_code for path in SCHEMA] == [200, 200, 200]
        assert (await client.get("/graphql/schema.graphql")).text == sdl()
        assert 'href="/docs/graphql/"' in (await client.get("/docs/")).text
        assert (await client.head("/graphql/schema.graphql")).status_code == 200
        refused = await client.get("/docs/graphql/", headers={"host": "shop.example"})
        assert refused.status_code == 400


def test_documents_that_cannot_be_answered_are_named(tmp_path: pathlib.Path) -> None:
    settings = Settings(graphql_documents=documents(tmp_path, me=ME, old="{ gone }"))
    found = doctor.check_documents(settings)
    assert found.state is CheckState.FAILED
    assert "1 of 2" in found.message
    assert "old: Cannot query field 'gone'" in found.message
    assert build_graph(settings).documents.broken_trusted.keys() == {"old"}
    create_app(settings)
    good = doctor.check_documents(Settings(graphql_documents=documents(tmp_path, me=ME)))
    assert good.state is CheckState.OK
    assert doctor.check_documents(Settings()).state is CheckState.OK


def test_a_file_that_cannot_be_used_stops_the_start(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(graphql_documents=documents(tmp_path))
    assert doctor.check_documents(settings).state is CheckState.FAILED
    with pytest.raises(CommandError, match="COFFRET_GRAPHQL_DOCUMENTS"):
        create_app(settings)
    for name, value in PRODUCTION.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ENVIRONMENT", "development")
    monkeypatch.setenv("COFFRET_GRAPHQL_TRUSTED_ONLY", "true")
    with pytest.raises(CommandError, match="set COFFRET_GRAPHQL_DOCUMENTS"):
        read_settings()
    monkeypatch.setenv("COFFRET_GRAPHQL_DOCUMENTS", str(tmp_path / "none.json"))
    with pytest.raises(CommandError, match=r"COFFRET_GRAPHQL_DOCUMENTS: .*none\.json is no file"):
        read_settings()
