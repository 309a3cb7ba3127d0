"""Orders, vouchers, gift cards, payments: what a shop sells and is paid for."""

from admin.resources.resource import Action, Child, Resource, states

CODE = frozenset({"code"})
PAID = states(status="PAID")

ORDERS = Resource(
    query="orders",
    columns=("createdOn", "kind", "status", "fulfilment.state", "total", "partner.commercialName"),
    title=("number", "buyer.firstName", "buyer.lastName"),
    more=(
        Action("refundOrder", {"id": "id"}, named="Refund the buyer", when=PAID),
        Action("previewOrderRefund", {"id": "id"}, named="Preview a refund", when=PAID),
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
    more_new=(Action("exportPersonalData"), Action("erasePersonalData")),
    search=("number", "buyer"),
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
    title=("code", "prototypeName"),
    elsewhere=frozenset({"removeVoucherRental"}),
    children=(Child("rentals", (Action("removeVoucherRental", {"id": "id", "code": "^code"}, named="Remove"),)),),
    search=("code", "giftee", "gifter"),
    secrets=CODE,
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
    title=("code",),
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
    search=("code", "giftee", "gifter"),
    secrets=CODE,
)
PAYMENTS = Resource(
    query="payments",
    columns=("createdOn", "status", "refundStatus", "amount", "partner.commercialName"),
    title=("product", "customer.firstName", "customer.lastName", "createdOn"),
    more=(
        Action("refundPayment", {"id": "id"}, named="Refund the buyer"),
        Action("previewRefund", {"id": "id"}, named="Preview a refund"),
    ),
    search=("customerEmail", "customerLastName"),
)
PAYMENT_REQUESTS = Resource(
    query="paymentRequests",
    columns=("customer.lastName", "status", "createdOn", "expiresOn", "amount", "partner.commercialName"),
    title=("reference", "description"),
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
