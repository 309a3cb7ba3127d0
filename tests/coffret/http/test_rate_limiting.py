"""Limits as clients of the whole application meet them: which come first, what the answers tell, what is left alone."""

import asyncio
import datetime as dt
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from structlog.testing import capture_logs

from coffret.services import Container
from resolvers.account.tokens import issue_token
from schema.account.user import UserRole
from store.account.credentials import hash_password
from store.account.users import UserRow
from store.core.clock import clock
from store.core.settings import Settings
from tests.coffret.conftest import running
from tests.fixtures.shop import open_shop
from tests.servers.redis_servers import RedisServer

CART = "/api/v2/ecommerce/cart/"
PASSWORD, WRONG = "correct horse battery staple", "wrong"
NAME = "limits@shop.localhost"
ITEMS = {"items": [{"product_id": 1, "quantity": 1}]}
RATE_LIMIT = re.compile(r'"(token|address)";r=(\d+);t=(\d+)')


class Api:
    """The application, and a user who may log in."""

    def __init__(self, client: httpx.AsyncClient, container: Container, token: str) -> None:
        self.client = client
        self.container = container
        self.token = {"Authorization": f"Token {token}"}

    async def log_in(self, password: str = WRONG, name: str = NAME) -> httpx.Response:
        """Log in over REST."""
        return await self.client.post("/api-token-auth/", json={"username": name, "password": password})

    async def graphql(self, query: str, **headers: str) -> httpx.Response:
        """Ask over GraphQL."""
        return await self.client.post("/graphql/", json={"query": query}, headers=headers)

    async def tokens(self) -> int:
        """How many there are."""
        async with self.container.services.db.engine.connect() as connection:
            return int((await connection.exec_driver_sql("SELECT count(*) FROM token")).scalar_one())


async def open_api(app: Any, client: httpx.AsyncClient) -> Api:
    """A user in an application's database."""
    container = app.state.container
    shop = await open_shop(container.services, container.sandbox)
    async with container.services.db.sessions() as db, db.begin():
        user = UserRow(
            username=NAME,
            role=UserRole.PARTNER,
            partner_id=shop.partner.id,
            password_hash=await hash_password(PASSWORD),
        )
        db.add(user)
        await db.flush()
        return Api(client, container, await issue_token(db, user, "limits", clock))


@pytest.fixture(autouse=True)
def window_begins() -> None:
    """No test runs into the next minute."""
    clock.advance(dt.timedelta(seconds=60 - clock.timestamp() % 60))


@pytest.fixture
async def api(app_settings: Settings) -> AsyncIterator[Api]:
    """The application with its own limits."""
    async with running(app_settings) as (app, client):
        yield await open_api(app, client)


@pytest.fixture
async def tight(app_settings: Settings) -> AsyncIterator[Api]:
    """One that takes three requests of a token or an address in a minute."""
    app_settings.rate_limit = app_settings.rate_limit_anonymous = "3/minute"
    async with running(app_settings) as (app, client):
        yield await open_api(app, client)


def standing(answer: httpx.Response) -> tuple[str, int]:
    """Whom an answer's `RateLimit` is about, and what remains."""
    found = RATE_LIMIT.fullmatch(answer.headers["ratelimit"])
    assert found is not None
    assert 0 < int(found[3]) <= 60
    return found[1], int(found[2])


# ---- the general limit


async def test_each_answer_tells_what_remains(api: Api) -> None:
    answers = [await api.client.get("/api/permissions/", headers=api.token) for _ in range(2)]
    answers.append(await api.graphql("{ me { permissions } }", **api.token))
    assert [standing(answer) for answer in answers] == [("token", 5999), ("token", 5998), ("token", 5997)]
    assert {answer.headers["ratelimit-policy"] for answer in answers} == {'"token";q=6000;w=60'}
    nobody = await api.graphql("{ __typename }")
    assert (standing(nobody), nobody.headers["ratelimit-policy"]) == (("address", 599), '"address";q=600;w=60')


@pytest.mark.parametrize("ask", ["rest", "graphql"])
async def test_beyond_the_limit_everything_is_429(tight: Api, ask: str) -> None:
    async def send_request() -> httpx.Response:
        if ask == "graphql":
            return await tight.graphql("{ me { permissions } }", **tight.token)
        return await tight.client.post(CART, json=ITEMS, headers=tight.token)

    assert [(await send_request()).status_code // 100 for _ in range(3)] == [2] * 3
    answer = await send_request()
    assert (answer.status_code, standing(answer)) == (429, ("token", 0))
    seconds = int(answer.headers["retry-after"])
    if ask == "rest":
        assert answer.json() == {"detail": f"Too many attempts. Try again in {seconds} seconds."}
    else:
        (error,) = answer.json()["errors"]
        assert error["extensions"] == {"code": "TOO_MANY_REQUESTS", "retryAfter": seconds}
    clock.advance(dt.timedelta(seconds=seconds))
    assert (await send_request()).status_code // 100 == 2


async def test_the_token_comes_first_then_the_rate_then_the_size(tight: Api) -> None:
    large = b" " * (2 * 1024 * 1024)
    for path in (CART, "/graphql/"):
        headers = {**tight.token, "content-type": "application/json"}
        assert (await tight.client.post(path, content=large, headers=headers)).status_code == 413
    await tight.client.get("/api/permissions/", headers=tight.token)
    for path in (CART, "/graphql/"):
        headers = {"content-type": "application/json"}
        bad = await tight.client.post(path, content=large, headers={**headers, "Authorization": "Token nonsense"})
        assert (bad.status_code, "ratelimit" in bad.headers) == (401, False)
        assert (await tight.client.post(path, content=large, headers={**headers, **tight.token})).status_code == 429
    assert (await tight.client.delete(CART, headers=tight.token)).status_code == 405
    assert (await tight.client.get("/api/nothing/", headers=tight.token)).status_code == 404


async def test_a_refused_request_changes_nothing(tight: Api) -> None:
    for _ in range(3):
        await tight.client.get("/api/permissions/", headers=tight.token)
    query = "mutation { revokeToken(input: {}) { token { id } userErrors { message } } }"
    assert (await tight.graphql(query, **tight.token)).status_code == 429
    clock.advance(dt.timedelta(minutes=1))
    assert (await tight.client.get("/api/permissions/", headers=tight.token)).status_code == 200


async def test_pages_files_and_probes_are_not_counted(tight: Api) -> None:
    for _ in range(5):
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs/"):
            answer = await tight.client.get(path)
            assert (answer.status_code, "ratelimit" in answer.headers) == (200, False), path
    page = {"host": "shop.localhost", "accept": "text/html"}
    assert {(await tight.client.get("/ecommerce/shop/customization/", headers=page)).status_code for _ in range(5)} == {
        404
    }
    assert (await tight.graphql("{ __typename }")).status_code == 200


async def test_a_busy_honest_shop_is_not_in_anybodys_way(api: Api) -> None:
    """A thousand carts in a burst, and each looked at."""

    async def handed_over() -> tuple[int, int]:
        made = await api.client.post(CART, json=ITEMS, headers=api.token)
        read = await api.client.get(f"{CART}{made.json()['id']}/", headers=api.token)
        return made.status_code, read.status_code

    ends = [await asyncio.gather(*(handed_over() for _ in range(50))) for _ in range(20)]
    assert {end for some in ends for end in some} == {(201, 200)}


# ---- logging in


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Passwords are checked in no time; answers which were."""
    checked: list[str] = []

    async def matches(_password_hash: str | None, password: str) -> bool:
        checked.append(password)
        await asyncio.sleep(0)
        return password == PASSWORD

    monkeypatch.setattr("resolvers.account.tokens.verify_password", matches)
    return checked


async def test_held_log_ins_are_429_before_the_password_is_looked_at(api: Api, quick: list[str]) -> None:
    with capture_logs() as logs:
        assert [(await api.log_in()).status_code for _ in range(5)] == [400] * 5
        before = await api.tokens()
        refused = await api.log_in(PASSWORD)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert refused.json() == {"detail": "Too many attempts. Try again in 1 seconds."}
    assert await api.tokens() == before
    assert quick == [WRONG] * 5
    (line,) = [line for line in logs if line["event"] == "a log-in is blocked after too many attempts"]
    assert line["user"] == "l…"
    assert NAME not in str(logs)
    clock.advance(dt.timedelta(seconds=1))
    assert (await api.log_in(PASSWORD)).status_code == 200
    assert (await api.log_in()).status_code == 400


async def test_names_that_nobody_has_are_held_alike(api: Api, quick: list[str]) -> None:
    async def tries(name: str) -> list[tuple[int, bytes]]:
        answers = [await api.log_in(name=name) for _ in range(7)]
        return [(answer.status_code, answer.content) for answer in answers]

    assert await tries(NAME) == await tries("nobody@shop.localhost")
    spelt = [(await api.log_in(name=name)).status_code for name in (NAME.upper(), f"  {NAME}")]
    assert spelt == [429, 429]


async def test_each_alias_is_an_attempt(api: Api, quick: list[str]) -> None:
    async def tried(*which: str) -> Any:
        aliases = (f"a{n}: obtainToken(input: ${name}) {{ userErrors {{ code }} }}" for n, name in enumerate(which))
        query = f"mutation ($bad: ObtainTokenInput!, $good: ObtainTokenInput!) {{ {' '.join(aliases)} }}"
        inputs = {"bad": {"username": NAME, "password": WRONG}, "good": {"username": NAME, "password": PASSWORD}}
        return (await api.client.post("/graphql/", json={"query": query, "variables": inputs})).json()

    before = await api.tokens()
    assert "errors" not in await tried("bad", "good", "bad", "bad")
    answer = await tried(*["bad"] * 99, "good")
    assert quick == [WRONG, PASSWORD, *[WRONG] * 5]
    assert answer["data"] is None
    assert [error["extensions"] for error in answer["errors"]] == [{"code": "TOO_MANY_REQUESTS", "retryAfter": 1}]
    assert await api.tokens() == before + 1
    assert (await api.log_in(PASSWORD)).status_code == 429


async def test_of_fifty_guesses_at_once_five_are_looked_at(api: Api, quick: list[str]) -> None:
    answers = await asyncio.gather(*(api.log_in(f"guess {n}") for n in range(50)))
    assert sorted(answer.status_code for answer in answers) == [400] * 5 + [429] * 45
    assert len(quick) == 5


@pytest.mark.redis
async def test_two_processes_share_all_of_it(
    app_settings: Settings, redis_server: RedisServer, quick: list[str]
) -> None:
    app_settings.redis_url = redis_server.url
    app_settings.rate_limit = "10/minute"
    async with running(app_settings) as (app, one), running(app_settings) as (_, other):
        api = await open_api(app, one)
        statuses = [
            (await client.get("/api/permissions/", headers=api.token)).status_code
            for _ in range(6)
            for client in (one, other)
        ]
        assert statuses == [200] * 10 + [429] * 2
        body = {"username": NAME, "password": "wrong"}
        tries = [await client.post("/api-token-auth/", json=body) for _ in range(3) for client in (one, other)]
        assert [answer.status_code for answer in tries] == [400] * 5 + [429]


@pytest.mark.redis
async def test_without_redis_limits_go_on_and_nothing_breaks(
    app_settings: Settings, own_server: RedisServer, quick: list[str]
) -> None:
    app_settings.redis_url = own_server.url
    app_settings.rate_limit = "10/minute"
    async with running(app_settings) as (app, client):
        api = await open_api(app, client)
        assert (await client.get("/api/permissions/", headers=api.token)).status_code == 200
        own_server.kill()
        statuses = [(await client.get("/api/permissions/", headers=api.token)).status_code for _ in range(11)]
        assert statuses == [200] * 9 + [429] * 2
        assert [(await api.log_in()).status_code for _ in range(6)] == [400] * 5 + [429]
        clock.advance(dt.timedelta(seconds=1))
        assert (await api.log_in(PASSWORD)).status_code == 200


async def test_refusals_are_counted_by_kind(tight: Api) -> None:
    def token_refusals(text: str) -> float:
        found = re.search(r'^coffret_refusals_total\{kind="token"\} (\S+)$', text, re.MULTILINE)
        return float(found[1]) if found else 0

    before = token_refusals((await tight.client.get("/metrics")).text)
    for _ in range(5):
        await tight.client.get("/api/permissions/", headers=tight.token)
    assert token_refusals((await tight.client.get("/metrics")).text) == before + 2


# ---- pages of other origins

PAGE = "https://app.example"


def preflight(origin: str = PAGE) -> dict[str, str]:
    """What a browser sends before a page's request."""
    return {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    }


async def test_without_a_setting_no_page_may_call(api: Api) -> None:
    for path in (CART, "/graphql/"):
        answer = await api.client.options(path, headers=preflight())
        assert answer.status_code >= 400
        assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_pages_of_a_named_origin_may_call_and_read_the_headers(app_settings: Settings) -> None:
    app_settings.cors_origins = [PAGE]
    app_settings.rate_limit = app_settings.rate_limit_anonymous = "3/minute"
    async with running(app_settings) as (app, client):
        api = await open_api(app, client)
        for path in (CART, "/graphql/", "/graphql") * 3:
            allowed = await client.options(path, headers=preflight())
            assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, PAGE)
            assert "access-control-allow-credentials" not in allowed.headers
            assert "ratelimit" not in allowed.headers
            refused = await client.options(path, headers=preflight("https://evil.example"))
            assert (refused.status_code, "access-control-allow-origin" in refused.headers) == (400, False)
        answers = [await client.post(CART, json=ITEMS, headers={**api.token, "Origin": PAGE}) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [201] * 3 + [429]
        for answer in answers:
            assert answer.headers["access-control-allow-origin"] == PAGE
            read = {name.strip() for name in answer.headers["access-control-expose-headers"].split(",")}
            assert {"X-Request-Id", "RateLimit", "Retry-After", "Idempotent-Replayed", "Link"} <= read
            assert "Origin" in answer.headers["vary"]
        for path in ("/healthz", "/api-token-auth/"):
            answer = await client.get(path, headers={"Origin": PAGE})
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origins", ["https://app.example, http://localhost:3000", "*", "http://[::1]:3000", ""])
def test_origins_are_written_as_browsers_send_them(origins: str) -> None:
    assert Settings.model_validate({"cors_origins": origins}).cors_origins == [
        part.strip() for part in origins.split(",") if part.strip()
    ]


@pytest.mark.parametrize(
    "origins",
    [
        "*, https://app.example",
        "app.example",
        "https://app.example/",
        "https://*.example",
        "https://user@a.example",
        "null",
    ],
)
def test_what_is_no_origin_stops_the_start(origins: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"cors_origins": origins})
