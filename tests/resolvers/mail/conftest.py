"""A shop whose mail arrives somewhere."""

import dataclasses
from collections.abc import AsyncIterator

import pytest

from store.core.mail_server import parse_server
from store.mail.smtp import SmtpMailer
from tests.fixtures.shop import Shop
from tests.servers.mail_servers import RealMailServer


@pytest.fixture
async def mailing(shop: Shop, mail_server: RealMailServer) -> AsyncIterator[Shop]:
    """A shop with a mail server."""
    mailer = SmtpMailer(parse_server(mail_server.url))
    shop.services = dataclasses.replace(shop.services, mailer=mailer)
    yield shop
    await mailer.aclose()
