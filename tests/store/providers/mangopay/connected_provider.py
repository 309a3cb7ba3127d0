"""The adapter, connected to a sandbox in this process, and what signs partners up through the two."""

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from store.providers.accounts import Account, Content
from store.providers.actions import UserAction
from store.providers.base import Subject
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import Mangopay
from tests.coffret.sandbox.mangopay_api import MangopayApi
from tests.store.providers.mangopay.payees.people import BACK, REQUEST

HOOKS = "https://shop.example/hooks/mangopay"
ROOT = "http://sandbox.test/_provider"


def adapter_of(api: MangopayApi, **more: Any) -> Mangopay:
    """The adapter, connected to a sandbox in this process."""

    async def no_sleep(_: float) -> None: ...

    settings = {"base_url": ROOT, "client_id": "sandbox", "api_key": "sandbox", "hook_secret": "s3cret"} | more
    transport = httpx.ASGITransport(Starlette(routes=[Mount("/_provider", api.app)]))
    return Mangopay(**settings, transport=transport, clock=api.clock, sleep=no_sleep)


IDENTITY_BACK = "https://shop.example/k/abcdefgh"
TEN_MINUTES = dt.timedelta(minutes=10)


def file(size: int = 2_000, piece: int = 700) -> Content:
    """A PDF in pieces."""
    whole = b"%PDF-1.4\n" + b"0" * (size - 9)

    async def read() -> AsyncIterator[bytes]:
        for start in range(0, size, piece):
            yield whole[start : start + piece]

    return read


@dataclass
class ConnectedProvider:
    """A sandbox, and the adapter through which partners are signed up there."""

    api: MangopayApi
    adapter: Mangopay

    def once(self) -> dict[str, Any]:
        """A fresh key, stored now."""
        return {"key": new_idempotency_key(), "sent_at": self.api.clock.now()}

    async def account(self, **changes: Any) -> Account:
        """A new account, whose representative has still to authenticate."""
        return await self.adapter.create_account(replace(REQUEST, **changes), return_url=BACK, **self.once())

    async def active(self, **changes: Any) -> str:
        """The id of an account whose representative has authenticated."""
        made = await self.account(**changes)
        await self.authenticate(made.action)
        return made.id

    async def authenticate(self, action: UserAction | None, outcome: str = "succeed") -> None:
        """Do what the person does on the page."""
        assert action
        query = parse_qs(urlsplit(action.url).query)
        assert query["returnUrl"] == [BACK]
        await self.api.control("POST", f"/sca/{query['token'][0]}", {"outcome": outcome})

    async def events(self) -> set[tuple[str, Subject, str]]:
        """Every event there ever was."""
        since = self.api.clock.now() - dt.timedelta(days=30)
        return {(hint.type, hint.subject, hint.resource_id) async for hint in self.adapter.events_since(since)}
