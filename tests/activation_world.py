"""A partner that cannot be paid yet, and the provider's sandbox: what tests of activation start from."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from sqlalchemy import text
from sqlmodel import select
from starlette.applications import Starlette

from resolvers import activation
from resolvers.context import Caller, Context, Role, Services
from schema.onboarding import ActivatePayments, PaymentActivation
from schema.partner_parts import CompanyType
from schema.permission import NAMED
from store.activations import ActivationRow
from store.clock import clock
from store.providers.sandbox import app as sandbox_app
from store.providers.sandbox import regulatory, sca, users
from store.providers.sandbox.database import Session
from store.tenancy import MarketplaceRow, PartnerRow

COMPLETE: Mapping[str, Any] = {
    "name": "Chez Ada SARL",
    "company_type": CompanyType.BUSINESS,
    "siret_number": "73282932000074",
    "agency_email": "hello@chez-ada.example",
    "legal_representative_first_name": "Ada",
    "legal_representative_last_name": "Martin",
    "legal_representative_email": "ada@chez-ada.example",
    "legal_representative_birthday": dt.date(1980, 4, 5),
    "legal_representative_nationality": "FR",
    "legal_representative_country_of_residence": "FR",
    "hq_address_line_1": "1 rue des Lilas",
    "hq_postal_code": "75011",
    "hq_city": "Paris",
    "hq_country": "France",
    "hq_country_code": "FR",
}
"""All that the provider needs."""
SESSION = "https?://[^/]+/(?:_provider/)?sca"


@dataclass
class Newcomer:
    """A partner whose payments are not active, and the means to activate them."""

    services: Services
    sandbox: Starlette
    partner: PartnerRow

    @property
    def manager(self) -> Context:
        """A request of somebody at its marketplace."""
        caller = Caller(Role.MARKETPLACE, NAMED, marketplace_id=self.partner.marketplace_id)
        return Context(self.services, caller)

    @property
    def representative(self) -> Context:
        """A request of whoever holds the link to its onboarding page."""
        return Context(self.services, Caller.representative(self.partner.id, self.partner.marketplace_id))

    async def activate(self) -> PaymentActivation:
        """Activate the payments, or ask how that stands."""
        return await activation.activate_payments(self.manager, ActivatePayments(partner_uuid=self.partner.uuid))

    async def row(self) -> ActivationRow:
        """The only activation."""
        async with self.services.db.sessions() as db:
            return (await db.exec(select(ActivationRow))).one()

    async def now(self) -> PartnerRow:
        """The partner as it is now."""
        async with self.services.db.sessions() as db:
            return await db.get_one(PartnerRow, self.partner.id)

    async def change(self, **columns: Any) -> None:
        """Change the partner."""
        async with self.services.db.sessions() as db, db.begin():
            partner = await db.get_one(PartnerRow, self.partner.id)
            for name, value in columns.items():
                setattr(partner, name, value)

    async def one(self, statement: str) -> Any:
        """One value out of the database."""
        return (await self.services.db.rows(text(statement)))[0][0]

    async def execute(self, statement: str) -> None:
        """Change something behind the back of the program."""
        async with self.services.db.engine.begin() as connection:
            await connection.execute(text(statement))

    async def events(self) -> list[Any]:
        """What the shop was told of."""
        return [row[0] for row in await self.services.db.rows(text("SELECT type FROM event ORDER BY id"))]

    # ---- the provider

    async def at_provider(self, function: Any, *arguments: Any, **options: Any) -> Any:
        """Do something inside the sandbox."""
        return await sandbox_app.of(self.sandbox).run(lambda session: function(session, *arguments, **options))

    async def authenticate(self, link: str | None, outcome: sca.Outcome = sca.Outcome.SUCCEEDED) -> bool:
        """Go through the provider's session, some seconds after it was opened; whether it was still open."""
        assert link is not None
        assert re.match(SESSION, link), link
        clock.advance(dt.timedelta(seconds=4))
        await sandbox_app.tick(self.sandbox)
        (token,) = parse_qs(urlsplit(link).query)["token"]
        return bool(await self.at_provider(sca.end, token, outcome))

    async def accounts(self) -> list[str]:
        """The owners that the provider knows."""
        return [str(id) for id in await self.at_provider(_owners)]

    async def sessions(self) -> int:
        """How many sessions the provider has opened."""
        return int(await self.at_provider(lambda session: session.row("SELECT count(*) FROM authentication")[0]))

    async def wallets(self) -> int:
        """How many wallets the provider has."""
        return int(await self.at_provider(lambda session: session.row("SELECT count(*) FROM wallet")[0]))

    async def user(self) -> Any:
        """The only owner, as the provider shows it."""
        (id,) = await self.accounts()
        return await self.at_provider(users.present, id)

    async def close_user(self) -> None:
        """The provider closes the account."""
        (id,) = await self.accounts()
        await self.at_provider(users.rewrite, id, {"UserStatus": users.CLOSED})

    async def block(self, *, inflows: bool = False, outflows: bool = False) -> None:
        """The provider blocks the account."""
        (id,) = await self.accounts()
        await self.at_provider(regulatory.block, id, inflows=inflows, outflows=outflows)

    async def fault(self, path: str, **fault: Any) -> None:
        """Let a call of the provider fail."""
        answer = await self.control("POST", "/faults", {"path": path, **fault})
        assert answer.is_success, answer.text

    async def calls(self) -> int:
        """How many requests the provider has had."""
        return sum((await self.control("GET", "/stats")).json()["calls"].values())

    async def control(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Tell the sandbox something."""
        transport = httpx.ASGITransport(self.sandbox)
        async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client:
            return await client.request(method, f"/_sb{path}", json=body)


def _owners(session: Session) -> list[str]:
    return [row["id"] for row in session.rows("SELECT id FROM user WHERE category = 'OWNER' ORDER BY rowid")]


async def open_newcomer(services: Services, sandbox: Starlette, **columns: Any) -> Newcomer:
    """A partner of a marketplace, of whom all is known that the provider needs unless `columns` say otherwise."""
    async with services.db.sessions() as db, db.begin():
        marketplace = MarketplaceRow(name="Market", currency="EUR")
        db.add(marketplace)
        await db.flush()
        named = {"source_id": "1", "commercial_name": "Chez Ada", "short_name": "ada", "site_domain": "ada.localhost"}
        partner = PartnerRow(marketplace_id=marketplace.id, **{**named, **COMPLETE, **columns})
        db.add(partner)
    return Newcomer(services, sandbox, partner)
