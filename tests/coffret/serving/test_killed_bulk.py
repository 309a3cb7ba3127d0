"""A bulk action whose process is killed: its form, sent once more, completes it, and nothing is done twice."""

import asyncio
import pathlib
import signal
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import httpx
import pytest
from sqlalchemy import text

from resolvers.account.tokens import issue_token
from schema.account.user import UserRole
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from store.account.users import UserRow
from store.core.clock import clock
from store.database.db import Session
from store.order.orders import lock_order
from tests.admin.office import COOKIE, ROOT, change_form, notices, send, typed
from tests.fixtures.payment.order_refund import ordered
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.servers.coffret_programs import Program
from tests.servers.mail_servers import RealMailServer
from tests.servers.ports import free_port

LIST = f"{ROOT}orders/"
ORDERS = 24
COMMITTED = 11
"""Orders that are sent, and their mails too, when the process is killed: in the middle of the next one."""
SENT = "SELECT count(*) FROM shop_order WHERE fulfilment_state = 'sent'"
MAILED = "SELECT count(*) FROM mail WHERE state = 'sent'"
WAITING = """
    SELECT max(pid) FROM pg_stat_activity WHERE datname = current_database() AND :holder = ANY(pg_blocking_pids(pid))
"""
"""The database's process that waits for a lock of another one."""
ENTRIES = "SELECT subject_id::int FROM audit_entry ORDER BY 1"
EVENTS = "SELECT (data->>'id')::int FROM event WHERE type = 'order.fulfilment_changed' ORDER BY 1"
CARRIERS = (
    "SELECT id, fulfilment_carrier FROM shop_order WHERE fulfilment_carrier <> 'DHL' OR fulfilment_carrier IS NULL"
)


@dataclass
class Dispatch:
    """A shop with paid orders to send, the program that serves it, and a browser of its staff."""

    shop: Shop
    staff: Customer
    environment: dict[str, str]
    data: pathlib.Path
    program: Program

    async def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Rows out of the database."""
        return [tuple(row) for row in await self.shop.services.db.rows(text(statement))]

    async def preview(self, ids: Sequence[int]) -> tuple[str, dict[str, str]]:
        """Choose to send these orders by DHL: the address of the form that confirms it, and its fields."""
        await self.staff.open(LIST)
        csrf = self.staff.page.all("input", name="csrf")[0].attributes["value"]
        chosen = {"csrf": csrf, "action": "mark-order-sent", "all": "1", "page": " ".join(map(str, ids))}
        await self.staff.post(f"{LIST}bulk/", chosen)
        await send(self.staff, carrier="DHL")
        return str(self.staff.response.url.join(change_form(self.staff).attributes["action"])), typed(self.staff)

    async def waiting_for(self, db: Session) -> int:
        """The database's process that waits for a lock of an open transaction."""
        holder = (await (await db.connection()).execute(text("SELECT pg_backend_pid()"))).scalar_one()
        async with asyncio.timeout(60):
            while not (pid := await self.shop.one(WAITING, holder=holder)):
                await asyncio.sleep(0.02)
        return int(pid)

    def restart(self) -> None:
        """Start the program again, on its port."""
        self.program = Program(self.data, self.program.port, **self.environment)
        self.program.wait_until_ready()


@pytest.fixture
async def dispatch(
    shop: Shop, database_url: str, mail_server: RealMailServer, tmp_path: pathlib.Path
) -> AsyncIterator[Dispatch]:
    """A program on the database of the test, which mails through the server of the test."""
    candle = await shop.product()
    for _ in range(ORDERS):
        await ordered(shop, ProductChoice(candle.id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    await shop.execute("DELETE FROM mail")  # about the sales
    async with shop.services.db.sessions() as db, db.begin():
        user = UserRow(username="staff@shop.localhost", role=UserRole.PARTNER, partner_id=shop.partner.id)
        db.add(user)
        await db.flush()
        token = await issue_token(db, user, "staff", clock)
    data = tmp_path / "data"
    data.mkdir()
    environment = {
        "DATABASE_URL": database_url,
        "COFFRET_SMTP_URL": mail_server.url,
        "COFFRET_MAIL_FROM": "a@shop.example",
    }
    program = Program(data, free_port(), **environment)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{program.port}", timeout=60) as http:
        http.cookies.set(COOKIE, token)
        dispatch = Dispatch(shop, Customer(http), environment, data, program)
        try:
            program.wait_until_ready()
            yield dispatch
        finally:
            if dispatch.program.process.poll() is None:
                dispatch.program.end(signal.SIGTERM)


async def test_the_same_form_completes_it_and_does_nothing_twice(
    dispatch: Dispatch, mail_server: RealMailServer
) -> None:
    shop, staff = dispatch.shop, dispatch.staff
    ids = [int(str(id)) for (id,) in await dispatch.rows("SELECT id FROM shop_order ORDER BY id")]
    url, fields = await dispatch.preview(ids)
    async with shop.services.db.sessions() as db, db.begin():
        await lock_order(db, ids[COMMITTED])
        pressed = asyncio.create_task(staff.post(url, fields))
        waiting = await dispatch.waiting_for(db)
        assert await shop.one(SENT) == COMMITTED
        await shop.becomes(MAILED, COMMITTED)
        assert dispatch.program.end(signal.SIGKILL) == -signal.SIGKILL
        with pytest.raises(httpx.TransportError):
            await pressed
        await shop.execute("UPDATE shop_order SET fulfilment_carrier = 'UPS' WHERE id = :id", id=ids[0])
        dispatch.restart()
        await staff.post(url, fields)
        assert notices(staff) == [f"{ORDERS - 1} are done.", "1 was refused."]
        (refused,) = [row.text for row in staff.page.one("main").all("tr") if "Refused" in row.text]
        assert refused.startswith(f"Order {COMMITTED + 1} ")
        assert "is being worked on" in refused, "for all that the database knows"
        assert await shop.one(SENT) == ORDERS - 1
    await shop.becomes(f"SELECT count(*) FROM pg_stat_activity WHERE pid = {waiting}", 0)  # noqa: S608 - a number
    for _ in range(2):
        await staff.post(url, fields)
        assert notices(staff) == [f"{ORDERS} are done."]
    assert await dispatch.rows(CARRIERS) == [(ids[0], "UPS")], "a later correction stays"
    assert await dispatch.rows(ENTRIES) == await dispatch.rows(EVENTS) == [(id,) for id in ids]
    await shop.becomes(MAILED, ORDERS)
    assert await shop.count("mail") == ORDERS
    subjects = sorted(str(each.message["Subject"]) for each in mail_server.messages)
    assert subjects == sorted(f"Your order {number} from The Shop is on its way" for number in range(1, ORDERS + 1))
