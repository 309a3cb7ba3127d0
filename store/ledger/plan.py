"""The plan of accounts: a number and a name for each role, as bookkeepers know them. Numbers never change."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from schema.ledger import LedgerAccountRole as Role


@dataclass(frozen=True, slots=True)
class PlanAccount:
    """An account of the plan. All accounts of the ledger with one role are sub-accounts of it."""

    code: int
    name: str
    owner: str = ""
    """What owns an account of this role; empty if it belongs to the whole book."""

    def owner_label(self, owner_id: int | None, owner_uuid: UUID | None) -> str:
        """The owner of a sub-account, such as `partner:12`; empty for an account of the whole book."""
        ids = [str(id) for id in (owner_id, owner_uuid) if id is not None]
        return ":".join([self.owner, *ids]) if ids else ""


ACCOUNT_PLAN: Mapping[Role, PlanAccount] = {
    Role.WALLET: PlanAccount(1100, "Wallets at the payment provider", "wallet"),
    Role.FEES_WALLET: PlanAccount(1200, "Wallet of fees at the payment provider"),
    Role.REPUDIATION_WALLET: PlanAccount(1300, "Wallet of disputes at the payment provider"),
    Role.OWED_BY_PARTNER: PlanAccount(1400, "Owed by partners", "partner"),
    Role.OWED_BY_MARKETPLACE: PlanAccount(1405, "Owed by the marketplace for gift cards and vouchers sold elsewhere"),
    Role.PARTNER_SHORTFALL: PlanAccount(1410, "Missing in wallets of partners", "partner"),
    Role.DISPUTE_DEBT: PlanAccount(1420, "Owed by the marketplace for lost disputes"),
    Role.FUNDS_SHORTFALL: PlanAccount(1430, "Missing in the wallet of the marketplace"),
    Role.IN_DISPUTE: PlanAccount(1500, "In dispute", "payment"),
    Role.PARTNER: PlanAccount(2100, "Earnings of partners", "partner"),
    Role.PARTNER_HELD: PlanAccount(2110, "Earnings of partners, kept back", "partner"),
    Role.PARTNER_NETWORK: PlanAccount(2120, "Earnings of partners in the network", "partner"),
    Role.PARTNER_RESERVED: PlanAccount(2130, "Payouts, not final", "partner"),
    Role.NETWORK_RESERVED: PlanAccount(2140, "Payouts, not transferred by the network", "partner"),
    Role.RECOVERY_DUE: PlanAccount(2150, "Kept of earnings for debts", "partner"),
    Role.NETWORK_HELD: PlanAccount(2160, "Earnings of partners in the network, kept back", "partner"),
    Role.CARD: PlanAccount(2200, "Gift cards, available", "gift_card"),
    Role.CARD_HELD: PlanAccount(2210, "Gift cards, on hold", "gift_card"),
    Role.NETWORK_VOUCHER: PlanAccount(2220, "Vouchers of the network", "network_voucher"),
    Role.REFUND_DUE: PlanAccount(2300, "Refunds due to buyers", "transaction"),
    Role.COMMISSION_BACK: PlanAccount(2310, "Commission to give back with refunds", "transaction"),
    Role.MARKETPLACE_FUNDS: PlanAccount(2400, "Funds of the marketplace"),
    Role.FUNDS_HELD: PlanAccount(2410, "Funds of the marketplace, kept back"),
    Role.FREED_FEES: PlanAccount(2420, "Fees given back out of other money"),
    Role.VAT_ON_COMMISSION: PlanAccount(2500, "VAT on commission"),
    Role.SUSPENSE: PlanAccount(2900, "Suspense", "wallet"),
    Role.COMMISSION: PlanAccount(4100, "Commission"),
    Role.MANAGEMENT_FEES: PlanAccount(4200, "Management fees"),
    Role.BREAKAGE: PlanAccount(4300, "Breakage"),
    Role.PARTNER_CHARGES: PlanAccount(4400, "Charged to partners by adjustments"),
    Role.DISPUTE_LOSS: PlanAccount(6100, "Losses by disputes"),
    Role.PROMOTION: PlanAccount(6200, "Promotion"),
    Role.ISSUED: PlanAccount(9100, "Own gift cards of partners, issued", "partner"),
}
"""1: assets, 2: liabilities, 4: income, 6: expenses, 9: memo accounts, which are left out of a balance sheet."""
