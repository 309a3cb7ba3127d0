"""Pay-ins with other methods than cards: the buyer confirms or refuses on the method's page, which stands for all.

Buyers of methods without a return URL confirm in an application on their phone; the control plane stands for that.
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, payins
from coffret.sandbox.payments.browser import BrowserInfo
from coffret.sandbox.payments.checkout import HostedPaymentStage
from coffret.sandbox.payments.payins import Culture, NewPayIn
from coffret.sandbox.wire.bodies import AddressBody, Body, Country, Email, Flag, Text, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import NotModelled, ParamError

METHODS: Mapping[str, str] = {
    "bancontact": "BCMC",
    "bizum": "BIZUM",
    "blik": "BLIK",
    "giropay": "GIROPAY",
    "ideal": "IDEAL",
    "klarna": "KLARNA",
    "mbway": "MBWAY",
    "multibanco": "MULTIBANCO",
    "openbanking": "PAY_BY_BANK",
    "payconiq": "PAYCONIQ",
    "paypal": "PAYPAL",
    "satispay": "SATISPAY",
    "swish": "SWISH",
    "twint": "TWINT",
}
"""The `PaymentType` of each method."""
OLDER: Mapping[str, str] = {"paypal": "PAYPAL", "payconiq": "PAYCONIQ", "directdebit": "DIRECT_DEBIT"}
"""The methods that older integrations use at `/payins/{method}/web`, with their `PaymentType`."""
OPEN_FOR: Mapping[str, int] = {"BCMC": 3600, "IDEAL": 1800}
"""Lifetimes of pages in seconds, by type, if they differ from that of the card's page."""
CULTURES: Mapping[str, tuple[str, ...]] = {"BCMC": ("DE", "EN", "FR", "NL")}
"""The languages of pages that have fewer than that of the card."""
BY_CODE = ("PAYCONIQ",)
"""Types whose application opens by a code or a link."""
TOLD_ALWAYS: Mapping[str, tuple[str, ...]] = {
    "BIZUM": ("Phone",),
    "BLIK": ("Code", "IpAddress", "BrowserInfo"),
    "MBWAY": ("Phone",),
}
"""Fields that the provider tells also without a value, by type."""
BY_PHONE = ("bizum", "mbway")
"""Methods that need a phone number unless there is a return URL."""


class LineItem(Body):
    """One line of the order, with amounts in the currency's smallest unit."""

    name: Text
    quantity: Annotated[int, Field(ge=1)]
    unit_amount: Annotated[int, Field(ge=0)]
    tax_amount: Annotated[int, Field(ge=0)] | None = None
    description: str | None = None
    category: str | None = None
    sku: Annotated[str | None, Field(alias="Sku")] = None
    discount: Annotated[int, Field(ge=0)] | None = None


class ParcelRecipient(Body):
    """The recipient of a parcel, as PayPal wants it."""

    recipient_name: Text | None = None
    address: AddressBody | None = None


class NewMethodPayIn(NewPayIn):
    """The body of POST /payins/payment-methods/{method}."""

    any_case = frozenset({"BIC"})

    return_url: Annotated[Url | None, Field(alias="ReturnURL")] = None
    cancel_url: Annotated[Url | None, Field(alias="CancelURL")] = None
    culture: Culture | None = None
    country: Country | None = None
    phone: Text | None = None
    email: Email | None = None
    code: Text | None = None
    ip_address: Text | None = None
    browser_info: BrowserInfo | None = None
    bic: Annotated[Text | None, Field(alias="BIC")] = None
    iban: Annotated[Text | None, Field(alias="IBAN")] = None
    scheme: Text | None = None
    bank_name: Text | None = None
    payment_flow: Text | None = None
    line_items: list[LineItem] | None = None
    reference: Text | None = None
    additional_data: str | None = None
    shipping_preference: Text | None = None
    recurring: Flag | None = None
    direct_debit_type: Text | None = None
    shipping_address: ParcelRecipient | None = None
    data_collection_id: Text | None = None


OWN = tuple(
    str(field.alias) for name, field in NewMethodPayIn.model_fields.items() if name not in NewPayIn.model_fields
)


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/payment-methods/{method}"""
    return pay_by(session, call, known_method(call), call.json(NewMethodPayIn), {})


def create_older(session: SandboxSession, call: HttpCall, payment_type: str) -> Json:
    """POST /payins/{method}/web: the address of some methods before the others were added"""
    return open_page(session, call, payment_type, call.json(NewMethodPayIn), {})


def known_method(call: HttpCall) -> str:
    """The method in the path. Raises NotModelled."""
    method = call.path["method"].lower()
    if method not in METHODS:
        raise NotModelled(f"The sandbox does not model the payment method {call.path['method']}.")
    return method


def pay_by(session: SandboxSession, call: HttpCall, method: str, body: NewMethodPayIn, more: Json) -> Json:
    """Create a pay-in with a method, which the buyer confirms. `more` are further fields of the pay-in."""
    if body.return_url is None and not (method in BY_PHONE and body.phone):
        raise ParamError({"ReturnURL": "The ReturnURL field is required."})
    languages = CULTURES.get(METHODS[method])
    if languages and body.culture is not None and body.culture not in languages:
        raise ParamError({"Culture": f"The Culture must be one of {', '.join(languages)}."})
    return open_page(session, call, METHODS[method], body, more)


def open_page(session: SandboxSession, call: HttpCall, payment_type: str, body: NewMethodPayIn, more: Json) -> Json:
    """Create a pay-in and the page that its buyer confirms it on."""
    token = session.secret()
    id = payins.create(session, body, {**part(session, payment_type, body, token), **more})
    lifetime = OPEN_FOR.get(payment_type, checkout.OPEN_FOR)
    checkout.open_page(session, id, token, HostedPaymentStage.CHALLENGE, lifetime)
    payins.refuse(session, id, body, call.fail_with)
    return movements.read(session, id)


def part(session: SandboxSession, payment_type: str, body: NewMethodPayIn, token: str) -> Json:
    """The fields of the pay-in beyond those of every movement. The provider leaves out those that have no value."""
    page = f"{session.settings.root}/pay/{token}/challenge" if body.return_url else None
    codes = {"QRCodeURL": page, "DeepLinkURL": page} if payment_type in BY_CODE else {}
    fields = {**body.own_fields(*OWN), "RedirectURL": page, **codes}
    always = TOLD_ALWAYS.get(payment_type, ())
    given = {name: value for name, value in fields.items() if value is not None or name in always}
    return {"PaymentType": payment_type, "ExecutionType": "WEB", **given}


ENDPOINTS = (
    WireEndpoint("POST", "/payins/payment-methods/{method}", create),
    *(
        WireEndpoint("POST", f"/payins/{method}/web", partial(create_older, payment_type=payment_type))
        for method, payment_type in OLDER.items()
    ),
)
