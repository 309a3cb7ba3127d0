"""Orders, vouchers, gift cards, payments: what a shop sells and is paid for."""

from admin.resources.resource import Action, Child, Resource, states

PAID = states(status="PAID")
SHOW_CODE = "Show the code"

ORDERS = Resource(
    query="orders",
    columns=("number", "createdOn", "buyer.lastName", "buyer.firstName", "kind", "status", "fulfilment.state", "total"),
    title=("number",),
    more=(
        Action("refundOrder", {"id": "id"}, named="Refund the buyer", when=PAID),
        Action("previewOrderRefund", {"id": "id"}, named="Preview a refund", when=PAID),
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
    more_new=(Action("exportPersonalData"), Action("erasePersonalData")),
    search=("number", "buyer"),
)
REFUND_REQUESTS = Resource(
    query="refundRequests",
    columns=("requestedOn", "customerName", "kind", "state", "order.number", "partner.commercialName"),
    title=("customerName", "requestedOn"),
    when={name: states(state="PENDING") for name in ("approveRefundRequest", "declineRefundRequest")},
)
VOUCHERS = Resource(
    query="vouchers",
    columns=("maskedCode", "prototypeName", "state", "gifteeDetails.lastName", "createdOn", "expiresOn", "totalPrice"),
    title=("maskedCode",),
    more=(Action("revealVoucherCode", {"id": "id"}, named=SHOW_CODE),),
    elsewhere=frozenset({"removeVoucherRental"}),
    children=(Child("rentals", (Action("removeVoucherRental", {"id": "id", "code": "^code"}, named="Remove"),)),),
    search=("code", "giftee", "gifter"),
)
GIFT_CARDS = Resource(
    query="giftCards",
    columns=("maskedCode", "status", "value", "remainingValue", "gifteeDetails.lastName", "createdOn", "expiresOn"),
    title=("maskedCode",),
    more=(
        Action("revealGiftCardCode", {"id": "id"}, named=SHOW_CODE),
        Action("spendGiftCard", {"id": "id"}),
        Action("holdGiftCard", {"id": "id"}),
    ),
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
)
PAYMENTS = Resource(
    query="payments",
    columns=("createdOn", "customer.lastName", "product", "status", "refundStatus", "amount", "partner.commercialName"),
    title=("product", "customer.lastName", "createdOn"),
    more=(
        Action("refundPayment", {"id": "id"}, named="Refund the buyer"),
        Action("previewRefund", {"id": "id"}, named="Preview a refund"),
    ),
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
