"""Pay-ins with other methods than cards: the buyer confirms or refuses on the method's page, which stands for all.

Buyers of methods without a return URL confirm in an application on their phone; the control plane stands for that.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, payins
from coffret.sandbox.payments.browser import BrowserInfo
from coffret.sandbox.payments.payins import Culture, NewPayIn
from coffret.sandbox.wire.bodies import Body, Country, Email, Flag, Text, Url
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


OWN = tuple(
    str(field.alias) for name, field in NewMethodPayIn.model_fields.items() if name not in NewPayIn.model_fields
)


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/payment-methods/{method}"""
    method = call.path["method"].lower()
    if method not in METHODS:
        raise NotModelled(f"The sandbox does not model the payment method {call.path['method']}.")
    body, token = call.json(NewMethodPayIn), session.secret()
    if body.return_url is None and not (method in BY_PHONE and body.phone):
        raise ParamError({"ReturnURL": "The ReturnURL field is required."})
    id = payins.create(session, body, part(session, METHODS[method], body, token))
    checkout.open_page(session, id, token)
    if not payins.refuse(session, id, body, call.fail_with):
        checkout.move(session, id, checkout.HostedPaymentStage.CARD, checkout.HostedPaymentStage.CHALLENGE)
    return movements.present(movements.find(session, id))


def part(session: SandboxSession, payment_type: str, body: NewMethodPayIn, token: str) -> dict[str, Any]:
    """The fields of the pay-in beyond those of every movement. The provider leaves out those that have no value."""
    page = f"{session.settings.root}/pay/{token}/challenge"
    fields = {**body.own_fields(*OWN), "RedirectURL": page if body.return_url else None}
    given = {name: value for name, value in fields.items() if value is not None}
    return {"PaymentType": payment_type, "ExecutionType": "WEB", **given}


ENDPOINTS = (WireEndpoint("POST", "/payins/payment-methods/{method}", create),)
