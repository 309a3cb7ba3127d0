"""The onboarding page: what it shows, what it saves, and its button that leads to the provider."""

from resolvers.context import Caller, Services
from schema.errors import NotFound
from store.onboarding_links import partner_of_token


async def representative_of(services: Services, token: str) -> Caller:
    """Whoever holds a good link, as a caller for the operations below. Raises NotFound for a link that is forged or dead."""
    async with services.db.sessions() as db:
        partner = await partner_of_token(db, services.settings, token)
    if partner is None:
        raise NotFound(thing="page")
    return Caller.representative(partner.id, partner.marketplace_id)
