"""Pay-ins with a card in Apple Pay or Google Pay, whose token the browser handed over.

The sandbox can read its own tokens alone: JSON with the number of a test card as `sandboxCard`, and the `authMethod` with
which Google tells whether the card is on this device. Any other token stands for a card that is charged at once.
"""

import dataclasses
import json
from collections.abc import Mapping
from functools import partial
from typing import Annotated

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, payins, registered_cards
from coffret.sandbox.payments.browser import BrowserFields
from coffret.sandbox.payments.cards import BY_NUMBER, CARDS, Card, Trouble
from coffret.sandbox.payments.payins import Culture, NewPayIn
from coffret.sandbox.wire.bodies import Body, Text, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint

BY_TOKEN: Mapping[str, str] = {"applepay": "APPLEPAY", "googlepay": "GOOGLEPAY"}
"""The methods at `/payins/{method}/direct`, with their `PaymentType`."""
CHARGED_AT_ONCE = CARDS[0]
ON_FILE = "PAN_ONLY"
"""Google's name for a card that is not on the device, so that its bank asks the buyer to confirm."""
GOOGLE = ("SecureModeReturnURL", "IpAddress", "BrowserInfo", "ReturnURL")


class PaymentToken(Body):
    """The token of a card in Apple Pay."""

    transaction_id: Text
    network: Text
    token_data: Annotated[str, Field(min_length=1)]


class NewTokenPayIn(NewPayIn):
    """The body of POST /payins/{method}/direct."""

    payment_data: PaymentToken
    culture: Culture | None = None


class NewGooglePayIn(BrowserFields, NewPayIn):
    """The body of POST /payins/payment-methods/googlepay."""

    payment_data: Annotated[str, Field(min_length=1)]
    return_url: Annotated[Url | None, Field(alias="ReturnURL")] = None


def create(session: SandboxSession, call: HttpCall, payment_type: str) -> Json:
    """POST /payins/{method}/direct: the buyer confirmed on the device, so no bank asks"""
    body = call.json(NewTokenPayIn)
    card = dataclasses.replace(card_of(body.payment_data.token_data), challenge=False)
    fields = {"PaymentType": payment_type, "ExecutionType": "DIRECT", **body.own_fields("Culture")}
    return charge(session, call, body, card, fields, session.secret())


def create_google(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/payment-methods/googlepay: the bank may ask the buyer to confirm on a page of its own"""
    body, token = call.json(NewGooglePayIn), session.secret()
    card = card_of(body.payment_data)
    challenge = card.challenge or body.secure_mode == "FORCE" or _field(body.payment_data, "authMethod") == ON_FILE
    page = f"{session.settings.root}/pay/{token}/challenge" if challenge else None
    fields = {
        "PaymentType": "GOOGLE_PAY",
        "ExecutionType": "DIRECT",
        **body.own_fields(*GOOGLE),
        **registered_cards.secured(card, page),
    }
    return charge(session, call, body, dataclasses.replace(card, challenge=challenge), fields, token)


def charge(session: SandboxSession, call: HttpCall, body: NewPayIn, card: Card, fields: Json, token: str) -> Json:
    """Charge the card of a token, or wait until its bank has asked the buyer on the page with this `token`."""
    id = payins.create(session, body, fields)
    checkout.open_page(session, id, token)
    if not payins.refuse(session, id, body, call.fail_with):
        # The page's disturbances are of no use here: no browser is waiting.
        checkout.submit(session, id, dataclasses.replace(card, trouble=Trouble.NONE))
    return movements.read(session, id)


def card_of(token: str) -> Card:
    """The test card of a token; one that is charged at once for a token that cannot be read."""
    return BY_NUMBER.get(_field(token, "sandboxCard"), CHARGED_AT_ONCE)


def _field(token: str, name: str) -> str:
    """A field of a token that is JSON; empty if it has none."""
    try:
        read = json.loads(token)
    except ValueError:
        return ""
    found = read.get(name, "") if isinstance(read, dict) else ""
    return found if isinstance(found, str) else ""


ENDPOINTS = (
    WireEndpoint("POST", "/payins/payment-methods/googlepay", create_google),
    *(
        WireEndpoint("POST", f"/payins/{method}/direct", partial(create, payment_type=payment_type))
        for method, payment_type in BY_TOKEN.items()
    ),
)
