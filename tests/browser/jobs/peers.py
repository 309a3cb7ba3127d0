"""The same jobs in pretix and in Saleor's dashboard, as their documentation tells the way, from the first page on."""

from dataclasses import dataclass

from tests.browser.jobs.effort import Effort

PRETIX_GIFT_CARDS = "https://docs.pretix.eu/guides/gift-cards/"
PRETIX_VOUCHERS = "https://docs.pretix.eu/guides/vouchers/"
SALEOR_ORDERS = (
    "https://github.com/saleor/saleor-docs/blob/10c99f7fca49644e68f0fe88c52c1cb35cc190a2/docs/dashboard/orders.md"
)
SALEOR_PRODUCTS = "https://github.com/saleor/saleor-docs/blob/0ffe50616052f5ca42311a8440266abd295cfaad/docs/dashboard/catalog/products.md"
SALEOR_GIFT_CARDS = "https://github.com/saleor/saleor-docs/blob/0296fd58c633028737bb845e2a6973b3e5eb9dba/docs/dashboard/catalog/gift-cards.md"
SALEOR_TRANSLATIONS = (
    "https://github.com/saleor/saleor-docs/blob/db9a97db8a35e911ccac0cea3820e307606a4679/docs/dashboard/translations.md"
)


@dataclass(frozen=True)
class Peer:
    """The way to do a job elsewhere: everything that is clicked on, and every text that is typed."""

    name: str
    source: str
    clicks: tuple[str, ...]
    texts: tuple[str, ...] = ()

    @property
    def effort(self) -> Effort:
        """What it costs."""
        return Effort(len(self.clicks), len(self.texts), sum(map(len, self.texts)))


def saleor(source: str, *clicks: str, texts: tuple[str, ...] = ()) -> Peer:
    """A job in Saleor's dashboard; its lists are one click away from the first page."""
    return Peer("Saleor", source, clicks, texts)


def pretix(source: str, *clicks: str, texts: tuple[str, ...] = ()) -> Peer:
    """A job in pretix; the pages of an event or an organizer are one click away from the first one."""
    return Peer("pretix", source, clicks, texts)


PEERS = {
    "find-an-order": saleor(SALEOR_ORDERS, "Orders", "the order", texts=("Brancaleoni",)),
    "hand-an-order-over": saleor(SALEOR_ORDERS, "Orders", "the order", "Fulfill", "Confirm"),
    "refund-a-line": pretix(
        PRETIX_GIFT_CARDS + "#using-gift-cards-for-manual-refunds",
        *("the event", "Orders", "the order", "Create a refund", "how much is refunded", "what happens to the order"),
        *("Continue", "Perform refund"),
        texts=("12.00",),
    ),
    "correct-an-address": saleor(SALEOR_ORDERS, "Orders", "the order", "Edit", "Save", texts=("17 rue des Lilas",)),
    "issue-a-gift-card": pretix(
        PRETIX_GIFT_CARDS + "#manually-issuing-gift-cards",
        *("the organizer", "Gift cards", "Manually issue a gift card", "Save"),
        texts=("50.00",),
    ),
    "extend-a-gift-card": pretix(
        PRETIX_GIFT_CARDS + "#manually-issuing-gift-cards",
        *("the organizer", "Gift cards", "the gift card", "Edit", "Save"),
        texts=("2030-12-31",),
    ),
    "import-gift-cards": pretix(
        PRETIX_VOUCHERS + "#importing-vouchers",
        *("the event", "Vouchers", "Import vouchers", "Browse", "the file", "Open", "Start import"),
        *("the column of the codes", "the code", "the column of the value", "the value", "Perform import"),
    ),
    "cancel-many-gift-cards": saleor(
        SALEOR_GIFT_CARDS, "Gift cards", "the first card", "the second card", "the third card", "Deactivate"
    ),
    "export-gift-cards": saleor(SALEOR_GIFT_CARDS, "Gift cards", "More", "Export card codes", "Export"),
    "create-a-coupon": pretix(
        PRETIX_VOUCHERS + "#offering-a-limited-discount",
        *("the event", "Vouchers", "Create a new voucher", "Price effect", "Reduce product price by (%)"),
        *("Show hidden products that match this voucher", "Save"),
        texts=("SUMMER", "10", "999999"),
    ),
    "change-a-price": saleor(SALEOR_PRODUCTS, "Products", "the product", "Save", texts=("24.50",)),
    "add-a-picture": saleor(SALEOR_PRODUCTS, "Products", "the product", "Upload image", "the file", "Open"),
    "add-stock": saleor(SALEOR_PRODUCTS, "Products", "the product", "the variant", "Save", texts=("25",)),
    "translate-an-experience": saleor(
        SALEOR_TRANSLATIONS,
        *("Translations", "the language", "Products", "the product", "Edit", "Save"),
        texts=("Drei Tage im Schnee",),
    ),
    "invite-a-colleague": pretix(
        "https://docs.pretix.eu/guides/teams/#inviting-someone-to-your-team",
        *("the organizer", "Teams", "the team", "Add"),
        texts=("ada@example.com",),
    ),
    "set-up-a-second-factor": pretix(
        "https://docs.pretix.eu/guides/two-factor-authentication/#using-a-totp-app",
        *("the user's name", "Enable", "Add a new device", "the kind of device", "Continue", "Continue"),
        texts=("Phone", "123456"),
    ),
}
"""By job. For the others, no way was found in the documentation of either."""
