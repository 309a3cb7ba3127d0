"""Identifiers of a new partner: its id, its source id in the network and its site domain."""

import re
import unicodedata

from sqlalchemy import BigInteger, case, cast, func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.hosts import DEFAULT_PORTS
from store.core.settings import Settings
from store.partner.partners import PartnerRow

LONGEST_LABEL = 63
"""Maximum length of one label of a host name."""
NUMERIC_ID = r"^[1-9][0-9]{0,17}$"


async def next_id(db: AsyncSession) -> int:
    """Draw the id of the next partner before its row is written; its site domain and source id contain it."""
    return int((await db.exec(select(func.nextval(func.pg_get_serial_sequence("partner", "id"))))).one())


async def free_source_id(db: AsyncSession, marketplace_id: int, id: int) -> str:
    """A free source id for a partner: its id, else the largest numeric source id plus one."""
    of_network = select(PartnerRow.id).where(col(PartnerRow.marketplace_id) == marketplace_id)
    if (await db.exec(of_network.where(col(PartnerRow.source_id) == str(id)))).first() is None:
        return str(id)
    written = col(PartnerRow.source_id)
    number = case((written.regexp_match(NUMERIC_ID), cast(written, BigInteger)))
    largest = select(func.max(number)).where(col(PartnerRow.marketplace_id) == marketplace_id)
    return str((await db.exec(largest)).one() + 1)


def default_site_domain(short_name: str, id: int, settings: Settings) -> str:
    """`<short name>-<id>.<FUNNEL_DOMAIN>`; in development with this process's port."""
    plain = unicodedata.normalize("NFKD", short_name.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub("[^a-z0-9]+", "-", plain).strip("-")[: LONGEST_LABEL - len(str(id)) - 1].strip("-") or "partner"
    host = f"{slug}-{id}.{settings.funnel_domain}"
    return with_port_of(host, settings) if settings.development else host


def with_port_of(host: str, settings: Settings) -> str:
    """The host as browsers send it: with this process's port unless it is the scheme's default."""
    return host if settings.port == DEFAULT_PORTS[settings.funnel_scheme] else f"{host}:{settings.port}"
