"""Prepares the database before `coffret serve` starts."""

from coffret.command_error import CommandError
from coffret.commands.installation import connect_database
from coffret.commands.welcome import DemoSummary
from coffret.demo.public import public_users
from store.core.clock import clock
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.database.db import Database
from store.database.shared_clock import follow_clock
from store.document.wallet.keys import UnusableWalletKey, WalletKeys
from store.migrations.migrate import migrate
from store.providers.mangopay.tls import ssl_context

PUBLIC_USERS_WARNING = (
    "Anybody can log in to this database: the password of the demo data, which is public, is still that of {names}. "
    "Run: {command} (or coffret user password NAME for a user who is needed)"
)


async def refuse_public_users(db: Database) -> None:
    """Raise CommandError if a user still has the public password of the demo data.

    Changes nothing; the message names them.
    """
    if found := await public_users(db):
        raise CommandError(
            PUBLIC_USERS_WARNING.format(names=", ".join(found), command=f"coffret user deactivate {' '.join(found)}")
        )


def check_wallet_keys(settings: Settings) -> None:
    """Write test keys in development. Raises CommandError if a key that signs passes cannot be used."""
    if settings.development and settings.wallet_dir is None:
        from coffret.development.wallet_keys import write_test_keys  # production never needs it

        write_test_keys(settings.data_dir / "wallet")
    try:
        WalletKeys(settings.wallet_folder)
    except UnusableWalletKey as error:
        raise CommandError(f"COFFRET_WALLET_DIR: {error}") from error


def check_apple_pay_key(settings: Settings) -> None:
    """Raise CommandError if Apple would not know the merchant by its certificate and key."""
    if settings.apple_pay_certificate is None:
        return
    try:
        ssl_context(settings.apple_pay_certificate)
    except ValueError as error:
        raise CommandError(f"COFFRET_APPLE_PAY_CERT_FILE and COFFRET_APPLE_PAY_KEY_FILE: {error}") from error


async def prepare(settings: Settings) -> DemoSummary | None:
    """Migrate the database. Create the demo data if the settings ask for it and the database is empty."""
    check_wallet_keys(settings)
    check_apple_pay_key(settings)
    async with connect_database(settings.database_url) as db:
        await migrate(db)
        if settings.development:
            await follow_clock(db, clock)
        else:
            await refuse_public_users(db)
        wanted = settings.demo and settings.provider is ProviderName.SANDBOX
        if not wanted:
            return None
        from coffret.commands.demo import prepare_demo  # production never needs it

        return await prepare_demo(db, settings)
