"""What `coffret serve` does before it serves."""

from coffret.commands.command_error import CommandError
from coffret.commands.demo import prepared
from coffret.commands.installation import connected
from coffret.commands.welcome import Demo
from coffret.demo.public import public_users
from store.core.clock import clock
from store.core.settings import ProviderName, Settings
from store.core.shared_clock import follow
from store.database.db import Database
from store.migrations.migrate import migrate

PUBLIC = (
    "Anybody can log in to this database: the password of the demo data, which is public, is still that of {names}. "
    "Run: {command} (or coffret user password NAME for one who is needed)"
)


async def refuse_public_users(db: Database) -> None:
    """Raise a CommandError where anybody could log in as a user of the demo data. Nothing is changed: who they are is told."""
    if found := await public_users(db):
        raise CommandError(PUBLIC.format(names=", ".join(found), command=f"coffret user deactivate {' '.join(found)}"))


async def prepare(settings: Settings) -> Demo | None:
    """Bring the database up to date, and fill an empty one with demo data where that is wanted."""
    async with connected(settings.database_url) as db:
        await migrate(db)
        if settings.development:
            await follow(db, clock)
        else:
            await refuse_public_users(db)
        wanted = settings.demo and settings.provider is ProviderName.SANDBOX
        return await prepared(db, settings) if wanted else None
