"""Pay-ins with a registered card. If the bank asks for a challenge, the buyer answers it on the hosted page."""

import dataclasses
from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, payins, registered_cards
from coffret.sandbox.payments.browser import BrowserFields
from coffret.sandbox.payments.cards import BY_NUMBER, Card, Trouble
from coffret.sandbox.payments.payins import Culture, NewPayIn
from coffret.sandbox.wire.bodies import Id
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint

OWN = (
    "CardId",
    "Culture",
    "SecureModeReturnURL",
    "IpAddress",
    "BrowserInfo",
    "PaymentCategory",
    "PreferredCardNetwork",
    "Requested3DSVersion",
)


class NewDirectPayIn(BrowserFields, NewPayIn):
    """The body of POST /payins/card/direct."""

    card_id: Id
    culture: Culture | None = None
    requested_3ds_version: Annotated[Literal["V1", "V2_1"] | None, Field(alias="Requested3DSVersion")] = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/card/direct"""
    return charge(session, call, call.json(NewDirectPayIn), {})


def charge(session: SandboxSession, call: HttpCall, body: NewDirectPayIn, more: Json) -> Json:
    """Charge a registered card whose holder is present. `more` are further fields of the pay-in."""
    token = session.secret()
    registered = registered_cards.require_own_card(session, body.card_id, body.author_id)
    # The page's disturbances are of no use here: no browser is waiting.
    card = dataclasses.replace(BY_NUMBER[registered["number"]], trouble=Trouble.NONE)
    challenge = card.challenge or body.secure_mode == "FORCE"
    id = payins.create(session, body, {**part(session, body, card, token, challenge=challenge), **more})
    checkout.open_page(session, id, token)
    if not payins.refuse(session, id, body, call.fail_with or registered_cards.unusable(registered)):
        checkout.submit(session, id, card, force_challenge=challenge)
    return movements.read(session, id)


def part(session: SandboxSession, body: NewDirectPayIn, card: Card, token: str, *, challenge: bool) -> Json:
    """The fields of a direct pay-in beyond those of every movement."""
    page = f"{session.settings.root}/pay/{token}/challenge" if challenge else None
    return {
        "PaymentType": "CARD",
        "ExecutionType": "DIRECT",
        **body.own_fields(*OWN),
        **registered_cards.secured(card, page),
    }


ENDPOINTS = (WireEndpoint("POST", "/payins/card/direct", create),)
