"""Pay-ins that capture what a card's bank holds: at once or in parts, and for a deposit with a complement later."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.holds import holds
from coffret.sandbox.holds.holds import (
    DEPOSIT,
    NO_SHOW,
    PREAUTHORIZATION,
    TO_BE_COMPLETED,
    VALIDATED,
    WAITING,
    HoldKind,
)
from coffret.sandbox.payments import movements, payins
from coffret.sandbox.payments.payins import Culture, NewPayIn
from coffret.sandbox.wire.bodies import Id, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

CARD_FIELDS = ("CardInfo", "SecurityInfo", "Applied3DSVersion", "SecureModeNeeded", "SecureModeRedirectURL")


class NewCapture(NewPayIn):
    """The fields of every capture."""

    culture: Culture | None = None
    secure_mode_return_url: Annotated[Url | None, Field(alias="SecureModeReturnURL")] = None


class PreauthorizedCapture(NewCapture):
    """The body of POST /payins/preauthorized/direct."""

    preauthorization_id: Id


class DepositCapture(NewCapture):
    """The body of POST /payins/deposit-preauthorized/direct/…"""

    deposit_id: Id


def capture_preauthorization(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/preauthorized/direct: several times with `MultiCapture`, until nothing remains"""
    body = call.json(PreauthorizedCapture)
    hold = usable(session, PREAUTHORIZATION, body.preauthorization_id, body, (WAITING,))
    payin = create(session, call, PREAUTHORIZATION, hold, body)
    left = remaining(session, PREAUTHORIZATION, hold)
    if payin["Status"] == "SUCCEEDED":
        status = WAITING if hold["MultiCapture"] and left["Amount"] else VALIDATED
        holds.conclude(session, PREAUTHORIZATION, hold["Id"], status, RemainingFunds=left, PayInId=payin["Id"])
    return payin


def capture_deposit(
    session: SandboxSession, call: HttpCall, before: Sequence[str], after: str, link: str = "PayinCaptureId"
) -> Json:
    """Capture a deposit that has one of the statuses `before`, and give it the status `after`."""
    body = call.json(DepositCapture)
    hold = usable(session, DEPOSIT, body.deposit_id, body, before)
    payin = create(session, call, DEPOSIT, hold, body)
    if payin["Status"] == "SUCCEEDED":
        links = {**hold["PayinsLinked"], link: payin["Id"]}
        left = remaining(session, DEPOSIT, hold)
        holds.conclude(session, DEPOSIT, hold["Id"], after, PayinsLinked=links, RemainingFunds=left)
    return payin


def capture_fully(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/deposit-preauthorized/direct/full-capture"""
    return capture_deposit(session, call, (WAITING,), VALIDATED)


def capture_before_complement(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/deposit-preauthorized/direct/capture-with-complement"""
    return capture_deposit(session, call, (WAITING,), TO_BE_COMPLETED)


def capture_complement(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/deposit-preauthorized/direct/complement: after a first capture, or if the payer did not show up"""
    return capture_deposit(session, call, (TO_BE_COMPLETED, NO_SHOW), VALIDATED, "PayinComplementId")


def usable(session: SandboxSession, kind: HoldKind, id: str, body: NewCapture, before: Sequence[str]) -> Json:
    """The hold that a body refers to. Raises ParamError unless it may be captured for this author and amount."""
    hold = kind.collection.require(session, kind.field, id)
    left = remaining(session, kind, hold)
    if hold["PaymentStatus"] not in before:
        raise ParamError({kind.field: f"The PaymentStatus is {hold['PaymentStatus']}: it can't be captured."})
    if hold["AuthorId"] != body.author_id:
        raise ParamError({"AuthorId": f"The AuthorId must be the author of the {kind.field}."})
    if body.debited_funds.currency != left["Currency"]:
        raise ParamError({"DebitedFunds.Currency": f"The funds are held in {left['Currency']}."})
    if body.debited_funds.amount > left["Amount"]:
        raise ParamError({"DebitedFunds.Amount": f"Only {left['Amount']} are left to capture."})
    return hold


def remaining(session: SandboxSession, kind: HoldKind, hold: Json) -> Json:
    """What may still be captured."""
    captured = session.integer(
        "SELECT sum(debited) FROM movement WHERE json_extract(body, '$.' || ?) = ? AND status = 'SUCCEEDED'",
        kind.field,
        hold["Id"],
    )
    return {**hold["DebitedFunds"], "Amount": hold["DebitedFunds"]["Amount"] - captured}


def create(session: SandboxSession, call: HttpCall, kind: HoldKind, hold: Json, body: NewCapture) -> Json:
    """Create the pay-in, which ends at once."""
    part = {
        "PaymentType": "PREAUTHORIZED",
        "ExecutionType": "DIRECT",
        **body.own_fields("Culture", "SecureModeReturnURL"),
        kind.field: hold["Id"],
        **{name: hold[name] for name in CARD_FIELDS},
    }
    id = payins.create(session, body, part)
    payins.settle(session, id, body, call.fail_with)
    return movements.read(session, id)


DEPOSITS = "/payins/deposit-preauthorized/direct"
ENDPOINTS = (
    WireEndpoint("POST", "/payins/preauthorized/direct", capture_preauthorization),
    WireEndpoint("POST", f"{DEPOSITS}/full-capture", capture_fully),
    WireEndpoint("POST", f"{DEPOSITS}/capture-with-complement", capture_before_complement),
    WireEndpoint("POST", f"{DEPOSITS}/complement", capture_complement),
)
