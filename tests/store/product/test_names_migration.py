"""Products that were there before they had names survive the migration, both ways."""

import pathlib
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from tests.fixtures.tenants import open_tenants
from tests.store.migrations.revisions import at

BEFORE = "0016"


async def test_products_survive_both_ways(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:

        async def read_rows() -> list[dict[str, Any]]:
            of = tenants.owned["a1"]
            return [await tenants.row("product", of.product), await tenants.row("product_variant", of.variant)]

        before = await read_rows()
        await at(tenants.services.db, BEFORE, down=True)
        names = {"sku": "", "source_id": ""}
        assert [row | names for row in await read_rows()] == before
        await at(tenants.services.db, "head")
        assert await read_rows() == before
        await tenants.execute("UPDATE product SET sku = 'x' WHERE id = :id", id=tenants.owned["a1"].product)
        with pytest.raises(IntegrityError):
            await tenants.execute(
                "UPDATE product SET sku = 'x', partner_id = :partner WHERE id = :id",
                partner=tenants.owned["a1"].partner,
                id=tenants.owned["a2"].product,
            )
