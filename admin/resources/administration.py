"""Partners, users and marketplaces, and what developers look at: webhooks, events, jobs, mail, the audit log."""

from admin.resources.resource import FALSE, TRUE, Action, Child, RelatedList, Report, Resource, states

OF_PARTNER = {"partnerUuid": "uuid"}
LOOK = "accentColour", "logoUrl", "theme", "startPage"

PARTNERS = Resource(
    query="partners",
    is_of_network=True,
    key="uuid",
    columns=("status", "paymentsActive", "siteDomain", "agencyEmail", "createdOn"),
    title=("commercialName",),
    more=(
        Action("updatePartner", {"uuid": "uuid"}, named="Look and theme", only=LOOK, part="look"),
        Action("activatePayments", OF_PARTNER, when={"paymentsActive": FALSE}),
        *(
            Action(name, OF_PARTNER)
            for name in (
                "changeSiteDomain",
                "updateGiftCardOffer",
                "settleActivation",
                "openIdentityVerification",
                "pushKycDocument",
                "registerBankAccount",
                "sendOnboardingLink",
                "rotateReturnSecret",
            )
        ),
        Action("impersonatePartner", OF_PARTNER, named="Look as this partner", leads_home=True),
        Action("updateNetworkPartner", {"sourceId": "sourceId"}, named="Edit as a partner of a network"),
    ),
    reports=(
        Report("kycLevel", "Identification", OF_PARTNER),
        Report("payoutPreview", "Next payout", OF_PARTNER),
        Report("feeStatement", "Fee statement", OF_PARTNER),
        Report("settlementStatement", "Settlement statement", {"partnerId": "id"}),
        Report("previewCommission", "Commission on a sale", OF_PARTNER),
    ),
    list_reports=(Report("partnerByCompanyNumber", "Find by company number"),),
    search=("nameContains", "sourceId"),
)
MARKETPLACES = Resource(
    query="marketplaces",
    is_of_network=True,
    columns=("name", "domain", "currency", "timeZone", "email"),
    title=("name",),
    more=(Action("activateMarketplacePayments", {"marketplaceUuid": "uuid"}),),
    reports=(Report("settlementStatement", "Settlement statement", {"marketplaceId": "id"}),),
)
LEGAL_DOCUMENTS = Resource(
    query="legalDocuments",
    columns=("createdOn", "replacedOn"),
    title=("kind", "partner.commercialName", "createdOn"),
    more_new=(Action("publishLegalDocument", link_fields=("kind",)),),
)
USERS = Resource(
    query="users",
    columns=("username", "firstName", "role", "isActive", "partner.commercialName", "createdOn"),
    title=("username",),
    more=(Action("createUserToken", {"id": "id"}, named="New API token", when={"isActive": TRUE}),),
    more_new=(
        Action("createToken", named="New API token for yourself", is_of_account=True),
        Action("changePassword", named="Change your password", is_of_account=True),
    ),
    elsewhere=frozenset({"disableSecondFactor"}),
    when={"resendInvitation": {"isActive": TRUE, "hasPassword": FALSE}},
    children=(Child("sessions", (Action("revokeUserToken", {"id": "id"}, named="Revoke"),)),),
    left_out=frozenset({"tokens"}),
    search=("usernameContains", "emailContains"),
)
MAILS = Resource(
    query="mails",
    columns=("kind", "recipient", "state", "sentOn"),
    title=("subject",),
    search=("recipient",),
)
EXPORTS = Resource(
    query="exports",
    columns=("list", "format", "state", "rowsDone", "createdOn", "expiresOn"),
    title=("list", "createdOn"),
    elsewhere=frozenset({"createExport"}),
    when={"cancelExport": states(state="QUEUED RUNNING")},
    waits=states(state="QUEUED RUNNING"),
    progress=("rowsDone", "rowsExpected"),
    file="url",
)
WEBHOOK_ENDPOINTS = Resource(
    query="webhookEndpoints",
    columns=("url", "description", "isActive", "disabledReason", "createdOn"),
    title=("url",),
    more=(
        *(
            Action(name, {"id": "id"})
            for name in ("testWebhookEndpoint", "rotateWebhookSecret", "deleteWebhookEndpoint")
        ),
        Action("replayWebhooks", {"id": "id"}, named="Replay events"),
    ),
    more_new=(Action("createWebhookEndpoint"),),
)
WEBHOOK_DELIVERIES = Resource(
    query="webhookDeliveries",
    columns=("createdOn", "endpoint.url", "state", "tries", "lastStatus"),
    title=("event.type", "createdOn"),
)
EVENTS = Resource(query="events", columns=("occurredOn", "partner.commercialName"), title=("type", "occurredOn"))
JOBS = Resource(
    query="jobs",
    columns=("state", "attempts", "createdOn", "lastError"),
    title=("kind", "id"),
    when={"retryJob": states(state="FAILED"), "discardJob": states(state="QUEUED FAILED")},
)
AUDIT_ENTRIES = Resource(
    query="auditEntries",
    find="auditEntry",
    columns=("occurredOn", "refused", "actor", "username", "subjectType"),
    title=("operation", "occurredOn"),
    related=(RelatedList("apiRequests", "Errors of this request", "requestId"),),
    search=("requestId",),
)
API_REQUESTS = Resource(
    query="apiRequests",
    columns=("occurredOn", "status", "errorCodes", "username"),
    title=("operations", "occurredOn"),
    related=(RelatedList("auditEntries", "Changes of this request", "requestId"),),
    search=("requestId",),
)
