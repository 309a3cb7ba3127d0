"""The texts of the pages for errors, notices and next steps. Every text is in every translation catalogue."""

from dataclasses import dataclass
from enum import StrEnum

from resolvers.checkout.buyer import LENGTHS
from schema.catalogue.catalogue_page import CatalogueSort
from schema.checkout.checkout import CheckoutNotice, CheckoutStep, DeliveryProblem, LineProblem, ShopKind
from schema.checkout.codes import CodeProblem
from schema.gift_occasion import GiftOccasion
from schema.order.refund_request import LONGEST_NAME, LONGEST_REASON
from schema.validation.postal_codes import example_postal_code


def N_(text: str) -> str:  # noqa: N802 - gettext's tools expect this name
    """Mark a text for translation. Returns it unchanged."""
    return text


STEPS = {
    CheckoutStep.CUSTOMIZATION: N_("Your order"),
    CheckoutStep.INFORMATION: N_("Your details"),
    CheckoutStep.PAYMENT: N_("Payment"),
    CheckoutStep.SUMMARY: N_("Confirmation"),
}

LINE_PROBLEMS = {
    LineProblem.NOT_SOLD: N_("This shop does not sell this product. It is left out of your order."),
    LineProblem.INACTIVE: N_("This product is not on sale at the moment. It is left out of your order."),
    LineProblem.OUT_OF_STOCK: N_("This product is sold out. It is left out of your order."),
    LineProblem.NOT_ENOUGH_STOCK: N_("Only %(count)s left: choose a smaller quantity."),
    LineProblem.VARIANT_REQUIRED: N_("Choose a version of this product."),
    LineProblem.UNKNOWN_VARIANT: N_("This version is no longer on sale: choose another one."),
    LineProblem.ATTRIBUTE_REQUIRED: N_("Choose among the options of this product."),
    LineProblem.UNKNOWN_ATTRIBUTE_VALUE: N_("This option is no longer on offer: choose another one."),
    LineProblem.TOO_MUCH: N_("This comes to more than can be ordered at once. Choose less."),
}
DELIVERY_PROBLEMS = {
    DeliveryProblem.GOODS: N_("Some of these products cannot be sent by e-mail."),
    DeliveryProblem.COUNTRY: N_("Your order cannot be delivered to this country."),
    DeliveryProblem.WEIGHT: N_("Your order is too heavy for this delivery."),
    DeliveryProblem.TOO_MUCH: LINE_PROBLEMS[LineProblem.TOO_MUCH],
}
"""Why a delivery is not available."""
COUPON_PROBLEMS = {
    CodeProblem.NOT_FOR_THESE: N_("Not for what is in this order."),
    CodeProblem.OTHER_DELIVERY: N_("Not for the delivery that you have chosen."),
    CodeProblem.OTHER_EMAIL: N_("Not for the e-mail address that you have given."),
    CodeProblem.MINIMUM_PRICE: N_("Only for what costs %(amount)s or more."),
    CodeProblem.MINIMUM_BASKET: N_("From %(amount)s of products."),
    CodeProblem.MINIMUM_PAYMENT: N_("From %(amount)s left to pay for products."),
    CodeProblem.NOTHING_LEFT: N_("There is nothing left for it to take off."),
    CodeProblem.TOO_MUCH: N_("It would raise the value beyond what is possible."),
    CodeProblem.NOT_COMBINABLE: N_("Not together with another coupon. Remove the other one to use it."),
    CodeProblem.PAYS_NO_GIFT_CARDS: N_("Gift cards do not pay for gift cards."),
    CodeProblem.USED_WHOLE: N_("This gift card can only be used whole, and more is left on it than there is to pay."),
}
"""Why a coupon has no effect."""
FIXABLE_LINE_PROBLEMS = frozenset(
    {
        LineProblem.NOT_ENOUGH_STOCK,
        LineProblem.VARIANT_REQUIRED,
        LineProblem.UNKNOWN_VARIANT,
        LineProblem.ATTRIBUTE_REQUIRED,
        LineProblem.UNKNOWN_ATTRIBUTE_VALUE,
        LineProblem.TOO_MUCH,
    }
)
"""Problems that a customer can fix by another choice."""


class Tone(StrEnum):
    """The style of a message."""

    INFO = "info"
    WARNING = "warning"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class PageMessage:
    """A message with a title. `icon` defaults to that of the tone."""

    title: str
    text: str
    tone: Tone = Tone.WARNING
    icon: str = ""


NOTICES = {
    CheckoutNotice.CART_REPLACED: PageMessage(
        N_("Your basket has changed"),
        N_("The shop has updated it since you were last here. Please check your order again."),
        Tone.INFO,
    ),
    CheckoutNotice.PRICE_CHANGED: PageMessage(
        N_("A price has changed"),
        N_("This is what your order comes to now. Please check it before you pay."),
        Tone.INFO,
    ),
    CheckoutNotice.CODE_NO_LONGER_VALID: PageMessage(
        N_("A code can no longer be used"),
        N_("A coupon or gift card has expired or is used up, so we have taken it off your order."),
    ),
    CheckoutNotice.SHOP_CLOSED: PageMessage(
        N_("This shop is closed at the moment"),
        N_("You can still finish the payment that you have begun. Nothing else can be ordered."),
        Tone.INFO,
    ),
    CheckoutNotice.PAYMENT_DECLINED: PageMessage(
        N_("Your payment was declined"),
        N_("Your bank did not accept it, and nothing was charged. Please pay another way, or ask your bank."),
    ),
    CheckoutNotice.PAYMENT_OVER_LIMIT: PageMessage(
        N_("The amount is above your limit"),
        N_("Nothing was charged. Pay another way, or ask your bank to raise the limit and try again."),
    ),
    CheckoutNotice.CARD_NOT_VALID: PageMessage(
        N_("This card cannot be used"),
        N_("It may have expired, or a digit may be wrong. Nothing was charged: check the card, or use another one."),
    ),
    CheckoutNotice.PAYMENT_NOT_CONFIRMED: PageMessage(
        N_("Your bank could not be sure that it was you"),
        N_("The confirmation failed, and nothing was charged. Please try again, and have your phone at hand."),
    ),
    CheckoutNotice.PAYMENT_CANCELLED: PageMessage(
        N_("You left before paying"),
        N_("Nothing was charged. Your order is still here whenever you are ready."),
        Tone.INFO,
    ),
    CheckoutNotice.PAYMENT_EXPIRED: PageMessage(
        N_("The time to pay ran out"),
        N_("Nothing was charged. Your order is still here: you can try again."),
        Tone.INFO,
    ),
    CheckoutNotice.PAYMENT_FAILED: PageMessage(
        N_("The payment did not go through"),
        N_("Something went wrong at the payment service, and nothing was charged. Please try again."),
    ),
    CheckoutNotice.PAYMENT_REFUNDED: PageMessage(
        N_("Your payment is being refunded"),
        N_(
            "Part of your order was no longer available when your payment arrived. No order was made, and the whole "
            "amount goes back to you, usually within a few days."
        ),
    ),
}

REFUSALS = {
    "CHECKOUT_CHANGED": PageMessage(
        N_("Your order has changed since you saw it"),
        N_("A price or what is in stock is no longer the same, so nothing was charged. Please check your order again."),
    ),
    "PAYMENTS_NOT_ACTIVE": PageMessage(
        N_("This shop cannot take payments at the moment"),
        N_("Nothing was charged. Please contact the shop, or come back later."),
    ),
    "PROVIDER_FAILED": PageMessage(
        N_("The payment service did not respond"), N_("Nothing was charged. Please try again in a moment.")
    ),
    "PROVIDER_TIMED_OUT": PageMessage(
        N_("The payment service is slow to respond"),
        N_("You are never charged twice: please try again in a moment."),
    ),
    "UNAVAILABLE": PageMessage(
        N_("This took too long"), N_("Nothing was lost or charged. Please try again in a moment.")
    ),
}
"""Why a payment could not start, by error code."""
REFUSALS["OUT_OF_STOCK"] = REFUSALS["COUPON_USED_UP"] = REFUSALS["INSUFFICIENT_BALANCE"] = REFUSALS["CHECKOUT_CHANGED"]

ERRORS = {
    "REQUIRED": N_("Fill in this field."),
    "TOO_LONG": N_("Use at most %(limit)s characters."),
    "INVALID_EMAIL": N_("Enter an e-mail address like name@example.com."),
    "INVALID_PHONE": N_("Enter a phone number like +33 6 12 34 56 78."),
    "INVALID_POSTAL_CODE": N_("Enter a postal code of this country, like %(example)s."),
    "INVALID_VAT_ID": N_("Check this VAT number: enter it as on its invoices, like FR40303265045."),
    "NOT_DELIVERED": N_("This delivery does not go to this country. Choose another country or another delivery."),
    "CODE_NOT_USABLE": N_("This code cannot be used here. Check that it is typed correctly."),
    "UNKNOWN_CODE": N_(
        "This shop does not know this code. Check that it is typed correctly, and that it is of this shop."
    ),
    "MISTYPED_CODE": N_("This code has a typing mistake. Compare it with the one you have, character by character."),
    "TOO_MANY": N_("There is no room for more. Remove something first."),
    "TOO_MANY_REQUESTS": N_("Too many attempts. Wait a few minutes, then try again."),
    "QUANTITY": N_("Enter a quantity from 0 to 9999."),
    "OUT_OF_RANGE": N_("Enter a quantity from 0 to 9999."),
    "NOTHING_TO_ORDER": N_("Choose at least one product to continue."),
    "DELIVERY_REQUIRED": N_("Choose how you would like to receive your order."),
    "RECEPTION_REQUIRED": N_("Choose how it is received."),
    "DELIVERY_NOT_AVAILABLE": N_("This delivery is not available for your order. Choose another one."),
    "INVALID": N_("Check this field."),
    **{code: told.title for code, told in REFUSALS.items()},
}
"""Errors of a field, by error code."""

FIELD_ERRORS = {
    ("first_name", "REQUIRED"): N_("Enter your first name."),
    ("last_name", "REQUIRED"): N_("Enter your last name."),
    ("email", "REQUIRED"): N_("Enter your e-mail address: the shop reaches you there."),
    ("address_line_1", "REQUIRED"): N_("Enter a street and number."),
    ("postal_code", "REQUIRED"): N_("Enter a postal code."),
    ("city", "REQUIRED"): N_("Enter a town or city."),
    ("country", "REQUIRED"): N_("Choose a country."),
    ("country", "INVALID"): N_("Choose a country."),
    ("company_name", "REQUIRED"): N_("Enter the name of the company."),
    ("billing_line_1", "REQUIRED"): N_("Enter a street and number."),
    ("billing_postal_code", "REQUIRED"): N_("Enter a postal code."),
    ("billing_city", "REQUIRED"): N_("Enter a town or city."),
    ("billing_country", "REQUIRED"): N_("Choose a country."),
    ("billing_country", "INVALID"): N_("Choose a country."),
    ("code", "REQUIRED"): N_("Enter a code."),
    ("name", "REQUIRED"): N_("Enter your name."),
    ("lines", "REQUIRED"): N_("Choose what it is about."),
    ("lines", "OUT_OF_RANGE"): N_("Some of this can no longer be chosen. Please check it."),
    ("lines", "NOTHING_TO_REFUND"): N_("Nothing was paid for this: choose more."),
    ("lines", "REFUND_REQUESTED"): N_("You have asked for some of this already, and it waits for an answer."),
    ("number", "REQUIRED"): N_("Enter the number of your order."),
    ("number", "INVALID"): N_("Enter the number of your order, such as 1042."),
}
"""More specific texts for some fields."""


LIMITS = {**LENGTHS, "name": LONGEST_NAME, "reason": LONGEST_REASON}
"""The most characters of each field."""


def error_text(place: str, code: str, country: str = "") -> tuple[str, dict[str, object]]:
    """The error text of a field, and the values of its placeholders. `country` is that of the address on the page."""
    text = FIELD_ERRORS.get((place, code)) or ERRORS.get(code) or ERRORS["INVALID"]
    return text, {"limit": LIMITS.get(place, 0), "example": example_postal_code(country)}


REOPEN_ORDER = N_("Open my order again")
BACK = N_("Back to the shop")
FIND_ORDER = N_("Find your order")
START_LINK_TEXTS = {
    ShopKind.VOUCHERS: N_("See all experiences"),
    ShopKind.GIFT_CARDS: N_("Choose a gift card"),
    ShopKind.NETWORK: N_("See all gifts"),
}
"""The link to the start page of a section."""
ADD_LINE_TEXTS = {
    ShopKind.VOUCHERS: N_("Add an experience"),
    ShopKind.GIFT_CARDS: N_("Add a gift card"),
    ShopKind.NETWORK: N_("Add another gift"),
}
"""The button in the basket that leads to a section."""
OCCASION_NAMES = {
    GiftOccasion.BIRTHDAY: N_("Birthday"),
    GiftOccasion.CHRISTMAS: N_("Christmas and New Year"),
    GiftOccasion.WEDDING: N_("Wedding"),
    GiftOccasion.ANNIVERSARY: N_("Wedding anniversary"),
    GiftOccasion.BIRTH: N_("Birth of a child"),
    GiftOccasion.VALENTINES_DAY: N_("Valentine’s Day"),
    GiftOccasion.MOTHERS_DAY: N_("Mother’s Day"),
    GiftOccasion.FATHERS_DAY: N_("Father’s Day"),
    GiftOccasion.THANK_YOU: N_("To say thank you"),
    GiftOccasion.CONGRATULATIONS: N_("Congratulations"),
}

SORT_LABELS = {
    CatalogueSort.FEATURED: N_("Our choice first"),
    CatalogueSort.CHEAPEST: N_("Lowest price first"),
    CatalogueSort.MOST_EXPENSIVE: N_("Highest price first"),
    CatalogueSort.NEWEST: N_("Newest first"),
}
"""The sort orders of the catalogue page."""


class ErrorPage(StrEnum):
    """Pages that show only a message."""

    CART_EXPIRED = "gone"
    BASKET_EXPIRED = "bag_gone"
    ORDERED = "ordered"
    NO_SHOP = "no_shop"
    NOT_FOUND = "not_found"
    NOT_SOLD = "not_sold"
    GIFT_CARDS_NOT_SOLD = "closed"
    SHOP_CLOSED = "shop_closed"
    OTHER_BROWSER = "other_browser"
    CSRF_FAILED = "foreign_form"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    UNAVAILABLE = "unavailable"
    INTERNAL_ERROR = "broken"


ERROR_PAGES = {
    ErrorPage.CART_EXPIRED: PageMessage(
        N_("This basket has expired"),
        N_("Baskets are kept for two hours. Go back to the shop to fill a new one: it only takes a moment."),
        Tone.INFO,
        "clock",
    ),
    ErrorPage.BASKET_EXPIRED: PageMessage(
        N_("This basket has expired"),
        N_("What you choose here is kept for a day. Have a look at what we offer."),
        Tone.INFO,
        "clock",
    ),
    ErrorPage.ORDERED: PageMessage(
        N_("This order is complete"),
        N_("It is paid and confirmed. The confirmation by e-mail has a link to the page of the order."),
        Tone.GOOD,
    ),
    ErrorPage.NO_SHOP: PageMessage(
        N_("There is no shop here"), N_("Check the address, or go back to where you came from.")
    ),
    ErrorPage.NOT_FOUND: PageMessage(
        N_("This page does not exist"), N_("The link may be old or incomplete. Your basket is not affected.")
    ),
    ErrorPage.NOT_SOLD: PageMessage(
        N_("This experience is no longer on sale"),
        N_("It may be back one day. Until then there are others: have a look."),
        Tone.INFO,
    ),
    ErrorPage.GIFT_CARDS_NOT_SOLD: PageMessage(
        N_("There are no gift cards on sale at the moment"),
        N_(
            "Those that were bought can be used as before. What you had chosen is kept for a day, in case they are back."
        ),
        Tone.INFO,
        "gift",
    ),
    ErrorPage.SHOP_CLOSED: PageMessage(
        N_("This shop is closed at the moment"),
        N_("Nothing can be ordered here for now. What was bought before can be used as usual."),
        Tone.INFO,
    ),
    ErrorPage.OTHER_BROWSER: PageMessage(
        N_("This payment belongs to another browser"),
        N_(
            "If you have just paid, all is well: your order is made without this page. The confirmation by e-mail has a "
            "link to it."
        ),
        Tone.INFO,
    ),
    ErrorPage.CSRF_FAILED: PageMessage(
        N_("This page was open for too long"), N_("Nothing was changed or charged. Please open your order again.")
    ),
    ErrorPage.TOO_LARGE: PageMessage(
        N_("That was too much at once"), N_("Nothing was changed. Please go back and send less.")
    ),
    ErrorPage.TOO_MANY: PageMessage(
        N_("Too many attempts"), N_("Wait a few minutes, then try again. Your order is kept meanwhile.")
    ),
    ErrorPage.UNAVAILABLE: PageMessage(
        N_("We will be right back"), N_("This page cannot be shown at the moment. Please try again in a minute.")
    ),
    ErrorPage.INTERNAL_ERROR: PageMessage(
        N_("Something went wrong on our side"), N_("Nothing was charged twice. Please try again, or contact the shop.")
    ),
}

TRY_AGAIN = N_("Try again")

PUBLIC_ERROR_PAGES = {
    ErrorPage.NOT_FOUND: PageMessage(
        N_("This link does not work"),
        N_(
            "It may be incomplete, or it was replaced by a newer one. Open it again exactly as you received it. If that "
            "does not help, ask whoever sent it to you for a new one: usually the platform that your shop sells on."
        ),
    ),
    ErrorPage.CSRF_FAILED: PageMessage(
        N_("This page was open for too long"), N_("Nothing was changed. Please open it again.")
    ),
    ErrorPage.TOO_LARGE: ERROR_PAGES[ErrorPage.TOO_LARGE],
    ErrorPage.TOO_MANY: PageMessage(
        N_("Too many attempts"), N_("Wait a few minutes, then try again. Nothing is lost.")
    ),
    ErrorPage.UNAVAILABLE: ERROR_PAGES[ErrorPage.UNAVAILABLE],
    ErrorPage.INTERNAL_ERROR: PageMessage(
        N_("Something went wrong on our side"), N_("Nothing is lost. Please try again in a few minutes.")
    ),
}
"""Variants for pages that are opened by their own link, such as the onboarding page."""
