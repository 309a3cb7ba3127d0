"""What a network sells for all its partners: gift cards, vouchers, boxes with the offers of partners."""

from admin.resources.resource import Action, Resource, states

CODE = frozenset({"code"})

BOXES = Resource(
    query="boxes",
    columns=("name", "isActive", "price", "priceRange.name", "maxUsages", "ordersCount", "ranking"),
    title=("name",),
    picture="images.media.thumbUrl",
    more=(Action("issueNetworkVoucher", {"boxId": "id"}), Action("importNetworkVoucher", {"boxId": "id"})),
    search=("nameContains",),
)
OFFERS = Resource(
    query="offers",
    columns=("name", "box.name", "status", "isActive", "partner.commercialName", "submittedOn"),
    title=("name",),
    when={
        "submitOffer": states(status="DRAFT REJECTED"),
        "acceptOffer": states(status="SUBMITTED"),
        "rejectOffer": states(status="SUBMITTED"),
    },
)
NETWORK_GIFT_CARDS = Resource(
    query="networkGiftCards",
    is_of_network=True,
    columns=("code", "status", "value", "remainingValue", "gifteeDetails.lastName", "createdOn", "expiresOn"),
    title=("code",),
    more=(Action("useNetworkGiftCard", {"code": "code"}),),
    search=("code",),
    secrets=CODE,
)
NETWORK_GIFT_CARD_USAGES = Resource(
    query="networkGiftCardUsages",
    columns=("usedOn", "partner.commercialName", "value", "net", "isActive", "comment"),
    title=("usedOn", "value"),
    elsewhere=frozenset({"useNetworkGiftCard"}),
    more_new=(Action("useNetworkGiftCard", named="Use network gift card"),),
)
NETWORK_VOUCHERS = Resource(
    query="networkVouchers",
    is_of_network=True,
    columns=("code", "box.name", "status", "usageCount", "maxUsages", "createdOn", "expiresOn"),
    title=("code",),
    more=(Action("useNetworkVoucher", {"code": "code"}),),
    search=("code",),
    secrets=CODE,
)
NETWORK_VOUCHER_USAGES = Resource(
    query="networkVoucherUsages",
    columns=("usedOn", "partner.commercialName", "isActive", "comment"),
    title=("usedOn",),
    elsewhere=frozenset({"useNetworkVoucher"}),
    more_new=(Action("useNetworkVoucher", named="Use network voucher"),),
)
