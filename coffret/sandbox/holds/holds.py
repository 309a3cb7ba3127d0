"""Authorisations of cards: an amount that the bank holds for seven days (preauthorisation) or thirty (deposit).

No money moves until a pay-in captures it. The bank decides as for a pay-in with the card.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, registered_cards, results
from coffret.sandbox.payments.browser import BrowserFields
from coffret.sandbox.payments.cards import BY_NUMBER
from coffret.sandbox.payments.payins import Addressee, Culture
from coffret.sandbox.resources import Collection
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Flag, Id, PositiveMoney, Tag, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import NotModelled, ParamError

WAITING, VALIDATED, CANCELED, EXPIRED = "WAITING", "VALIDATED", "CANCELED", "EXPIRED"
TO_BE_COMPLETED, NO_SHOW = "TO_BE_COMPLETED", "NO_SHOW"
DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class HoldKind:
    """A kind of authorisation. `own` are the fields that only this kind has; `changes` what a PUT makes of its status."""

    collection: Collection
    field: str
    event: str
    lasts: int
    own: Mapping[str, object]
    changes: Mapping[str, str]


PREAUTHORIZATION = HoldKind(
    Collection("preauthorizations", "preauth_m_"),
    "PreauthorizationId",
    "PREAUTHORIZATION",
    7 * DAY,
    {"PayInId": None},
    {CANCELED: CANCELED},
)
DEPOSIT = HoldKind(
    Collection("deposit-preauthorizations", "deposit_m_"),
    "DepositId",
    "DEPOSIT_PREAUTHORIZATION",
    30 * DAY,
    {"PayinsLinked": {"PayinCaptureId": None, "PayinComplementId": None}},
    {CANCELED: CANCELED, "NO_SHOW_REQUESTED": NO_SHOW},
)
KINDS = (PREAUTHORIZATION, DEPOSIT)


class NewHold(BrowserFields):
    """The body of POST /preauthorizations/card/direct and /deposit-preauthorizations/card/direct."""

    author_id: Id
    card_id: Id
    debited_funds: PositiveMoney
    culture: Culture | None = None
    statement_descriptor: Annotated[str, Field(pattern="^[A-Za-z0-9 ]{0,10}$")] | None = None
    billing: Addressee | None = None
    shipping: Addressee | None = None
    multi_capture: Flag | None = None
    requested_3ds_version: Annotated[Literal["V1", "V2_1"] | None, Field(alias="Requested3DSVersion")] = None
    tag: Tag | None = None


class ChangedHold(Body):
    """The body of PUT /preauthorizations/{id} and /deposit-preauthorizations/{id}."""

    payment_status: Text
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall, kind: HoldKind) -> Json:
    """POST /{kind}/card/direct"""
    body = call.json(NewHold)
    users.require_user_name(session, "AuthorId", body.author_id)
    registered = registered_cards.require_own_card(session, body.card_id, body.author_id)
    card = BY_NUMBER[registered["number"]]
    if card.challenge or body.secure_mode == "FORCE":
        raise NotModelled("The sandbox does not model the authorisation of a card whose bank asks for a challenge.")
    code = call.fail_with or registered_cards.unusable(registered) or card.result
    succeeded = code == results.SUCCESS
    expires = session.now + kind.lasts
    hold = kind.collection.add(
        session,
        {
            **body.to_wire(),
            "RemainingFunds": body.debited_funds.to_wire(),
            "AuthorizationDate": int(session.now) if succeeded else None,
            "ExpirationDate": int(expires) if succeeded else None,
            "Status": "SUCCEEDED" if succeeded else "FAILED",
            "PaymentStatus": WAITING if succeeded else "FAILED",
            "ResultCode": code,
            "ResultMessage": results.message(code),
            "PaymentType": "CARD",
            "ExecutionType": "DIRECT",
            **registered_cards.secured(card),
            **kind.own,
        },
        due_at=expires if succeeded else None,
    )
    registered_cards.note_validity(session, body.card_id, code)
    events.emit(session, f"{kind.event}_CREATED", hold["Id"])
    events.emit(session, f"{kind.event}_{'PAYMENT_WAITING' if succeeded else 'FAILED'}", hold["Id"])
    return hold


def change(session: SandboxSession, call: HttpCall, kind: HoldKind) -> Json:
    """PUT /{kind}/{id}: cancels the rest, or tells that the payer of a deposit did not show up"""
    hold, body = kind.collection.find(session, call.path["id"]), call.json(ChangedHold)
    if body.payment_status not in kind.changes:
        raise ParamError({"PaymentStatus": f"The PaymentStatus must be {' or '.join(kind.changes)}."})
    if hold["PaymentStatus"] != WAITING:
        raise ParamError({"PaymentStatus": f"The PaymentStatus is {hold['PaymentStatus']} and can't be changed."})
    if body.tag is not None:
        kind.collection.change(session, hold["Id"], {"Tag": body.tag})
    return conclude(session, kind, hold["Id"], kind.changes[body.payment_status])


def conclude(session: SandboxSession, kind: HoldKind, id: str, status: str, **changes: object) -> Json:
    """Give a hold another payment status. It keeps its deadline only if something may still be captured."""
    if status not in {WAITING, TO_BE_COMPLETED, NO_SHOW}:
        kind.collection.await_end(session, id, None)
    hold = kind.collection.change(session, id, {"PaymentStatus": status, **changes})
    if status != WAITING:
        events.emit(session, f"{kind.event}_PAYMENT_{status}", id)
    return hold


def settle_due(session: SandboxSession) -> None:
    """Expire holds that nothing captured in time."""
    for kind in KINDS:
        for hold in kind.collection.due(session):
            conclude(session, kind, hold["Id"], EXPIRED if hold["PaymentStatus"] == WAITING else VALIDATED)


def list_of_user(session: SandboxSession, call: HttpCall, kind: HoldKind) -> WirePage:
    """GET /users/{id}/{kind}"""
    return kind.collection.page(session, call, AuthorId=users.find(session, call.path["id"])["id"])


def list_of_card(session: SandboxSession, call: HttpCall, kind: HoldKind) -> WirePage:
    """GET /cards/{id}/{kind}"""
    return kind.collection.page(session, call, CardId=registered_cards.find(session, call.path["id"])["id"])


def transactions(session: SandboxSession, call: HttpCall, kind: HoldKind) -> WirePage:
    """GET /{kind}/{id}/transactions: the pay-ins that captured it"""
    id = kind.collection.find(session, call.path["id"])["Id"]
    return movements.listing(session, call, "json_extract(body, '$.' || ?) = ?", kind.field, id)


def endpoints(kind: HoldKind) -> tuple[WireEndpoint, ...]:
    """The calls of a kind of hold."""
    path = kind.collection.kind
    return (
        WireEndpoint("POST", f"/{path}/card/direct", partial(create, kind=kind)),
        WireEndpoint("GET", f"/{path}/{{id}}", kind.collection.read),
        WireEndpoint("PUT", f"/{path}/{{id}}", partial(change, kind=kind)),
        WireEndpoint("GET", f"/{path}/{{id}}/transactions", partial(transactions, kind=kind)),
        WireEndpoint("GET", f"/users/{{id}}/{path}", partial(list_of_user, kind=kind)),
        WireEndpoint("GET", f"/cards/{{id}}/{path}", partial(list_of_card, kind=kind)),
    )


ENDPOINTS = tuple(endpoint for kind in KINDS for endpoint in endpoints(kind))
