"""Orders, vouchers, gift cards, payments: what a shop sells and is paid for."""

from admin.resources.resource import TRUE, UNSET, Action, Child, Report, Resource, states

PAID = states(status="PAID")
SHOW_CODE = "Show the code"

ORDERS = Resource(
    query="orders",
    columns=("createdOn", "kind", "status", "fulfilment.state", "total", "partner.commercialName"),
    title=("number", "buyer.firstName", "buyer.lastName"),
    more=(
        Action("refundOrder", {"id": "id"}, named="Refund the buyer", when=PAID),
        Action("revealOrderPage", {"id": "id"}, named="Show the customer's page"),
    ),
    when={
        "markOrderReady": states(fulfilment__state="TO_PREPARE", delivery__kind="CLICK_AND_COLLECT"),
        "markOrderCollected": states(
            fulfilment__state="TO_PREPARE READY_TO_COLLECT", delivery__kind="CLICK_AND_COLLECT"
        ),
        "markOrderSent": states(fulfilment__state="TO_PREPARE", delivery__kind="HOME_DELIVERY"),
        "markOrderDelivered": states(fulfilment__state="SENT"),
        "cancelOrderFulfilment": states(fulfilment__state="TO_PREPARE READY_TO_COLLECT"),
        "reopenOrderFulfilment": states(fulfilment__state="CANCELLED"),
    },
    list_reports=(Report("salesReport", "Sales of a period"),),
    sheets="Print packing slips",
    search=("number", "buyer", "code"),
)
PERSON = {"email": "email", "partnerId": "partner.id"}
CUSTOMERS = Resource(
    query="customers",
    columns=(
        *("lastName", "firstName", "email", "purchases.orderCount", "purchases.spent", "purchases.lastOrderOn"),
        "partner.commercialName",
    ),
    title=("firstName", "lastName"),
    more=(
        Action("exportPersonalData", PERSON, named="Export personal data"),
        Action("erasePersonalData", PERSON, named="Erase personal data"),
    ),
    more_new=(Action("exportPersonalData"), Action("erasePersonalData")),
    search=("search",),
)
REFUND_REQUESTS = Resource(
    query="refundRequests",
    columns=("requestedOn", "kind", "state", "order.number", "partner.commercialName"),
    title=("customerName", "requestedOn"),
    when={name: states(state="PENDING") for name in ("approveRefundRequest", "declineRefundRequest")},
)
VOUCHERS = Resource(
    query="vouchers",
    columns=("state", "gifteeDetails.lastName", "createdOn", "expiresOn", "totalPrice", "partner.commercialName"),
    title=("maskedCode", "prototypeName"),
    more=(Action("revealVoucherCode", {"id": "id"}, named=SHOW_CODE),),
    elsewhere=frozenset({"importVouchers", "removeVoucherRental"}),
    when={
        "extendVoucher": {"isExtendable": TRUE},
        "addVoucherRental": {"refundedOn": UNSET},
        "renewVoucherDocument": {"refundedOn": UNSET},
    },
    children=(Child("rentals", (Action("removeVoucherRental", {"id": "id", "code": "^code"}, named="Remove"),)),),
    search=("code", "giftee", "gifter"),
)
GIFT_CARDS = Resource(
    query="giftCards",
    columns=(
        "status",
        "gifteeDetails.lastName",
        "createdOn",
        "expiresOn",
        "value",
        "remainingValue",
        "partner.commercialName",
    ),
    title=("maskedCode",),
    elsewhere=frozenset({"importGiftCards"}),
    more=(
        Action("revealGiftCardCode", {"id": "id"}, named=SHOW_CODE),
        Action("spendGiftCard", {"id": "id"}, when={"isSpendable": TRUE}),
        Action("holdGiftCard", {"id": "id"}, when={"isSpendable": TRUE}),
    ),
    when={
        "activateGiftCard": states(status="DRAFT"),
        "extendGiftCard": states(status="DRAFT PAID USING EXPIRED"),
        "cancelGiftCard": states(status="DRAFT PAID USING USED EXPIRED"),
    },
    children=(
        Child(
            "holds",
            tuple(
                Action(name, {"holdId": "id"})
                for name in ("captureGiftCard", "releaseGiftCard", "reverseGiftCardCapture")
            ),
        ),
    ),
    list_reports=(Report("giftCardLiabilities", "What is owed"),),
    search=("code", "giftee", "gifter"),
)
PAYMENTS = Resource(
    query="payments",
    columns=("createdOn", "status", "refundStatus", "amount", "partner.commercialName"),
    title=("product", "customer.firstName", "customer.lastName", "createdOn"),
    more=(Action("refundPayment", {"id": "id"}, named="Refund the buyer", when=states(status="OK")),),
    when={"cancelPayment": states(status="IN_PROGRESS ERROR")},
    search=("customerEmail", "customerLastName"),
)
PAYMENT_REQUESTS = Resource(
    query="paymentRequests",
    columns=("customer.lastName", "status", "createdOn", "expiresOn", "amount", "partner.commercialName"),
    title=("reference", "description"),
    when={name: states(status="PENDING") for name in ("cancelPaymentRequest", "resendPaymentRequest")},
    search=("search",),
)
REFUNDS = Resource(
    query="refunds",
    columns=("createdOn", "state", "origin", "reason", "amount", "partner.commercialName"),
    title=("payment.customer.firstName", "payment.customer.lastName", "createdOn"),
    elsewhere=frozenset({"refundOrder", "refundPayment"}),
    when={"retryRefund": states(state="NEEDS_ACTION")},
)
DISPUTES = Resource(
    query="disputes",
    columns=("createdOn", "state", "kind", "contestUntil", "amount", "partner.commercialName"),
    title=("payment.customer.firstName", "payment.customer.lastName", "createdOn"),
    more=(Action("pushDisputeDocument", {"disputeId": "id"}, named="Add a document"),),
)
