"""The words of the back office where the names of the schema are not those of people: of the checkout and of the docs."""

from collections.abc import Mapping

ACRONYMS = {
    "ape": "APE", "api": "API", "bic": "BIC", "csv": "CSV", "html": "HTML", "iban": "IBAN", "id": "ID", "ids": "IDs", "ip": "IP", "iso": "ISO",
    "pdf": "PDF", "siret": "SIRET", "sku": "SKU", "url": "URL", "uuid": "UUID", "vat": "VAT", "xls": "XLSX", "xlsx": "XLSX",
}  # fmt: skip
PHRASES = {
    "agency email": "e-mail", "agency phone": "telephone", "email": "e-mail", "environment": "surroundings",
    "environments": "surroundings", "expedition": "postal delivery", "giftee": "recipient", "giftee details": "recipient",
    "gifter": "giver", "gifter details": "giver", "hq": "head office", "kyc": "identification", "max": "most",
    "max capacity": "most persons", "min capacity": "fewest persons", "nb nights": "nights", "payee check": "check of the holder",
    "payin": "payment", "payout request": "payout", "payout requests": "payouts", "prototype": "experience",
    "prototypes": "experiences", "reception mode": "sent by", "rental": "booking", "rentals": "bookings",
    "site domain": "address of the shop", "universe": "kind of experience", "universes": "kinds of experiences",
    "usage": "use", "usages": "uses", "voucher option": "option", "voucher option category": "option category",
    "voucher options": "options", "voucher prototype": "experience", "voucher prototypes": "experiences",
    "rent conditions": "conditions", "rent price": "price of the stay",
}  # fmt: skip
"""Words within a name, and what people say for them."""
NAMED = {
    "includeCodes": "Whole codes", "maskedCode": "Code", "rowsDone": "Rows", "rowsExpected": "Rows of the list",
    "adultsPrice": "Price of an adult", "auditEntries": "Audit log", "AuditEntry": "Entry",
    "apiRequests": "API log", "ApiRequest": "Request", "client": "Program", "durationMs": "Duration (ms)", "errorCodes": "Errors",
    "babyPrice": "Price of a baby", "boughtRentPrice": "Price paid for the stay", "cardPart": "Paid by card",
    "cardTotal": "Paid by card", "childrenPrice": "Price of a child", "codeEnd": "Code", "contestUntil": "Answer by",
    "createdOn": "Created", "effectiveOn": "Day", "expiresOn": "Valid until", "extraPart": "Paid by gift card",
    "fixed": "Fixed fee", "forMarketplace": "For the marketplace", "freezePayoutDate": "Day that decides about the payout",
    "frozenOn": "Blocked since", "giftCardTotal": "Paid by gift card", "hasBeenOrdered": "Ordered before", "held": "Held back",
    "hideFromStats": "Not in statistics", "holds": "Reserved amounts", "holder": "Holder", "howToBookHtml": "How to book",
    "ibanEnd": "End of the IBAN", "isCombinable": "With other coupons", "countable": "Several can be chosen", "hasPassword": "Password chosen", "isCountable": "Several can be chosen", "kycValidated": "Identified",
    "isGlobal": "For all experiences", "isPhysical": "Is sent or collected", "isRunning": "Valid now", "isSplittable": "Spent in parts",
    "lastActiveDay": "Last day of sale", "lastStatus": "Last answer", "LegalDocument": "Legal text",
    "legalDocuments": "Legal texts", "mails": "E-mails", "Mail": "E-mail", "maxDaysAfterFirstUsage": "Days of validity after the first use",
    "maximum": "Most", "maxNumberOptions": "Most options", "maxUsages": "Most uses", "media": "Pictures", "Media": "Picture",
    "minimum": "Least", "minNumberOptions": "Fewest options", "nbOrders": "Orders", "occurredOn": "When", "orders": "Orders",
    "ordersCount": "Orders", "partnerShare": "Share of the partner", "paymentsActive": "Takes payments", "payoutExplain": "Payout",
    "ranking": "Position", "rcs": "Trade register number", "readiness": "What a payout needs", "registeredBankAccounts": "Bank accounts",
    "RegisteredBankAccount": "Bank account", "remainingValue": "Balance", "requestedOn": "Requested", "retryable": "Can be tried again",
    "returnHosts": "Websites that buyers return to", "runAfter": "Not before", "selfGifted": "For the buyer", "sentOn": "Sent",
    "otp": "Code of the app", "sessions": "Log-ins and tokens", "sku": "Article number", "slug": "End of the address", "sourceId": "External number", "sources": "Paid with",
    "stayPrice": "Price", "submittedOn": "Submitted", "thirdPartySalesOnly": "Sold by others only", "thumbUrl": "Picture",
    "updatedOn": "Last changed", "modifiedOn": "Last changed", "usageCount": "Uses", "usedOn": "Used", "usedValue": "Spent",
    "validityMonths": "Valid for (months)", "vat": "VAT", "voucherOptionCategories": "Option categories",
    "VoucherOptionCategory": "Option category", "voucherOptions": "Options", "VoucherOption": "Option", "weightGrams": "Weight (g)",
}  # fmt: skip
"""Labels of fields, lists and types whose names would spoil them."""
FILLERS = frozenset({"currencies", "figures", "total"})
"""Names around values, which add nothing to what the values are called."""
VALUES = {
    "AMERICAN_EXPRESS": "American Express", "APPLE_PAY": "Apple Pay", "BIMONTHLY": "Twice a month", "CAPTURE": "Spent",
    "COMMAND_LINE": "Command", "CSV": "CSV", "XLSX": "XLSX", "CREDIT_CARD": "Bank card", "ENDING": "Ends first", "ENDING_DESCENDING": "Ends last",
    "EXPEDITION": "By post", "FATHERS_DAY": "Father’s Day", "GIFTEE": "Recipient", "GIFTEE_EMAIL": "E-mail to the recipient",
    "GIFTER": "Giver", "GOOGLE_PAY": "Google Pay", "GRAPHQL": "GraphQL", "REST": "REST", "HOLD": "Reserved", "IDEAL": "iDEAL", "ISSUE": "Issued", "MASTER": "Platform",
    "MONTH": "Every month", "MOTHERS_DAY": "Mother’s Day", "OK": "Succeeded", "ON_SITE": "On site", "PAYIN": "Payment",
    "PAYPAL": "PayPal", "POSTAL_MAIL_TO_BENEFICIARY": "By post to the recipient", "RANKING": "Position", "RELEASE": "Released",
    "REVERSAL": "Taken back", "TO_BE_VALIDATED": "To validate", "USAGES": "Uses", "USING": "Partly used",
    "VALENTINES_DAY": "Valentine’s Day", "VALIDATION_ASKED": "Being checked", "WEEK": "Every week",
}  # fmt: skip
"""Values of enums whose words do not follow from their names."""
CODES: Mapping[str, str] = {
    "bank_account": "Bank account", "credit_card": "Bank card", "discount": "Discount", "dispute": "Dispute", "gift_card": "Gift card",
    "gift_card,credit_card": "Gift card and bank card", "gift_cards": "Gift cards", "invoice": "Invoice",
    "ledger_journal": "Correction", "mixed": "Mixed", "network": "Network", "network_gift_card": "Network gift card",
    "network_gift_card_usage": "Use of a network gift card", "network_voucher": "Network voucher",
    "network_voucher_usage": "Use of a network voucher", "payment": "Payment", "payout_adjustment": "Adjustment",
    "payout_request": "Payout", "products": "Products", "recovery": "Recovery", "refund": "Refund", "shop": "Shop",
    "voucher": "Voucher", "vouchers": "Vouchers",
}  # fmt: skip
"""Words that the service itself writes into texts of `CODED`; what others write there is shown as it is."""
CODED = frozenset({"details", "origin", "paymentType", "product", "sourceKind", "type"})
"""Names of texts with such words."""
ACTIONS = {
    "addVoucherRental": "Record a booking", "archiveMedia": "Archive", "captureGiftCard": "Spend the reserved amount",
    "createMedia": "Add a picture", "createPayoutRequest": "New payout", "generatePayoutPdf": "Make the PDF",
    "generatePayoutXls": "Make the XLSX", "holdGiftCard": "Reserve an amount", "importVouchers": "Import several",
    "importNetworkVoucher": "Enter an existing network voucher", "importVoucher": "Enter an existing voucher",
    "inviteUser": "Invite", "issueGiftCard": "Issue a gift card", "issueNetworkVoucher": "Issue a network voucher",
    "issueVoucher": "Issue a voucher", "issuePartnerInvoices": "Issue the invoices of a partner", "markOrderCollected": "Mark collected",
    "openIdentityVerification": "Start the identification", "pushKycDocument": "Send a document for the identification",
    "releaseGiftCard": "Release the reserved amount", "resendMail": "Send again", "resendPaymentRequest": "Send again",
    "reverseGiftCardCapture": "Take the spending back", "rotateReturnSecret": "New secret of the way back",
    "rotateWebhookSecret": "New secret", "sendOnboardingLink": "Send the link to set up payments",
    "settleActivation": "End an activation", "updateVoucherDetails": "Edit names and addresses",
}  # fmt: skip
"""What buttons are called, by the mutation, where its name would spoil it."""
