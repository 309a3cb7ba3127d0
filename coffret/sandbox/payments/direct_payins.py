"""Pay-ins with a registered card. If the bank asks for a challenge, the buyer answers it on the hosted page."""

import dataclasses
import sqlite3
from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, payins, registered_cards, results
from coffret.sandbox.payments.browser import BrowserFields
from coffret.sandbox.payments.cards import BY_NUMBER, Card, Trouble
from coffret.sandbox.payments.payins import Culture, NewPayIn
from coffret.sandbox.wire.bodies import Id
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

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
    body, token = call.json(NewDirectPayIn), session.secret()
    registered = registered_cards.require_card(session, "CardId", body.card_id)
    if registered["user_id"] != body.author_id:
        raise ParamError({"CardId": "The card belongs to another user than the AuthorId."})
    # The page's disturbances are of no use here: no browser is waiting.
    card = dataclasses.replace(BY_NUMBER[registered["number"]], trouble=Trouble.NONE)
    challenge = card.challenge or body.secure_mode == "FORCE"
    id = payins.create(session, body, part(session, body, card, token, challenge=challenge))
    checkout.open_page(session, id, token)
    if not payins.refuse(session, id, body, call.fail_with or unusable(registered)):
        checkout.submit(session, id, card, force_challenge=challenge)
    return movements.present(movements.find(session, id))


def part(session: SandboxSession, body: NewDirectPayIn, card: Card, token: str, *, challenge: bool) -> Json:
    """The fields of a direct pay-in beyond those of every movement."""
    return {
        "PaymentType": "CARD",
        "ExecutionType": "DIRECT",
        **body.own_fields(*OWN),
        "SecureModeNeeded": challenge,
        "SecureModeRedirectURL": f"{session.settings.root}/pay/{token}/challenge" if challenge else None,
        "Applied3DSVersion": "V2_1",
        "SecurityInfo": {"AVSResult": "NO_CHECK"},
        "CardInfo": registered_cards.info(card),
    }


def unusable(registered: sqlite3.Row) -> str | None:
    """The code with which a card fails that was deactivated; None for others."""
    return None if registered["active"] else results.CARD_INACTIVE


ENDPOINTS = (WireEndpoint("POST", "/payins/card/direct", create),)
