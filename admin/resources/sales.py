"""Orders, vouchers, gift cards, payments: what a shop sells and is paid for."""

from admin.resources.resource import Action, Child, Report, Resource, states

CODE = frozenset({"code"})
PAID = states(status="PAID")

ORDERS = Resource(
    query="orders",
    columns=("number", "createdOn", "buyer.lastName", "buyer.firstName", "kind", "status", "fulfilment.state", "total"),
    title=("number",),
    more=(Action("refundOrder", {"id": "id"}, named="Refund the buyer", when=PAID),),
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
    search=("number", "buyer", "code"),
)
PERSON = {"email": "email", "partnerId": "partner.id"}
CUSTOMERS = Resource(
    query="customers",
    columns=(
        *("lastName", "firstName", "email", "purchases.orderCount", "purchases.spent", "purchases.lastOrderOn"),
        "partner.commercialName",
    ),
    title=("lastName", "firstName"),
    more=(
        Action("exportPersonalData", PERSON, named="Export personal data"),
        Action("erasePersonalData", PERSON, named="Erase personal data"),
    ),
    more_new=(Action("exportPersonalData"), Action("erasePersonalData")),
    search=("search",),
)
REFUND_REQUESTS = Resource(
    query="refundRequests",
    columns=("requestedOn", "customerName", "kind", "state", "order.number", "partner.commercialName"),
    title=("customerName", "requestedOn"),
    when={name: states(state="PENDING") for name in ("approveRefundRequest", "declineRefundRequest")},
)
VOUCHERS = Resource(
    query="vouchers",
    columns=("code", "prototypeName", "state", "gifteeDetails.lastName", "createdOn", "expiresOn", "totalPrice"),
    title=("code",),
    elsewhere=frozenset({"importVouchers", "removeVoucherRental"}),
    children=(Child("rentals", (Action("removeVoucherRental", {"id": "id", "code": "^code"}, named="Remove"),)),),
    search=("code", "giftee", "gifter"),
    secrets=CODE,
)
GIFT_CARDS = Resource(
    query="giftCards",
    columns=("code", "status", "value", "remainingValue", "gifteeDetails.lastName", "createdOn", "expiresOn"),
    title=("code",),
    elsewhere=frozenset({"importGiftCards"}),
    more=(Action("spendGiftCard", {"id": "id"}), Action("holdGiftCard", {"id": "id"})),
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
    secrets=CODE,
)
PAYMENTS = Resource(
    query="payments",
    columns=("createdOn", "customer.lastName", "product", "status", "refundStatus", "amount", "partner.commercialName"),
    title=("product", "customer.lastName", "createdOn"),
    more=(Action("refundPayment", {"id": "id"}, named="Refund the buyer", when=states(status="OK")),),
    search=("customerEmail", "customerLastName"),
)
PAYMENT_REQUESTS = Resource(
    query="paymentRequests",
    columns=("reference", "customer.lastName", "description", "status", "amount", "createdOn", "expiresOn"),
    title=("reference", "description"),
    search=("search",),
)
REFUNDS = Resource(
    query="refunds",
    columns=("createdOn", "state", "origin", "reason", "amount", "partner.commercialName"),
    title=("amount", "createdOn"),
    elsewhere=frozenset({"refundOrder", "refundPayment"}),
    when={"retryRefund": states(state="NEEDS_ACTION")},
)
DISPUTES = Resource(
    query="disputes",
    columns=("createdOn", "state", "kind", "amount", "held", "contestUntil", "partner.commercialName"),
    title=("kind", "createdOn"),
    more=(Action("pushDisputeDocument", {"disputeId": "id"}, named="Add a document"),),
)
