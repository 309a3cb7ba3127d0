"""Brings the tables of a test's database to a revision, there and back."""

from alembic import command
from sqlalchemy import Connection

from store.database.db import Database
from store.migrations.alembic_runs import alembic_config


async def at(db: Database, revision: str, *, down: bool = False) -> None:
    """Bring the tables to a revision."""

    def move(connection: Connection) -> None:
        (command.downgrade if down else command.upgrade)(alembic_config(connection), revision)

    async with db.engine.begin() as connection:
        await connection.run_sync(move)
