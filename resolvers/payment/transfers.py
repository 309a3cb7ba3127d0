"""Transfers between wallets: the list, and the newest of a wallet."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated
from uuid import UUID

from pydantic import Field

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.payment.transfer import Transfer, TransferStatus, TransferType
from schema.wallet import Wallet
from store.payment.transfers import newest_transfers


@graphql_enum
class TransferSort(DescribedEnum):
    """Sort order of transfers."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    AMOUNT = "transfer_amount", "Smallest amount first."
    AMOUNT_DESCENDING = "-transfer_amount", "Largest amount first."
    STATUS = "status", "By status, in the order of the documented names: those that failed first."
    STATUS_DESCENDING = "-status", "By status, pending ones first."


@graphql_input_for(Transfer)
class TransferFilter(OfPartner):
    """Filter for transfers. Periods include both ends."""

    wallet_uuid: Annotated[UUID | None, Where("debited_wallet_id", "wallet")] = Field(
        default=None, description="Only transfers from or to the wallet with this uuid."
    )
    status: Annotated[TransferStatus | None, Where("status")] = None
    type: Annotated[TransferType | None, Where("type")] = Field(
        default=None, description="Only transfers for this reason."
    )
    payment_id: Annotated[UUID | None, Where("payment_id")] = Field(
        default=None, description="Only the transfers of this payment."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only transfers created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only transfers created at or before this time."
    )


transfers = Listing(
    Transfer, TransferFilter, TransferSort, Permission.VIEW_WALLET, "The transfers visible to you, newest first."
)
transfer = Lookup(Transfer, "id", "transfer", Permission.VIEW_WALLET, "A transfer by its id.")


@computes(Wallet, "transfers")
async def wallet_transfers(context: Context, ids: Sequence[int]) -> Mapping[int, list[Transfer]]:
    """The newest transfers of wallets."""
    found: dict[int, list[Transfer]] = defaultdict(list)
    async with context.db.read_sessions() as db:
        for wallet_id, transfer in await newest_transfers(db, ids):
            found[wallet_id].append(transfer)
    return {id: found[id] for id in ids}
