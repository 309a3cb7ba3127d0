"""A sandbox mounted as the program mounts it, with a clock of its own, and the few calls that every test makes."""

import asyncio
import base64
import pathlib
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from coffret.sandbox import SandboxSettings, close, sandbox_app
from store.core.clock import Clock

SHOP = "https://shop.example/back?order=7"
HOOK = "https://shop.example/hook/secret"
SUCCESS, CHALLENGE = "4970107111111119", "4970105181818183"
Json = dict[str, Any]


class MangopayApi:
    """One sandbox, a client of it, and the address that its notifications reach."""

    def __init__(self, app: Starlette, clock: Clock, http: httpx.AsyncClient, received: list[str]) -> None:
        self.app, self.clock, self.http, self.received = app, clock, http, received
        self.token = ""
        self.hook_answers: list[int | Exception] = []
        """What the hook's address answers to the next notifications; 200 when there is none."""
        self.during_hook: Any = None
        """An async function that the hook's address runs before it answers."""

    async def deliver(self, url: str) -> int:
        """The hook's address."""
        self.received.append(url)
        if self.during_hook:
            await self.during_hook(url)
        answer = self.hook_answers.pop(0) if self.hook_answers else 200
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def notices(self) -> list[tuple[str, str]]:
        """Event type and resource id of every notification that was sent, in order."""
        await asyncio.sleep(0)
        while self.app.state.sandbox._tasks:
            await asyncio.gather(*self.app.state.sandbox._tasks)
        queries = [parse_qs(urlsplit(url).query) for url in self.received]
        return [(query["EventType"][0], query["RessourceId"][0]) for query in queries]

    async def log_in(self) -> None:
        """Take a token."""
        basic = base64.b64encode(b"sandbox:sandbox").decode()
        answer = await self.http.post(
            "/v2.01/oauth/token", data={"grant_type": "client_credentials"}, headers={"Authorization": f"Basic {basic}"}
        )
        self.token = answer.json()["access_token"]

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        version: str = "v2.01",
        **more: Any,
    ) -> httpx.Response:
        """A wire call; `path` is relative to the client's root."""
        if not self.token:
            await self.log_in()
        headers = {"Authorization": f"Bearer {self.token}"} | ({"Idempotency-Key": key} if key else {})
        return await self.http.request(method, f"/{version}/sandbox{path}", json=body, headers=headers, **more)

    async def create(self, path: str, body: Any, *, key: str | None = None) -> Json:
        """A POST that works."""
        answer = await self.call("POST", path, body, key=key)
        assert answer.status_code == 200, answer.text
        result: Json = answer.json()
        return result

    async def read(self, path: str) -> Any:
        """A GET that works."""
        answer = await self.call("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def control(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the control plane that works."""
        answer = await self.http.request(method, f"/_sb{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def advance(self, seconds: float) -> None:
        """Let time pass."""
        await self.control("POST", "/clock", {"advance": seconds})

    async def later(self, days: float) -> None:
        """Let days pass, and take another token."""
        await self.advance(days * 86400)
        await self.log_in()

    async def seed(self) -> None:
        """The partner that is paid."""
        await self.control("POST", "/seed", {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil"})

    async def payer(self) -> str:
        """Someone who pays."""
        id: str = (await self.create("/sca/users/natural", PAYER))["Id"]
        return id

    async def payin(self, *, key: str | None = None, **changes: Any) -> Json:
        """A web pay-in of 25.00 EUR with a fee of 2.50, to be paid on its page."""
        await self.seed()
        return await self.create("/payins/card/web", {**payin_body(await self.payer()), **changes}, key=key)

    async def paid(self, card: str = SUCCESS, **changes: Any) -> Json:
        """A pay-in that was paid."""
        payin = await self.payin(**changes)
        result: Json = await self.control("POST", f"/payins/{payin['Id']}/pay", {"card": card})
        return result

    async def submit(self, payin: Json, card: str = SUCCESS, **typed: str) -> httpx.Response:
        """Send the card form of a pay-in's page."""
        form = {"number": card, "expiry": f"12/{(self.clock.now().year + 2) % 100}", "cvc": "123"} | typed
        return await self.http.post(page_path(payin), data=form)

    async def hook(self, *event_types: str) -> None:
        """Register hooks."""
        for event_type in event_types:
            await self.create("/hooks", {"EventType": event_type, "Url": HOOK})


PAYER: Mapping[str, Any] = {
    "FirstName": "Ada",
    "LastName": "Payer",
    "Email": "ada@example.com",
    "UserCategory": "PAYER",
    "TermsAndConditionsAccepted": False,
}


def payin_body(author: str) -> Json:
    """The body of a web pay-in."""
    return {
        "AuthorId": author,
        "CreditedWalletId": "wallet",
        "DebitedFunds": {"Currency": "EUR", "Amount": 2500},
        "Fees": {"Currency": "EUR", "Amount": 250},
        "ReturnURL": SHOP,
        "CardType": "CB_VISA_MASTERCARD",
        "Culture": "EN",
        "Tag": "order 7",
    }


def page_path(payin: Json, step: str = "") -> str:
    """Where a pay-in's hosted page is, for the client."""
    match = re.fullmatch(r"http://sandbox\.test/_provider(/pay/\w+)", payin["RedirectURL"])
    assert match, payin["RedirectURL"]
    return match[1] + step


@asynccontextmanager
async def running(
    path: pathlib.Path | None = None, *, clock: Clock | None = None, **more: Any
) -> AsyncIterator[MangopayApi]:
    """A sandbox that runs until the block ends, which also proves that all money is accounted for."""
    clock = clock or Clock()
    received: list[str] = []
    opened: list[MangopayApi] = []

    async def deliver(url: str) -> int:
        return await opened[0].deliver(url)

    settings = SandboxSettings(
        public_url="http://sandbox.test/_provider", path=path, clock=clock, deliver=deliver, **more
    )
    app = sandbox_app(settings)
    transport = httpx.ASGITransport(Starlette(routes=[Mount("/_provider", app)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox.test/_provider") as http:
        opened.append(MangopayApi(app, clock, http, received))
        try:
            yield opened[0]
            check = await opened[0].control("GET", "/ledger/check")
            assert check["balanced"], check
        finally:
            await close(app)
