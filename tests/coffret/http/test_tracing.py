"""Traces: one of a request and of the job it wants, without anything that must stay secret."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from coffret.commands import doctor
from coffret.commands.findings import CheckState
from coffret.services import Container, hook_secret
from schema.checkout.checkout import ProductChoice
from store.core.settings import Settings
from store.core.telemetry import tracing
from store.core.telemetry.opentelemetry import Telemetry
from store.database.db import Database
from tests.coffret.conftest import running
from tests.coffret.http.test_metrics import token_of
from tests.fixtures.shop import Shop, open_shop
from tests.resolvers.job.workers import working

CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACE = int(CALLER[3:35], 16)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What is traced, from now on, told at once."""
    monkeypatch.setattr("store.core.telemetry.opentelemetry.BatchSpanProcessor", SimpleSpanProcessor)
    exporter = InMemorySpanExporter()
    tracing.start_tracing_with(Telemetry(exporter, "coffret"))
    yield exporter
    tracing.stop_tracing()


def names(spans: Sequence[ReadableSpan]) -> set[str]:
    return {span.name for span in spans}


@dataclass
class Walk:
    """What somebody did under one trace, and what must not be told of it."""

    container: Container
    client: httpx.AsyncClient
    shop: Shop
    headers: Mapping[str, str]
    secrets: list[str] = field(default_factory=list)

    async def cart(self, product_id: int) -> None:
        """Hand a cart over, over REST, and read it over GraphQL."""
        body = {"items": [{"product_id": product_id, "quantity": 1}], "return_url": "https://shop.example/s3cret-path"}
        made = await self.client.post("/api/v2/ecommerce/cart/", json=body, headers=self.headers)
        cart_id = made.json()["id"]
        query = "query Read($id: UUID!) { ecommerceCart(id: $id) { id } }"
        read = {"query": query, "variables": {"id": cart_id}}
        assert (await self.client.post("/graphql/", json=read, headers=self.headers)).json()["data"]
        self.secrets += [cart_id, "s3cret-path", self.headers["Authorization"][6:]]

    async def payment(self, product_id: int) -> None:
        """Pay, of which the provider notifies."""
        key, seen = await self.shop.ready(ProductChoice(product_id, 1))
        started = await self.shop.start(key, seen)
        await self.shop.pay(started)
        payin, secret = await self.shop.payin_of(started.attempt_id), hook_secret(self.container.services.settings)
        hook = f"/provider/hooks/{secret}?EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId={payin}&Date=1"
        assert (await self.client.get(hook, headers={"traceparent": CALLER})).status_code == 200
        self.secrets += [secret, payin, "ada@example.com", "Lilas", "4970107111111119"]

    async def order(self, spans: InMemorySpanExporter, url: str) -> None:
        """Let a worker make the order, and tell of its job."""
        async with working(self.container.services, url), asyncio.timeout(60):
            while await self.shop.count("shop_order") == 0:
                await asyncio.sleep(0.05)
            while "job provider_hint" not in names(spans.get_finished_spans()):
                await asyncio.sleep(0.05)


async def test_a_trace_leads_from_a_cart_to_its_order_and_shows_nothing_secret(
    app_settings: Settings, database_url: str, spans: InMemorySpanExporter
) -> None:
    async with running(app_settings) as (app, client):
        container = app.state.container
        shop = await open_shop(container.services, container.sandbox)
        walk = Walk(container, client, shop, await token_of(shop) | {"traceparent": CALLER})
        product = await shop.product()
        spans.clear()
        await walk.cart(product.id)
        await walk.payment(product.id)
        await walk.order(spans, database_url)
        finished = [span for span in spans.get_finished_spans() if span.context and span.context.trace_id == TRACE]
    assert {
        "POST /api/v2/ecommerce/cart/",
        "save_ecommerce_cart",
        "POST /graphql",
        "ecommerce_cart",
        "GET /provider/hooks/{secret}",
        "sql",
        "job provider_hint",
        "provider",
    } <= names(finished)
    check_the_job_follows_from_the_notification(finished)
    told = "\n".join(span.to_json() for span in spans.get_finished_spans())
    assert not [secret for secret in walk.secrets if secret in told]


def check_the_job_follows_from_the_notification(finished: Sequence[ReadableSpan]) -> None:
    """The job hangs on the request that wanted it, and each call of the provider says which it is."""
    by_id = {span.context.span_id: span for span in finished if span.context}
    job = next(span for span in finished if span.name == "job provider_hint")
    assert job.kind is SpanKind.CONSUMER
    assert job.parent is not None
    assert by_id[job.parent.span_id].name == "GET /provider/hooks/{secret}"
    call = next(span for span in finished if span.name == "provider" and span.attributes)
    assert call.attributes is not None
    assert str(call.attributes["coffret.provider_call"]).startswith("GET /")


async def test_errors_are_named_and_not_told(client_with_spans: httpx.AsyncClient, spans: InMemorySpanExporter) -> None:
    client = client_with_spans
    await client.get("/api/permissions/", headers={"Authorization": "Token nonsense"})
    await client.post("/graphql/", json={"query": "{ me { permissions } }"})
    await client.get("/api/secret-4970107111111119/")
    await client.get("/media/secret.png")
    finished = spans.get_finished_spans()
    refused = next(span for span in finished if span.name == "me")
    assert dict(refused.attributes or {})["error.type"] == "UNAUTHENTICATED"
    assert refused.status.is_ok is False or not refused.status.description
    assert refused.events == ()
    assert {"GET /api/permissions/", "POST /graphql", "GET {unknown}", "GET /media/{name}"} <= names(finished)
    assert "secret" not in "\n".join(span.to_json() for span in finished)


@pytest.fixture
async def client_with_spans(app_settings: Settings, spans: InMemorySpanExporter) -> "object":
    async with running(app_settings) as (_, client):
        yield client


async def test_a_statement_that_fails_ends_its_span(database_url: str, spans: InMemorySpanExporter) -> None:
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError

    db = Database(database_url)
    with pytest.raises(DBAPIError):
        await db.rows(text("SELECT 1/:zero"), {"zero": 0})
    await db.fetch("SELECT 1")
    await db.aclose()
    failed, good = spans.get_finished_spans()
    assert dict(failed.attributes or {})["db.query.text"] == "SELECT 1/$1"
    assert not failed.status.is_ok
    assert good.name == "sql"


# ---- asked for by the environment


def test_without_being_asked_nothing_of_ours_is_imported() -> None:
    code = "import sys, coffret.app, store.core.telemetry.tracing as t; t.start_tracing('coffret'); print('store.core.telemetry.opentelemetry' in sys.modules, t.current_telemetry())"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert said == "False None\n"


def test_asked_for_without_its_packages_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: object) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setattr(tracing, "PACKAGES", ("opentelemetry.exporter.of_nobody",))
    found = doctor.check_traces(Settings())
    assert found.state is CheckState.WARNING
    assert "coffret[tracing]" in found.remedy
    tracing.start_tracing("coffret")
    assert tracing.current_telemetry() is None
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert doctor.check_traces(Settings()).state is CheckState.OK


def test_asked_for_with_its_packages_it_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setattr(tracing, "PACKAGES", ("opentelemetry.sdk",))
    assert doctor.check_traces(Settings()).state is CheckState.OK


async def test_without_tracing_there_are_no_spans_and_no_headers() -> None:
    assert tracing.current_telemetry() is None
    assert tracing.propagation_headers() == {}
    with tracing.span("nothing") as span:
        span.set_attribute("a", 1)
        span.update_name("still nothing")
