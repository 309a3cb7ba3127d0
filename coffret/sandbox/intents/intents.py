"""Intents (`/V3.0/payins/intents`): payments that another provider takes, told to this one step by step.

An intent has line items. Each action takes an amount of some lines, or all that is left of every line. No money moves
in the sandbox: it is at the other provider.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import wallets
from coffret.sandbox.resources import Collection
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import AddressBody, Body, Currency, Id, Text, Timestamp
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError, ResourceNotFound

INTENTS = Collection("payins/intents", "int_")
Amount = Annotated[int, Field(ge=0)]
AUTHORIZED, CANCELLED = "AUTHORIZED", "CANCELLED"
TAKEN = ("CanceledAmount", "CapturedAmount", "RefundedAmount", "DisputedAmount", "SplitAmount")
"""What actions have taken of a line."""


class ExternalData(Body):
    """The payment at the other provider."""

    external_processing_date: Timestamp | Text | None = None
    external_provider_reference: Text | None = None
    external_merchant_reference: Text | None = None
    external_provider_name: Text | None = None
    external_provider_payment_method: Text | None = None


class IntentBuyer(Body):
    id: Id | None = None


class IntentSeller(Body):
    """Who a line is paid to."""

    author_id: Id | None = None
    wallet_id: Id | None = None
    fees_amount: Amount | None = None
    transfer_date: Timestamp | None = None


class NewLine(Body):
    """A line of the order."""

    seller: IntentSeller | None = None
    sku: Annotated[Text | None, Field(alias="Sku")] = None
    name: Text | None = None
    description: str | None = None
    quantity: Annotated[int, Field(ge=1)]
    unit_amount: Amount
    tax_amount: Amount | None = None
    discount_amount: Amount | None = None
    category: Text | None = None
    shipping_address: AddressBody | None = None

    @property
    def total(self) -> int:
        return self.quantity * self.unit_amount + (self.tax_amount or 0) - (self.discount_amount or 0)


class NewIntent(Body):
    """The body of POST /payins/intents."""

    amount: Annotated[int, Field(ge=1)]
    currency: Currency
    platform_fees_amount: Amount | None = None
    external_data: ExternalData
    buyer: IntentBuyer | None = None
    line_items: Annotated[list[NewLine], Field(min_length=1)]


class LinePart(Body):
    """The part of a line that an action takes."""

    id: Id
    amount: Annotated[int, Field(ge=1)]


class IntentAction(Body):
    """The body of every action. Without lines it takes all that is left of every line."""

    amount: Annotated[int, Field(ge=1)] | None = None
    currency: Currency | None = None
    platform_fees_amount: Amount | None = None
    external_data: ExternalData | None = None
    line_items: list[LinePart] | None = None


class Decision(Body):
    """The body of PUT …/disputes/{dispute}/decision."""

    decision: Literal["DEFENDED", "WON", "LOST"]


@dataclass(frozen=True, slots=True)
class IntentActionKind:
    """A kind of action: the amount of a line that it increases, what it is limited by, and where it is noted."""

    taken: str
    status: str
    limited_by: str
    less: tuple[str, ...]
    noted_in: str | None = None
    event: str | None = None


CAPTURE = IntentActionKind(
    "CapturedAmount",
    "CAPTURED",
    "TotalLineItemAmount",
    ("CanceledAmount", "CapturedAmount"),
    "Capture",
    "INTENT_CAPTURED",
)
CANCEL = IntentActionKind("CanceledAmount", CANCELLED, "TotalLineItemAmount", ("CanceledAmount", "CapturedAmount"))
REFUND = IntentActionKind(
    "RefundedAmount", "REFUNDED", "CapturedAmount", ("RefundedAmount", "DisputedAmount"), "Refund", "INTENT_REFUNDED"
)
DISPUTE = IntentActionKind(
    "DisputedAmount",
    "DISPUTED",
    "CapturedAmount",
    ("RefundedAmount", "DisputedAmount"),
    "Dispute",
    "INTENT_DISPUTE_CREATED",
)


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/intents"""
    body = call.json(NewIntent)
    if body.buyer and body.buyer.id:
        users.require_user_name(session, "Buyer.Id", body.buyer.id)
    for place, line in enumerate(body.line_items):
        if line.seller and line.seller.wallet_id:
            wallets.require_wallet(session, f"LineItems.{place}.Seller.WalletId", line.seller.wallet_id, body.currency)
    if sum(line.total for line in body.line_items) != body.amount:
        raise ParamError({"Amount": "The Amount must be the sum of the LineItems."})
    lines = [
        {**line.to_wire(), "Id": session.mint("lit_"), "TotalLineItemAmount": line.total, **dict.fromkeys(TAKEN, 0)}
        for line in body.line_items
    ]
    lists: Json = {name: [] for name in ("Captures", "Refunds", "Disputes", "Splits")}
    told = {**body.to_wire(), "Status": AUTHORIZED, "LineItems": lines, **lists, "SettlementId": None}
    intent = INTENTS.add(session, told)
    events.emit(session, "INTENT_AUTHORIZED", intent["Id"])
    return present(intent)


def present(intent: Json, **more: Json | str) -> Json:
    """An intent in the provider's format, with what an action tells of itself."""
    left = sum(line["CapturedAmount"] - line["RefundedAmount"] - line["SplitAmount"] for line in intent["LineItems"])
    actions = {AUTHORIZED: "CAPTURE-CANCEL", "CAPTURED": "REFUND-DISPUTE-SPLIT"}
    return {**intent, "AvailableAmountToSplit": left, "NextActions": actions.get(intent["Status"]), **more}


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payins/intents/{id}"""
    return present(INTENTS.read(session, call))


def act(session: SandboxSession, call: HttpCall, kind: IntentActionKind) -> Json:
    """POST /payins/intents/{id}/cancel, …/captures, …/refunds and …/captures/{capture}/disputes"""
    intent, body = INTENTS.read(session, call), call.json(IntentAction)
    if "capture" in call.path:
        find_note(intent, "Captures", call.path["capture"])
    parts = parts_of(intent, body, kind)
    for line in intent["LineItems"]:
        line[kind.taken] += parts.get(line["Id"], 0)
    changes: Json = {"Status": kind.status, "LineItems": intent["LineItems"]}
    if kind.noted_in is None:
        return present(INTENTS.change(session, intent["Id"], changes))
    note = {
        "Id": session.mint(f"{kind.noted_in.lower()}_"),
        "CreationDate": int(session.now),
        "ExecutionDate": int(session.now),
        "Amount": sum(parts.values()),
        "Status": kind.status,
        "LineItems": [{"Id": id, "Amount": amount} for id, amount in parts.items()],
        "ExternalData": body.external_data.to_wire() if body.external_data else None,
    }
    notes = f"{kind.noted_in}s"
    changed = INTENTS.change(session, intent["Id"], {**changes, notes: [*intent[notes], note]})
    events.emit(session, str(kind.event), intent["Id"])
    return present(changed, **{kind.noted_in: note})


def parts_of(intent: Json, body: IntentAction, kind: IntentActionKind) -> Mapping[str, int]:
    """What an action takes of each line, by the line's id. Raises ParamError."""
    left = {line["Id"]: line[kind.limited_by] - sum(line[name] for name in kind.less) for line in intent["LineItems"]}
    asked = {line.id: line.amount for line in body.line_items} if body.line_items else left
    for id, amount in asked.items():
        if amount > left.get(id, 0):
            raise ParamError({"LineItems": f"Only {left.get(id, 0)} are left of the line {id}."})
    if body.amount not in {None, sum(asked.values())}:
        raise ParamError({"Amount": "The Amount must be the sum of the LineItems."})
    if not sum(asked.values()):
        raise ParamError({"Status": f"The intent is {intent['Status']}: nothing is left for this."})
    return {id: amount for id, amount in asked.items() if amount}


def find_note(intent: Json, notes: str, id: str) -> Json:
    """A capture, refund, dispute or split of an intent. Raises ResourceNotFound."""
    found: Json | None = next((note for note in intent[notes] if note["Id"] == id), None)
    if found is None:
        raise ResourceNotFound
    return found


def reverse_refund(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/intents/{id}/refunds/{refund}/reverse"""
    intent, body = INTENTS.read(session, call), call.json(IntentAction)
    refund = find_note(intent, "Refunds", call.path["refund"])
    refunded: dict[str, Any] = {line["Id"]: line["Amount"] for line in refund["LineItems"]}
    asked = {line.id: line.amount for line in body.line_items} if body.line_items else refunded
    if refund["Status"] != REFUND.status or any(amount > refunded.get(id, 0) for id, amount in asked.items()):
        raise ParamError({"Refund": "The amounts are above those of the refund, or it was reversed already."})
    for line in intent["LineItems"]:
        line["RefundedAmount"] -= asked.get(line["Id"], 0)
    refund["Status"] = "REVERSED"
    changes = {"Status": "REFUND_REVERSED", "LineItems": intent["LineItems"], "Refunds": intent["Refunds"]}
    events.emit(session, "INTENT_REFUND_REVERSED", intent["Id"])
    return present(INTENTS.change(session, intent["Id"], changes), Refund=refund)


def decide(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /payins/intents/{id}/captures/{capture}/disputes/{dispute}/decision"""
    intent, body = INTENTS.read(session, call), call.json(Decision)
    find_note(intent, "Captures", call.path["capture"])
    dispute = find_note(intent, "Disputes", call.path["dispute"])
    dispute["Status"] = body.decision
    events.emit(session, f"INTENT_DISPUTE_{body.decision}", intent["Id"])
    changed = INTENTS.change(session, intent["Id"], {"Disputes": intent["Disputes"]})
    return present(changed, Dispute=dispute, Decision=body.decision)


PATH = "/payins/intents"
ENDPOINTS = (
    WireEndpoint("POST", PATH, create),
    WireEndpoint("POST", f"{PATH}/{{id}}/cancel", partial(act, kind=CANCEL)),
    WireEndpoint("POST", f"{PATH}/{{id}}/captures", partial(act, kind=CAPTURE)),
    WireEndpoint("POST", f"{PATH}/{{id}}/refunds", partial(act, kind=REFUND)),
    WireEndpoint("POST", f"{PATH}/{{id}}/captures/{{capture}}/disputes", partial(act, kind=DISPUTE)),
    WireEndpoint("POST", f"{PATH}/{{id}}/refunds/{{refund}}/reverse", reverse_refund),
    WireEndpoint("PUT", f"{PATH}/{{id}}/captures/{{capture}}/disputes/{{dispute}}/decision", decide),
    WireEndpoint("GET", f"{PATH}/{{id}}", read),
)
