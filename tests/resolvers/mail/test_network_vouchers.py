"""Mail of usages of network vouchers: only if requested, to whom, in which language, and what it tells."""

import dataclasses
import datetime as dt
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text as sql

from resolvers.core.services import Services
from resolvers.mail import delivery
from resolvers.network.voucher_usages import use_network_voucher
from schema.core.text import Text
from schema.network.box import OfferStatus
from store.core.mail_server import parse_server
from store.mail.network_usages import mail_voucher_usage
from store.mail.smtp import SmtpMailer
from store.network.boxes import BoxRow
from store.network.vouchers import NetworkVoucherRow
from tests.changes import Direct, Transport
from tests.fixtures.box import new_box, new_offer
from tests.fixtures.network import link
from tests.fixtures.network_voucher import network_voucher, stored, usages_of_voucher
from tests.fixtures.tenants import Tenants
from tests.resolvers.mail.test_attachments import plain_text
from tests.servers.mail_servers import RealMailServer, Received

BUYER, GIFTEE, OTHER, NETWORK = "ada@example.com", "claire@example.com", "other@example.com", "hello@market.example"
PARTNER = "hello@shop.example"
QUEUED = "SELECT recipient FROM mail WHERE kind = 'network_voucher_used' ORDER BY id"
EXPIRES_ON = dt.datetime(2031, 8, 23, 21, 59, 59, tzinfo=dt.UTC)
USED_ON = dt.datetime(2026, 11, 20, 11, tzinfo=dt.UTC)


@pytest.fixture
async def box(tenants: Tenants) -> BoxRow:
    """A box whose vouchers are used three times, at a1; its network and a1 have an address."""
    await link(tenants, "a1")
    named = "UPDATE marketplace SET email = :email, time_zone = 'Europe/Paris' WHERE id = :id"
    await tenants.execute(named, email=NETWORK, id=tenants.marketplaces["a"].id)
    reachable = "UPDATE partner SET agency_email = :email WHERE id = :id"
    await tenants.execute(reachable, email=PARTNER, id=tenants.partners["a1"].id)
    found = await new_box(tenants, max_usages=3, name=Text(en="Spa day for two", fr="Journée au spa"))
    await new_offer(tenants, found, "a1", OfferStatus.ACCEPTED, name=Text(en="A massage", fr="Un massage"))
    return found


@pytest.fixture
async def services(tenants: Tenants, mail_server: RealMailServer) -> AsyncIterator[Services]:
    """Services with a mail server."""
    mailer = SmtpMailer(parse_server(mail_server.url))
    yield dataclasses.replace(tenants.services, mailer=mailer)
    await mailer.aclose()


async def use(ask: Transport, voucher: NetworkVoucherRow, **more: Any) -> Any:
    where = {"code": voucher.code, "partner_id": ask.tenants.partners["a1"].id}
    return await ask.change("market a", use_network_voucher, **where, **more)


async def queued(tenants: Tenants) -> list[str]:
    return [row[0] for row in await tenants.rows(QUEUED)]


async def deliver(services: Services, server: RealMailServer) -> list[Received]:
    """Send everything that waits; answers what has arrived, by recipient."""
    waiting = sql("SELECT id FROM mail WHERE state = 'queued' ORDER BY id")
    for (mail_id,) in await services.db.rows(waiting):
        await delivery.send(services, mail_id)
    return sorted(server.messages, key=lambda received: received.recipients)


def spoken(received: Received) -> str:
    """The text of a message, with plain spaces."""
    return plain_text(received).replace("\xa0", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


async def test_it_is_sent_only_when_requested_and_if_the_voucher_was_used(
    tenants: Tenants, ask: Transport, box: BoxRow
) -> None:
    voucher = await network_voucher(tenants, box, giftee_email=GIFTEE)
    assert (await use(ask, voucher)).done
    assert (await use(ask, voucher, giftee_email=OTHER)).done
    assert await queued(tenants) == []
    assert (await use(ask, voucher, send_usage_notification_email=True)).done
    assert await queued(tenants) == [NETWORK, GIFTEE]
    assert not (await use(ask, voucher, send_usage_notification_email=True)).done, "no usage is left"
    assert await queued(tenants) == [NETWORK, GIFTEE]


@pytest.mark.parametrize(
    ("people", "named", "recipient", "first_name"),
    [
        ({"giftee_email": GIFTEE}, OTHER, OTHER, "Claire"),
        ({"giftee_email": GIFTEE}, None, GIFTEE, "Claire"),
        ({}, None, BUYER, "Ada"),
        ({}, OTHER, OTHER, "Claire"),
        ({"gifter_email": ""}, None, None, ""),
    ],
)
async def test_where_the_beneficiary_is_told(
    tenants: Tenants,
    box: BoxRow,
    people: dict[str, str],
    named: str | None,
    recipient: str | None,
    first_name: str,
) -> None:
    await tenants.execute("UPDATE marketplace SET email = ''")
    names = {"gifter_first_name": "Ada", "giftee_first_name": "Claire", **people}
    voucher = await network_voucher(tenants, box, **names)
    sent = {"send_usage_notification_email": True, "giftee_email": named}
    assert (await use(Direct(tenants), voucher, **sent)).done
    columns = "recipient, content ->> 'first_name', partner_id, marketplace_id"
    found = [tuple(row) for row in await tenants.rows(f"SELECT {columns} FROM mail")]  # noqa: S608 - a test's words
    network_id = tenants.marketplaces["a"].id
    assert found == ([] if recipient is None else [(recipient, first_name, None, network_id)]), "no address, no mail"


@pytest.mark.parametrize(
    ("language", "subject", "own_subject", "lines"),
    [
        (
            "en",
            "Your voucher: Spa day for two, used at {}",
            "Voucher used: Spa day for two at {}",
            ("“Spa day for two”", "Usages left: 2", "Offer: A massage", "20 November 2026", "23 August 2031"),
        ),
        (
            "fr",
            "Votre bon cadeau : Journée au spa, utilisé chez {}",
            "Bon cadeau utilisé : Journée au spa chez {}",
            ("Journée au spa", "Utilisations restantes : 2", "Offre : Un massage", "20 novembre 2026", "23 août 2031"),
        ),
    ],
)
async def test_what_it_tells_in_the_language_of_the_voucher(
    tenants: Tenants,
    services: Services,
    mail_server: RealMailServer,
    box: BoxRow,
    language: str,
    subject: str,
    own_subject: str,
    lines: tuple[str, ...],
) -> None:
    people = {"giftee_email": GIFTEE, "giftee_first_name": "Claire", "giftee_last_name": "Dubois"}
    dates = {"starts_on": USED_ON, "expires_on": EXPIRES_ON}
    voucher = await network_voucher(tenants, box, language=language, **dates, **people)
    about = {"used_on": USED_ON.isoformat(), "comment": "Table 7", "reservation_id": "R-2041"}
    assert (await use(Direct(tenants), voucher, send_usage_notification_email=True, **about)).done
    giftee, network = await deliver(services, mail_server)
    assert (giftee.recipients, network.recipients) == ((GIFTEE,), (NETWORK,))
    partner = tenants.partners["a1"].commercial_name
    subjects = [str(received.message["Subject"]).replace("\xa0", " ") for received in (giftee, network)]
    assert subjects == [subject.format(partner), own_subject.format(partner)]
    for received in (giftee, network):
        assert received.message["Content-Language"] == language
        for said in (*lines, partner, "R-2041", voucher.normal_code[-4:]):
            assert said in spoken(received), said
        assert voucher.code not in spoken(received)
        assert ("Table 7" in spoken(received)) is ("Claire Dubois" in spoken(received)) is (received is network)
    assert giftee.message["Reply-To"] == NETWORK
    assert network.message["Reply-To"] == PARTNER


async def test_the_days_after_the_first_usage_end_it_earlier(tenants: Tenants) -> None:
    await link(tenants, "a1")
    box = await new_box(tenants, max_usages=2, max_days_after_first_usage=5)
    await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED)
    voucher = await network_voucher(tenants, box)
    assert (await use(Direct(tenants), voucher, send_usage_notification_email=True)).done
    usable_until = (await stored(tenants, voucher)).usable_until
    ((ends,),) = await tenants.rows("SELECT content ->> 'expires_on' FROM mail")
    assert dt.datetime.fromisoformat(ends) == usable_until


async def test_a_usage_is_told_once_and_not_if_it_is_rolled_back(tenants: Tenants, box: BoxRow) -> None:
    voucher = await network_voucher(tenants, box)
    assert (await use(Direct(tenants), voucher)).done
    (usage,) = await usages_of_voucher(tenants, voucher)
    voucher = await stored(tenants, voucher)
    async with tenants.services.db.sessions() as db, db.begin() as transaction:
        await mail_voucher_usage(db, voucher, usage)
        await transaction.rollback()
    assert await queued(tenants) == []
    for _ in range(2):
        async with tenants.services.db.sessions() as db, db.begin():
            await mail_voucher_usage(db, voucher, usage)
    assert await queued(tenants) == [NETWORK, BUYER]
