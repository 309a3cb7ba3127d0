"""What `coffret serve` does before it serves."""

from coffret.commands.demo import prepared
from coffret.commands.welcome import Demo
from coffret.installation import connected
from store.clock import clock
from store.migrate import migrate
from store.settings import ProviderName, Settings
from store.shared_clock import follow


async def prepare(settings: Settings) -> Demo | None:
    """Bring the database up to date, and fill an empty one with demo data where that is wanted."""
    async with connected(settings.database_url) as db:
        await migrate(db)
        if settings.development:
            await follow(db, clock)
        wanted = settings.demo and settings.provider is ProviderName.SANDBOX
        return await prepared(db, settings) if wanted else None
