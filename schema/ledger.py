"""The ledger: accounts, journals and entries. Each business event is one journal, whose entries sum to zero."""

import datetime as dt
from typing import Annotated

import strawberry
from sqlalchemy import BigInteger
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.money import Money
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel, computed


@graphql_enum
class LedgerAccountRole(DescribedEnum):
    """What an account of the ledger counts."""

    WALLET = "wallet", "The money in a wallet at the payment provider."
    FEES_WALLET = "fees_wallet", "The money in the platform's wallet of fees at the payment provider."
    REPUDIATION_WALLET = "repudiation_wallet", "The platform's wallet from which banks take disputed money."
    OWED_BY_PARTNER = "owed_by_partner", "What a partner owes the marketplace, which has paid it for the partner."
    PARTNER_SHORTFALL = (
        "partner_shortfall",
        "What is missing in a partner's wallet: more was refunded at the payment provider than the partner had earned.",
    )
    OWED_BY_MARKETPLACE = (
        "owed_by_marketplace",
        "What a marketplace still has to pay in for gift cards and vouchers of its network that were sold elsewhere.",
    )
    DISPUTE_DEBT = (
        "dispute_debt",
        "What a marketplace owes the platform: refills that were lost in disputes, beyond what its wallet held.",
    )
    FUNDS_SHORTFALL = (
        "funds_shortfall",
        "What is missing in a marketplace's wallet: more was taken at the payment provider than it had paid in.",
    )
    IN_DISPUTE = "in_dispute", "What a bank has taken back for an open dispute."
    PARTNER = "partner", "What a partner has earned and not received yet."
    PARTNER_NETWORK = (
        "partner_network",
        "What a partner has earned in its network, and its share of orders with what that sells; it lies in the marketplace's wallet.",
    )
    PARTNER_HELD = "partner_held", "What is kept back from a partner while a dispute is open."
    PARTNER_RESERVED = "partner_reserved", "Earnings of a partner that are being paid out, in the partner's wallet."
    NETWORK_RESERVED = (
        "network_reserved",
        "Earnings of a partner in its network that are being paid out, and still lie in the marketplace's wallet.",
    )
    NETWORK_HELD = (
        "network_held",
        "What is kept back of a partner's earnings in the marketplace's wallet while a dispute is open.",
    )
    RECOVERY_DUE = (
        "recovery_due",
        "What is kept of a partner's earnings for what it owes; it goes to the wallet of fees with the next payout.",
    )
    CARD = "card", "The available balance of a gift card."
    CARD_HELD = "card_held", "The part of a gift card that is on hold."
    NETWORK_VOUCHER = "network_voucher", "What a network owes for the remaining usages of a voucher."
    REFUND_DUE = "refund_due", "A refund that is promised to a buyer, in the wallet that the payment went to."
    COMMISSION_BACK = "commission_back", "The part of a promised refund that lies in the wallet of fees."
    MARKETPLACE_FUNDS = "marketplace_funds", "What a marketplace has paid in to its own wallet."
    FUNDS_HELD = "funds_held", "What is kept back of a marketplace's funds while a dispute is open."
    FREED_FEES = (
        "freed_fees",
        "Fees that credit notes gave back out of other money; what was kept is the marketplace's.",
    )
    VAT_ON_COMMISSION = "vat_on_commission", "The VAT on commission, to be declared."
    SUSPENSE = "suspense", "Movements at the payment provider that nobody has explained yet; normally zero."
    COMMISSION = "commission", "Commission earned, without VAT."
    MANAGEMENT_FEES = "management_fees", "Fees for usages of gift cards and vouchers of a network, without VAT."
    BREAKAGE = "breakage", "The value of expired gift cards and vouchers that a marketplace has booked as its income."
    PROMOTION = "promotion", "What a marketplace pays for others, such as the fees of usages."
    PARTNER_CHARGES = "partner_charges", "What a marketplace has taken from its partners by adjustments."
    DISPUTE_LOSS = "dispute_loss", "Commission lost by disputes."
    ISSUED = "issued", "The value of a partner's own gift cards, which is the partner's obligation."


@graphql_enum
class LedgerJournalKind(DescribedEnum):
    """The business event of a journal."""

    ISSUE = "issue", "A gift card or a network voucher was issued."
    HOLD = "hold", "An amount of a gift card was held."
    RELEASE = "release", "A held amount was returned to its gift card."
    CAPTURE = "capture", "An amount of a gift card was spent, or a network voucher was used."
    REVERSAL = "reversal", "A spent amount was returned to its gift card or network voucher."
    VOID = "void", "A gift card or voucher of a network was cancelled; what was left of it is owed no more."
    BREAKAGE = "breakage", "What an expired gift card or voucher of a network had left was booked as income."
    BREAKAGE_REVERSAL = "breakage_reversal", "An expired gift card or voucher was extended; its value is owed again."
    PAYMENT = "payment", "A card payment succeeded."
    REFILL = "refill", "A marketplace paid in to its own wallet."
    REFUND = "refund", "A refund was promised."
    REFUND_PAID = "refund_paid", "A promised refund left the wallet."
    REFUND_FAILED = "refund_failed", "A promised refund failed for good; its money is the payee's again."
    DISPUTE = "dispute", "A bank took the money of a payment back."
    DISPUTE_WON = "dispute_won", "A dispute was won or withdrawn; its money came back."
    DISPUTE_LOST = "dispute_lost", "A dispute was lost in full or in part, and settled."
    SETTLEMENT = "settlement", "A lost dispute was settled once more, at the payment provider."
    RECOVERY = "recovery", "What a partner owes was taken of its earnings."
    ADJUSTMENT = "adjustment", "A marketplace gave a partner an amount, or took it from the partner."
    PAYOUT_VALIDATED = "payout_validated", "A payout was validated; its money is reserved."
    PAYOUT_SETTLED = "payout_settled", "What a partner has earned in its network was transferred for its payout."
    PAYOUT_PAID = "payout_paid", "A payout left the wallet."
    PAYOUT_FAILED = "payout_failed", "A payout failed; its money is the partner's earnings again."
    PAYOUT_RETURNED = "payout_returned", "The bank sent a payout back; it is the partner's earnings again."
    INVOICE_ROUNDING = "invoice_rounding", "The VAT of an invoice differs from the sum of the VAT of its fees."
    CREDIT_NOTE = "credit_note", "A credit note corrected an invoice; fees are given back."
    FEE_RETAKEN = (
        "fee_retaken",
        "A refund gave back a fee that a credit note had given back before; it is taken again, or not if the refund failed.",
    )
    UNEXPLAINED = "unexplained", "A movement at the payment provider that nobody has explained yet."
    EXPLAINED = "explained", "What stood in suspense was explained by a person, or recorded after all."


@strawberry.pydantic.type(description="One entry of a journal.")
class LedgerEntry(SchemaModel):
    role: LedgerAccountRole = Field(description="What the account counts.")
    owner: str = Field(description="The account's owner, such as `partner:12`; empty if it belongs to the whole book.")
    debit: Money | None = Field(description="The amount, if it is a debit.")
    credit: Money | None = Field(description="The amount, if it is a credit.")
    balance_after: Money | None = Field(
        description="The account's balance after the entry, on its natural side; null for accounts that keep none."
    )


@strawberry.pydantic.type(
    description="A business event in the ledger. Its entries sum to zero. Journals are never changed: a mistake is "
    "corrected by another journal."
)
class LedgerJournal(SchemaModel):
    id: Annotated[int, strawberry.field(graphql_type=strawberry.ID)] = id_column(
        "The journal's id; later journals do not always have higher ids.", sa_type=BigInteger
    )
    kind: LedgerJournalKind = enum_column(LedgerJournalKind, "The business event.")
    source_kind: str = Field(max_length=40, description="What caused it, such as `payment` or `gift_card_hold`.")
    source_id: str = Field(max_length=120, description="The id of what caused it.")
    effective_on: dt.date = Field(description="The accounting date, in the marketplace's time zone.")
    recorded_on: dt.datetime = datetime_column("When it was recorded.")
    entries = computed(list[LedgerEntry], "Its entries, in their order.")
    partner = partner_relation("The partner whose money it is about; null if of none.", nullable=True)
    marketplace = marketplace_relation("The marketplace in whose book it is.")


@strawberry.pydantic.type(description="A line of a statement: one entry on the account.")
class PartnerStatementLine(SchemaModel):
    effective_on: dt.date = Field(description="The accounting date, in the marketplace's time zone.")
    journal_id: Annotated[int, strawberry.field(graphql_type=strawberry.ID)] = Field(description="The journal's id.")
    kind: LedgerJournalKind = Field(description="The business event.")
    source_kind: str = Field(description="What caused it, such as `payment`.")
    source_id: str = Field(description="The id of what caused it.")
    debit: Money | None = Field(description="The amount, if it was taken from the partner.")
    credit: Money | None = Field(description="The amount, if the partner earned it.")
    balance: Money = Field(description="The balance after it.")


@strawberry.pydantic.type(description="What a partner has earned and not received yet, over a period.")
class PartnerStatement(SchemaModel):
    opening: Money = Field(description="The balance before the first day.")
    closing: Money = Field(description="The balance after the last day.")
    lines: list[PartnerStatementLine] = Field(description="The entries of the period, oldest first.")


@strawberry.pydantic.type(description="What the last proof of the ledger found about one rule.")
class LedgerFinding(SchemaModel):
    rule: str = Field(description="The rule's name, as in the metric `coffret_ledger_findings`.")
    title: str = Field(description="What must hold.")
    checked_on: dt.datetime = Field(description="When it was checked.")
    offenders: int = Field(description="How many rows break the rule; 0 if it holds.")
    sample: list[str] = Field(description="Some of these rows, in words.")
