"""Settlement files of another provider: sent with the call, or to an address of their own. The sandbox reads and keeps
none of them.
"""

from typing import Any

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.intents.intents import PATH
from coffret.sandbox.resources import Collection
from coffret.sandbox.wire.bodies import Body, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

SETTLEMENTS = Collection("payins/intents/settlements", "settl_", "SettlementId")
ADDRESSES = Collection("uploads", "")
AWAITED, UPLOADED, CANCELLED = "PENDING_UPLOAD", "UPLOADED", "CANCELLED"
AMOUNTS = ("DeclaredIntentAmount", "ExternalProcessorFeesAmount", "ActualSettlementAmount", "FundsMissingAmount")


class NewFile(Body):
    """The body that asks for an address to send a file to."""

    file_name: Text


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/intents/settlements: with the file, or with its name alone"""
    unknown = dict.fromkeys(("SettlementDate", "ExternalProviderName", *AMOUNTS))
    told = SETTLEMENTS.add(session, {**unknown, "Status": AWAITED, "UploadUrl": None})
    return receive(session, call, told["SettlementId"])


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /payins/intents/settlements/{id}: a new file, or a new address for one"""
    settlement = SETTLEMENTS.read(session, call)
    refuse_cancelled(settlement)
    return receive(session, call, settlement["SettlementId"])


def refuse_cancelled(settlement: Json) -> None:
    """Raise ParamError for a settlement that was cancelled."""
    if settlement["Status"] == CANCELLED:
        raise ParamError({"Status": "The settlement is CANCELLED."})


def receive(session: SandboxSession, call: HttpCall, id: str) -> Json:
    """Take the file of a call, or open an address for it."""
    if call.content_type.startswith("multipart/"):
        return SETTLEMENTS.change(session, id, {"Status": UPLOADED, "UploadUrl": None})
    body = call.json(NewFile)
    told = ADDRESSES.add(session, {"Settlement": id})
    address = f"{session.settings.root}/uploads/{told['Id']}"
    return SETTLEMENTS.change(session, id, {"FileName": body.file_name, "Status": AWAITED, "UploadUrl": address})


def upload(session: SandboxSession, address_id: str) -> None:
    """Take a file at an address of a settlement: each stays valid. Raises ResourceNotFound, and ParamError once the
    settlement is cancelled.
    """
    settlement = SETTLEMENTS.find(session, ADDRESSES.find(session, address_id)["Settlement"])
    refuse_cancelled(settlement)
    SETTLEMENTS.change(session, settlement["SettlementId"], {"Status": UPLOADED})


def cancel(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/intents/settlements/{id}/cancel"""
    settlement = SETTLEMENTS.read(session, call)
    return SETTLEMENTS.change(session, settlement["SettlementId"], {"Status": CANCELLED, "UploadUrl": None})


def validations(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payins/intents/settlements/{id}/validations: the sandbox finds no faults in a file"""
    settlement = SETTLEMENTS.read(session, call)
    faults: list[Any] = []
    return {"SettlementId": settlement["SettlementId"], "Status": settlement["Status"], "Errors": faults}


ONE = f"{PATH}/settlements/{{id}}"
ENDPOINTS = (
    WireEndpoint("POST", f"{PATH}/settlements", create),
    WireEndpoint("GET", f"{PATH}/settlements", SETTLEMENTS.list_all),
    WireEndpoint("GET", ONE, SETTLEMENTS.read),
    WireEndpoint("PUT", ONE, update),
    WireEndpoint("POST", f"{ONE}/cancel", cancel),
    WireEndpoint("GET", f"{ONE}/validations", validations),
)
