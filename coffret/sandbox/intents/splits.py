"""Splits of an intent: how a captured line is shared out. None is executed, because its money never arrives here."""

from typing import Annotated, Any

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.intents.intents import INTENTS, PATH, Amount, find_note
from coffret.sandbox.wire.bodies import Body, Id, Timestamp
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

CREATED, REVERSED = "CREATED", "REVERSED"
EXECUTABLE = ("AVAILABLE", "REJECTED")


class SplitDetails(Body):
    """What can be changed of a split."""

    line_item_id: Id
    fees_amount: Amount | None = None
    transfer_date: Timestamp | None = None
    description: str | None = None


class NewSplit(SplitDetails):
    split_amount: Annotated[int, Field(ge=1)]


class NewSplits(Body):
    """The body of POST /payins/intents/{id}/splits."""

    splits: Annotated[list[NewSplit], Field(min_length=1)]


class ChangedSplit(SplitDetails):
    """The body of PUT /payins/intents/{id}/splits/{split}. Omitted fields are unchanged."""

    split_amount: Annotated[int, Field(ge=1)] | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/intents/{id}/splits"""
    intent, body = INTENTS.read(session, call), call.json(NewSplits)
    new = []
    for split in body.splits:
        line = line_of(intent, split.line_item_id)
        take(line, split.split_amount)
        seller: dict[str, Any] = line["Seller"] or {}
        new.append(
            {
                "Id": session.mint("split_"),
                "CreationDate": int(session.now),
                **split.to_wire(),
                "SellerId": seller.get("AuthorId"),
                "WalletId": seller.get("WalletId"),
                "Status": CREATED,
            }
        )
    INTENTS.change(session, intent["Id"], {"LineItems": intent["LineItems"], "Splits": [*intent["Splits"], *new]})
    for told in new:
        events.emit(session, "SPLIT_CREATED", told["Id"])
    return {"Splits": new}


def line_of(intent: Json, id: str) -> Json:
    """A line of an intent. Raises ParamError."""
    found: Json | None = next((line for line in intent["LineItems"] if line["Id"] == id), None)
    if found is None:
        raise ParamError({"LineItemId": f"The value {id} is invalid: the intent has no such line."})
    return found


def take(line: Json, amount: int) -> None:
    """Take an amount of a captured line. Raises ParamError if less is left."""
    left = line["CapturedAmount"] - line["RefundedAmount"] - line["SplitAmount"]
    if amount > left:
        raise ParamError({"SplitAmount": f"Only {left} are left to split."})
    line["SplitAmount"] += amount


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payins/intents/{id}/splits/{split}"""
    return find_note(INTENTS.read(session, call), "Splits", call.path["split"])


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /payins/intents/{id}/splits/{split}"""
    intent, body = INTENTS.read(session, call), call.json(ChangedSplit)
    split = open_split(intent, call)
    if body.split_amount:
        take(line_of(intent, split["LineItemId"]), body.split_amount - split["SplitAmount"])
    split.update({name: value for name, value in body.to_wire().items() if value is not None})
    keep(session, intent)
    return split


def reverse(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/intents/{id}/splits/{split}/reverse"""
    intent = INTENTS.read(session, call)
    split = open_split(intent, call)
    line_of(intent, split["LineItemId"])["SplitAmount"] -= split["SplitAmount"]
    split["Status"] = REVERSED
    keep(session, intent)
    events.emit(session, "SPLIT_REVERSED", split["Id"])
    return split


def execute(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/intents/{id}/splits/{split}/execute: refused until the money of the intent has arrived"""
    split = read(session, call)
    raise ParamError(
        {"Split": f"Execute split requires a status in [{', '.join(EXECUTABLE)}], this one is {split['Status']}."}
    )


def open_split(intent: Json, call: HttpCall) -> Json:
    """The split in the path. Raises ParamError if it was reversed."""
    split = find_note(intent, "Splits", call.path["split"])
    if split["Status"] != CREATED:
        raise ParamError({"Split": f"The split is {split['Status']} and can't be changed."})
    return split


def keep(session: SandboxSession, intent: Json) -> None:
    INTENTS.change(session, intent["Id"], {"LineItems": intent["LineItems"], "Splits": intent["Splits"]})


ONE = f"{PATH}/{{id}}/splits/{{split}}"
ENDPOINTS = (
    WireEndpoint("POST", f"{PATH}/{{id}}/splits", create),
    WireEndpoint("GET", ONE, read),
    WireEndpoint("PUT", ONE, update),
    WireEndpoint("POST", f"{ONE}/execute", execute),
    WireEndpoint("POST", f"{ONE}/reverse", reverse),
)
