"""Recurring pay-ins: a registration, its first payment by the present buyer, and later ones without them."""

from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import direct_payins, movements, payins, payment_methods, registered_cards, wallets
from coffret.sandbox.payments.cards import BY_NUMBER
from coffret.sandbox.payments.direct_payins import NewDirectPayIn
from coffret.sandbox.payments.payins import Addressee, NewPayIn
from coffret.sandbox.payments.payment_methods import NewMethodPayIn
from coffret.sandbox.resources import Collection
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Flag, Id, MoneyBody, PositiveMoney, Tag, Text, Timestamp
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

REGISTRATIONS = Collection("recurringpayinregistrations", "recpayinreg_m_")
CREATED, IN_PROGRESS, ENDED = "CREATED", "IN_PROGRESS", "ENDED"
OWN = "RecurringPayinRegistrationId"
"""The field of a pay-in that names its registration."""


class NewRegistration(Body):
    """The body of POST /recurringpayinregistrations."""

    author_id: Id
    card_id: Id | None = None
    credited_user_id: Id | None = None
    credited_wallet_id: Id
    first_transaction_debited_funds: PositiveMoney
    first_transaction_fees: MoneyBody
    next_transaction_debited_funds: PositiveMoney | None = None
    next_transaction_fees: MoneyBody | None = None
    billing: Addressee | None = None
    shipping: Addressee | None = None
    end_date: Timestamp | None = None
    frequency: Text | None = None
    fixed_next_amount: Flag | None = None
    fractioned_payment: Flag | None = None
    free_cycles: Annotated[int, Field(ge=0)] | None = None
    migration: Flag | None = None
    payment_type: Literal["CARD_DIRECT", "PAYPAL"] = "CARD_DIRECT"
    tag: Tag | None = None


class ChangedRegistration(Body):
    """The body of PUT /recurringpayinregistrations/{id}. Omitted fields are unchanged."""

    card_id: Id | None = None
    billing: Addressee | None = None
    shipping: Addressee | None = None
    status: Literal["ENDED"] | None = None


class MerchantPayIn(NewPayIn):
    """A later payment, without the buyer."""

    card_id: Id


def register(session: SandboxSession, call: HttpCall) -> Json:
    """POST /recurringpayinregistrations"""
    body = call.json(NewRegistration)
    users.require_user_name(session, "AuthorId", body.author_id)
    currency = body.first_transaction_debited_funds.currency
    wallet = wallets.require_wallet(session, "CreditedWalletId", body.credited_wallet_id, currency)
    if body.payment_type == "CARD_DIRECT":
        registered_cards.require_own_card(session, body.card_id or "", body.author_id)
    told = {
        **body.to_wire(),
        "CreditedUserId": wallet["owner_id"],
        "FreeCycles": body.free_cycles or 0,
        "Status": CREATED,
        "RecurringType": "FRACTIONED_PAYMENT" if body.fractioned_payment else "CUSTOM",
        "CycleNumber": None,
        "TotalAmount": None,
    }
    registration = REGISTRATIONS.add(session, told)
    events.emit(session, "RECURRING_REGISTRATION_CREATED", registration["Id"])
    return present(session, registration)


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /recurringpayinregistrations/{id}"""
    return present(session, REGISTRATIONS.read(session, call))


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /recurringpayinregistrations/{id}: other data, or its end"""
    registration, body = REGISTRATIONS.read(session, call), call.json(ChangedRegistration)
    if registration["Status"] == ENDED:
        raise ParamError({"Status": "The registration is ENDED."})
    if body.card_id:
        registered_cards.require_own_card(session, body.card_id, registration["AuthorId"])
    if body.status:
        events.emit(session, "RECURRING_REGISTRATION_ENDED", registration["Id"])
    changes = {name: value for name, value in body.to_wire().items() if value is not None}
    return present(session, REGISTRATIONS.change(session, registration["Id"], changes))


def present(session: SandboxSession, registration: Json) -> Json:
    """A registration in the provider's format, with what its payments come to."""
    row = session.require_row(
        """SELECT count(*) AS payins, sum(debited) AS debited, sum(fees) AS fees, max(seq) AS last FROM movement
           WHERE json_extract(body, '$.' || ?) = ? AND status = 'SUCCEEDED'""",
        OWN,
        registration["Id"],
    )
    last = session.row("SELECT id FROM movement WHERE seq = ?", row["last"])
    currency = registration["FirstTransactionDebitedFunds"]["Currency"]
    state = {
        "PayinsLinked": row["payins"],
        "CumulatedDebitedAmount": {"Currency": currency, "Amount": row["debited"] or 0},
        "CumulatedFeesAmount": {"Currency": currency, "Amount": row["fees"] or 0},
        "LastPayinId": last["id"] if last else None,
    }
    started = registration["Status"] == CREATED and row["payins"]
    return {**registration, "Status": IN_PROGRESS if started else registration["Status"], "CurrentState": state}


def pay_by_card(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/recurring/card/direct: with the browser's data by the buyer, without it by the platform"""
    written = fill_from_registration(session, call)
    more = {OWN: written[OWN]}
    if written.get("BrowserInfo"):
        return direct_payins.charge(session, call, NewDirectPayIn.read(written), more)
    body = MerchantPayIn.read(written)
    registered = registered_cards.require_own_card(session, body.card_id, body.author_id)
    card = BY_NUMBER[registered["number"]]
    part = {
        "PaymentType": "CARD",
        "ExecutionType": "DIRECT",
        **body.own_fields("CardId"),
        **registered_cards.secured(card),
        **more,
    }
    id = payins.create(session, body, part)
    payins.settle(session, id, body, call.fail_with or registered_cards.unusable(registered), card.result)
    return movements.read(session, id)


def pay_by_method(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/payment-methods/{method}/recurring"""
    method, written = payment_methods.known_method(call), fill_from_registration(session, call)
    return payment_methods.pay_by(session, call, method, NewMethodPayIn.read(written), {OWN: written[OWN]})


def fill_from_registration(session: SandboxSession, call: HttpCall) -> Json:
    """The body of a payment with what its registration tells. Raises ParamError."""
    written = {name: value for name, value in call.object().items() if value is not None}
    registration = present(session, REGISTRATIONS.require(session, OWN, str(written.get(OWN))))
    if registration["Status"] == ENDED:
        raise ParamError({OWN: "The registration is ENDED."})
    later = registration["CurrentState"]["PayinsLinked"] and registration["NextTransactionDebitedFunds"]
    which = "Next" if later else "First"
    return {
        **{name: registration[name] for name in ("AuthorId", "CreditedWalletId", "CardId", "Billing", "Shipping")},
        "DebitedFunds": registration[f"{which}TransactionDebitedFunds"],
        "Fees": registration[f"{which}TransactionFees"] or registration["FirstTransactionFees"],
        **written,
    }


ENDPOINTS = (
    WireEndpoint("POST", "/recurringpayinregistrations", register),
    WireEndpoint("GET", "/recurringpayinregistrations/{id}", read),
    WireEndpoint("PUT", "/recurringpayinregistrations/{id}", update),
    WireEndpoint("POST", "/payins/recurring/card/direct", pay_by_card),
    WireEndpoint("POST", "/payins/payment-methods/{method}/recurring", pay_by_method),
)
