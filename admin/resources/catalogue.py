"""What is on sale: experiences, products, options, pictures, coupons, delivery."""

from admin.resources.resource import Action, Child, Resource

VOUCHER_PROTOTYPES = Resource(
    query="voucherPrototypes",
    columns=("type", "isActive", "stayPrice", "universe.name", "nbOrders", "ranking", "partner.commercialName"),
    title=("name",),
    picture="cover.thumbUrl",
    more=(Action("createVoucherOptionLink", {"voucherPrototypeId": "id"}, named="Add an option"),),
    children=(
        Child(
            "optionLinks",
            (
                Action("updateVoucherOptionLink", {"id": "id"}, named="Edit"),
                Action("deleteVoucherOptionLink", {"id": "id"}, named="Remove"),
            ),
        ),
    ),
    search=("nameContains",),
)
PRODUCTS = Resource(
    query="products",
    columns=("name", "sku", "isActive", "price", "stock", "ranking", "partner.commercialName"),
    title=("name",),
    picture="pictureUrl",
    more=(
        Action("createProductVariant", {"productId": "id"}, named="Add a variant"),
        Action("createProductAttribute", {"productId": "id"}, named="Add an attribute"),
    ),
    children=(
        Child("variants", (Action("updateProductVariant", {"id": "id"}, named="Edit"),)),
        Child(
            "attributes",
            (
                Action("updateProductAttribute", {"id": "id"}, named="Edit"),
                Action("deleteProductAttribute", {"id": "id"}, named="Remove"),
            ),
        ),
    ),
    search=("sku", "nameContains"),
)
VOUCHER_OPTIONS = Resource(
    query="voucherOptions",
    columns=("name", "category.name", "isActive", "sellingPrice", "ranking", "partner.commercialName"),
    title=("name",),
    search=("nameContains",),
)
VOUCHER_OPTION_CATEGORIES = Resource(
    query="voucherOptionCategories",
    columns=("name", "isActive", "minNumberOptions", "maxNumberOptions", "ranking", "partner.commercialName"),
    title=("name",),
)
GIFT_CARD_DESIGNS = Resource(
    query="giftCardDesigns",
    columns=("name", "occasion", "isActive", "ranking", "partner.commercialName"),
    title=("name",),
    picture="pictureUrl",
)
COUPONS = Resource(
    query="coupons",
    columns=("code", "type", "isActive", "isRunning", "usageCount", "maxUsages", "endsOn", "partner.commercialName"),
    title=("code",),
    search=("code",),
)
DELIVERY_MODES = Resource(
    query="deliveryModes",
    columns=("name", "kind", "isActive", "freeAbove", "ranking", "partner.commercialName"),
    title=("name",),
)
MEDIA = Resource(
    query="media",
    find="mediaById",
    columns=("thumbUrl", "width", "height", "createdOn", "archivedOn", "partner.commercialName"),
    title=("name",),
    picture="thumbUrl",
)
UNIVERSES = Resource(query="universes", columns=("name", "isActive", "ranking"), title=("name",))
ENVIRONMENTS = Resource(query="environments", columns=("name", "isActive", "ranking"), title=("name",))
PRICE_RANGES = Resource(
    query="priceRanges", columns=("name", "minimum", "maximum", "isActive", "ranking"), title=("name",)
)
