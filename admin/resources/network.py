"""What a network sells for all its partners: gift cards, vouchers, boxes with the offers of partners."""

from admin.resources.resource import TRUE, Action, Resource, States, states

SHOW_CODE = "Show the code"


def _states_of(thing: str) -> dict[str, States]:
    """In which states what a network sells can be changed."""
    return {
        f"activateNetwork{thing}": states(status="DRAFT"),
        f"extendNetwork{thing}": states(status="DRAFT PAID USING EXPIRED TEST"),
        f"cancelNetwork{thing}": states(status="DRAFT PAID USING USED EXPIRED TEST"),
    }


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
    is_read_by_others=True,
    more=(Action("acceptOffer", {"id": "id"}, when=states(status="SUBMITTED"), as_read=("editedOn",)),),
    when={
        "submitOffer": states(status="DRAFT REJECTED"),
        "rejectOffer": states(status="SUBMITTED"),
    },
)
NETWORK_GIFT_CARDS = Resource(
    query="networkGiftCards",
    is_of_network=True,
    columns=("status", "gifteeDetails.lastName", "createdOn", "expiresOn", "value", "remainingValue"),
    title=("maskedCode",),
    more=(
        Action("revealNetworkGiftCardCode", {"id": "id"}, named=SHOW_CODE),
        Action("useNetworkGiftCard", {"code": "code"}, when={"isUsable": TRUE}),
    ),
    when=_states_of("GiftCard"),
    search=("code",),
)
NETWORK_GIFT_CARD_USAGES = Resource(
    query="networkGiftCardUsages",
    columns=("usedOn", "isActive", "comment", "value", "net"),
    title=("partner.commercialName", "usedOn"),
    elsewhere=frozenset({"useNetworkGiftCard"}),
    more_new=(Action("useNetworkGiftCard", named="Use network gift card"),),
)
NETWORK_VOUCHERS = Resource(
    query="networkVouchers",
    is_of_network=True,
    columns=("status", "usageCount", "maxUsages", "createdOn", "expiresOn"),
    title=("maskedCode", "box.name"),
    more=(
        Action("revealNetworkVoucherCode", {"id": "id"}, named=SHOW_CODE),
        Action("useNetworkVoucher", {"code": "code"}, when={"isUsable": TRUE}),
    ),
    when=_states_of("Voucher"),
    search=("code",),
)
NETWORK_VOUCHER_USAGES = Resource(
    query="networkVoucherUsages",
    columns=("usedOn", "isActive", "comment"),
    title=("partner.commercialName", "usedOn"),
    elsewhere=frozenset({"useNetworkVoucher"}),
    more_new=(Action("useNetworkVoucher", named="Use network voucher"),),
)
