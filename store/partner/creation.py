"""What a new partner is called by programs: its id, the id its network knows it by, the host of its checkout."""

import re
import unicodedata

from sqlalchemy import BigInteger, case, cast, func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.hosts import USUAL_PORTS
from store.core.settings import Settings
from store.partner.partners import PartnerRow

LONGEST_LABEL = 63
"""Of a part of a host name."""
DIGITS = r"^[1-9][0-9]{0,17}$"


async def next_id(db: AsyncSession) -> int:
    """The id of the next partner, drawn before its row is written, because its other names hold it."""
    return int((await db.exec(select(func.nextval(func.pg_get_serial_sequence("partner", "id"))))).one())


async def free_source_id(db: AsyncSession, marketplace_id: int, id: int) -> str:
    """A source id for a partner that came without one: its id, else the number after all that are taken."""
    of_network = select(PartnerRow.id).where(col(PartnerRow.marketplace_id) == marketplace_id)
    if (await db.exec(of_network.where(col(PartnerRow.source_id) == str(id)))).first() is None:
        return str(id)
    written = col(PartnerRow.source_id)
    number = case((written.regexp_match(DIGITS), cast(written, BigInteger)))
    largest = select(func.max(number)).where(col(PartnerRow.marketplace_id) == marketplace_id)
    return str((await db.exec(largest)).one() + 1)


def default_site_domain(short_name: str, id: int, settings: Settings) -> str:
    """`<short name>-<id>.<FUNNEL_DOMAIN>`; in development with the port that this process listens on."""
    plain = unicodedata.normalize("NFKD", short_name.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub("[^a-z0-9]+", "-", plain).strip("-")[: LONGEST_LABEL - len(str(id)) - 1].strip("-") or "partner"
    host = f"{slug}-{id}.{settings.funnel_domain}"
    return with_port(host, settings) if settings.development else host


def with_port(host: str, settings: Settings) -> str:
    """The host of a checkout as browsers send it: with this process's port, unless that is the scheme's own."""
    return host if settings.port == USUAL_PORTS[settings.funnel_scheme] else f"{host}:{settings.port}"
