"""Rows of three partners that were laid for the tests of a module, and what is asked of them."""

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from store.gift_cards import GiftCardRow
from store.vouchers import VoucherRow
from tests.tenants import Tenants
from tests.transports import NO_TOKEN

R = TypeVar("R", GiftCardRow, VoucherRow)


@dataclass
class Laid(Generic[R]):
    """Rows of three partners."""

    tenants: Tenants
    rows: list[R] = field(repr=False)

    def seen(self, who: str) -> list[R]:
        """What somebody sees."""
        partners = {"master": ("a1", "a2", "b1"), "market a": ("a1", "a2")}.get(who, (who,))
        ids = {self.tenants.partners[name].id for name in partners}
        return [row for row in self.rows if row.partner_id in ids]

    async def get(self, path: str, who: str = "a1", **query: Any) -> Any:
        """A REST answer."""
        headers = {} if who == NO_TOKEN else {"Authorization": f"Token {self.tenants.tokens[who]}"}
        return await self.tenants.client.get(path, params=query, headers=headers)

    async def ask(self, document: str, who: str = "a1", **variables: Any) -> Any:
        """The data of a GraphQL answer."""
        answer = await self.tenants.graphql(who, document, **variables)
        assert "errors" not in answer, answer
        return answer["data"]
