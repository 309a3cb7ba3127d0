"""The database's address, as hosting platforms write it."""

import pytest

from store.db import Database, dsn


async def test_an_address_may_have_the_options_of_libpq(database_url: str) -> None:
    """`?sslmode=require` ends most addresses of hosted servers; the test's own server knows no TLS."""
    joint = "&" if "?" in database_url else "?"
    db = Database(f"{database_url}{joint}sslmode=prefer&application_name=somebody")
    assert [tuple(row) for row in await db.fetch("SHOW application_name")] == [("somebody",)]
    await db.aclose()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg"])
def test_any_name_of_the_scheme_will_do(scheme: str) -> None:
    assert dsn(f"{scheme}://u:p@host/db?sslmode=require") == "postgresql://u:p@host/db?sslmode=require"


@pytest.mark.parametrize("url", ["mysql://host/db", "host/db", "", "postgresql"])
def test_another_database_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must start with postgresql://"):
        dsn(url)
