"""Migrations: from nothing to exactly the tables that the code declares, by one process at a time."""

import asyncio
import pathlib
import shutil

import asyncpg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Connection, Integer, String, Table, text
from sqlalchemy.exc import IntegrityError

from store.database.db import Database
from store.database.views import VIEW
from store.migrations.alembic_runs import alembic_config, write_revision
from store.migrations.migrate import FOLDER, current_revision, head_revision, migrate
from store.migrations.tables import COMPARE_OPTIONS
from store.partner.partners import MarketplaceRow
from store.tables import metadata
from tests.store.migrations.revisions import at


async def test_the_revisions_make_what_the_code_declares(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection, opts=COMPARE_OPTIONS), metadata))

    async with database.engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    assert await current_revision(database) == head_revision()


def test_the_newest_file_is_the_newest_revision() -> None:
    assert head_revision() == ScriptDirectory.from_config(alembic_config()).get_current_head()


async def test_a_revision_is_written_only_of_what_has_changed(database: Database, tmp_path: pathlib.Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    assert await write_revision(database, "Nothing", folder=folder) is None
    table = Table("parcel", metadata, Column("id", Integer, primary_key=True), Column("note", String(20)))
    try:
        written = await write_revision(database, "Parcels are kept", folder=folder)
    finally:
        metadata.remove(table)
    newest = int(head_revision() or 0)
    assert written is not None
    assert written.name == f"{newest + 1:04}_parcels_are_kept.py"
    text = written.read_text()
    assert text.startswith('"""Parcels are kept."""')
    assert f"down_revision = '{head_revision()}'" in text
    assert "op.create_table('parcel'" in text
    assert "op.drop_table('parcel')" in text
    assert {path.name for path in folder.rglob("*.py")} - {path.name for path in FOLDER.rglob("*.py")} == {written.name}


async def test_a_column_that_is_added_has_a_value_in_old_rows(database: Database, tmp_path: pathlib.Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    async with database.sessions() as db, db.begin():
        db.add(MarketplaceRow(name="Old", currency="CHF"))
    async with database.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE marketplace DROP COLUMN time_zone, DROP COLUMN domain"))
    assert await write_revision(database, "Columns come back", folder=folder) is not None

    def upgrade(connection: Connection) -> None:
        command.upgrade(alembic_config(connection, folder), "head")

    async with database.engine.begin() as connection:
        await connection.run_sync(upgrade)
    assert await database.rows(text("SELECT domain, time_zone FROM marketplace")) == [("", "Europe/Paris")]
    assert await write_revision(database, "Nothing", folder=folder) is None
    copied = ", ".join({column.name for column in metadata.tables["marketplace"].c} - {"id", "uuid", "time_zone"})
    without = f"INSERT INTO marketplace (uuid, {copied}) SELECT gen_random_uuid(), {copied} FROM marketplace"  # noqa: S608 - of names
    with pytest.raises(IntegrityError, match="time_zone"):
        async with database.engine.begin() as connection:
            await connection.execute(text(without))


async def test_every_tenant_owned_table_begins_its_keys_with_the_tenant(database: Database) -> None:
    for table in metadata.tables.values():
        if "partner_id" in table.columns and table.info != VIEW:
            indexes = [list(table.primary_key), *(list(index.columns) for index in table.indexes)]
            assert any(columns and columns[0].name == "partner_id" for columns in indexes), table.name


async def test_four_processes_at_once_migrate_an_empty_database(postgres: str) -> None:
    connection = await asyncpg.connect(postgres)
    await connection.execute("DROP DATABASE IF EXISTS test_migrate_race")
    await connection.execute("CREATE DATABASE test_migrate_race")
    head_of, _, tail = postgres.partition("?")
    url = head_of.rsplit("/", 1)[0] + "/test_migrate_race" + (f"?{tail}" if tail else "")
    databases = [Database(url) for _ in range(4)]
    try:
        await asyncio.gather(*(migrate(db) for db in databases))
        await migrate(databases[0])
        tables = await databases[0].rows(
            text("SELECT count(*) FROM information_schema.tables WHERE table_name = 'pgqueuer'")
        )
        assert tables[0][0] == 1
        assert await current_revision(databases[1]) == head_revision()
    finally:
        for db in databases:
            await db.aclose()
        await connection.execute("DROP DATABASE test_migrate_race WITH (FORCE)")
        await connection.close()


@pytest.mark.parametrize(("first", "then"), [("shop_order", "payment_transaction"), ("customer", "shop_order")])
async def test_a_checkout_of_an_older_process_and_the_migration_both_end(
    database: Database, first: str, then: str
) -> None:
    write = "UPDATE {0} SET id = id WHERE false"  # locks the table as storing a row does
    await at(database, "0077", down=True)
    async with database.engine.connect() as checkout:
        await checkout.execute(text(write.format(first)))
        migration = asyncio.create_task(migrate(database))
        await _wait_for_lock(database)
        await asyncio.wait_for(checkout.execute(text(write.format(then))), 30)
        await asyncio.sleep(2)
        assert not migration.done()
        await checkout.commit()
    await asyncio.wait_for(migration, 60)
    assert await current_revision(database) == head_revision()
    assert (await database.rows(text("SHOW lock_timeout")))[0][0] == "0"


async def _wait_for_lock(database: Database) -> None:
    """Wait until somebody waits for a lock of a table."""
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'")
    while not (await database.rows(waiting))[0][0]:
        await asyncio.sleep(0.02)
