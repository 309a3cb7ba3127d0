"""Payouts, fees, invoices, and the books behind them."""

from admin.resources.resource import Action, Report, Resource, states

PAYOUT_REQUESTS = Resource(
    query="payoutRequests",
    columns=("status", "firstDay", "lastDay", "paidOn", "amount"),
    title=("id", "partner.commercialName"),
    reports=(Report("payoutExplain", "What is in it, and why", {"id": "id"}),),
    when={name: states(status="TO_BE_VALIDATED") for name in ("validatePayoutRequest", "cancelPayoutRequest")},
)
PAYOUT_ADJUSTMENTS = Resource(
    query="payoutAdjustments",
    columns=("createdOn", "status", "amount", "partner.commercialName"),
    title=("reason", "createdOn"),
    asked_by="requestedById",
    when={name: states(status="PENDING") for name in ("approvePayoutAdjustment", "rejectPayoutAdjustment")},
)
FEE_RULES = Resource(
    query="feeRules",
    columns=("product", "origin", "percentage", "fixed", "isActive"),
    title=("id", "partner.commercialName"),
)
INVOICES = Resource(
    query="invoices",
    columns=("kind", "invoicingDate", "net", "vat", "total"),
    title=("number", "customer.companyName"),
    more=(Action("createCreditNote", {"invoiceId": "id"}, named="New credit note"),),
    more_new=(Action("issuePartnerInvoices"),),
    search=("number",),
)
BANK_ACCOUNTS = Resource(
    query="registeredBankAccounts",
    columns=("status", "createdOn", "partner.commercialName"),
    title=("holder", "ibanEnd"),
)
TRANSFERS = Resource(
    query="transfers",
    columns=("createdOn", "status", "amount", "detail", "partner.commercialName"),
    title=("type", "createdOn"),
)
LEDGER_JOURNALS = Resource(
    query="ledgerJournals",
    columns=("effectiveOn", "recordedOn", "sourceKind", "partner.commercialName"),
    title=("kind", "effectiveOn"),
    list_reports=(Report("ledgerFindings", "Prove the ledger"),),
)
RECONCILIATION_FINDINGS = Resource(
    query="reconciliationFindings",
    columns=("firstSeenOn", "state", "reported", "recorded"),
    title=("kind", "subject"),
)
RECONCILIATION_RUNS = Resource(
    query="reconciliationRuns",
    columns=("since", "state", "movements", "finishedOn"),
    title=("until",),
)
