"""Wallets: of partners and marketplaces at the payment provider, and of gift cards in the ledger."""

from uuid import UUID, uuid4

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, enum_column, graphql_enum, id_column
from schema.core.derived import restricted_column
from schema.core.field_permission import FieldPermission
from schema.core.money import Money
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.permission import Permission
from schema.core.resource import SchemaModel, computed

OWN_WALLET_PERMISSION = FieldPermission(Permission.VIEW_WALLET, owner_columns=())
"""Limits a field to callers who may see wallets. Its function leaves out wallets of others."""
WALLET_PERMISSION = FieldPermission(Permission.VIEW_WALLET)
"""Limits a field to callers who may see wallets, and this wallet, whichever relation leads to it."""

OWNER_PERMISSION = FieldPermission(None)
"""Limits a field to callers who see the wallet's partner, or of a wallet without a partner its marketplace."""


@graphql_enum
class WalletKind(DescribedEnum):
    """Whose money a wallet holds."""

    PARTNER = "partner", "A partner's money at the payment provider."
    MARKETPLACE = "marketplace", "A marketplace's money at the payment provider."
    GIFT_CARD = "gift_card", "The balance of a gift card; no money of its own lies at the payment provider."


@strawberry.pydantic.type(description="A wallet: money that payments are made to, or taken from.")
class Wallet(SchemaModel):
    id: int = id_column("The wallet's id.")
    uuid: UUID = Field(default_factory=uuid4, unique=True, exclude=True)
    visible_uuid = restricted_column(
        UUID,
        "uuid",
        OWNER_PERMISSION,
        "The wallet's uuid, with which `createPayment` takes money from a gift card; null for users of a partner if the wallet "
        "is the marketplace's or a network gift card's. The look-up of a network gift card by its code tells it "
        "(`walletUuid`).",
        name="uuid",
    )
    kind: WalletKind = enum_column(WalletKind, "Whose money it holds.")
    is_live: bool = Field(
        default=True, description="False for the wallets of test partners, whose money never existed."
    )
    transfers = computed(
        "schema.payment.transfer:Transfer",
        "Its newest transfers, at most 100, newest first; null for callers who may not see them. `transfers` with a filter "
        "by `walletUuid` lists all.",
        many=True,
        field_permission=WALLET_PERMISSION,
    )
    balance = computed(
        Money,
        "The balance that the ledger counts; of a gift card without the amounts on hold. Null for callers who may not see "
        "it.",
        field_permission=WALLET_PERMISSION,
    )
    marketplace = marketplace_relation()
    partner = partner_relation("The partner; null for a marketplace's own wallet.", nullable=True)
