"""Web card pay-ins: created by the shop's server, paid by the buyer on the hosted page within 15 minutes."""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import Field

from coffret.sandbox import switches
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, results, wallets
from coffret.sandbox.payments.cards import BY_NUMBER, CardBrand
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import AddressBody, Body, Id, MoneyBody, PositiveMoney, Tag, Text, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

Culture = Literal["CS", "DA", "DE", "EL", "EN", "ES", "ET", "FI", "FR", "HU", "IT", "NL", "NO", "PL", "PT", "SK", "SV"]
"""The provider's languages. Catalan is not among them."""


class Addressee(Body):
    """The recipient of a bill or a parcel."""

    first_name: Text | None = None
    last_name: Text | None = None
    address: AddressBody | None = None


class Beneficiary(Body):
    """The final beneficiary of the money."""

    user_id: Id


class FlowDescriptor(Body):
    """The beneficiaries of the money after the pay-in."""

    beneficiaries: Annotated[list[Beneficiary], Field(min_length=1, max_length=5)]


class NewWebPayIn(Body):
    """The body of POST /payins/card/web."""

    author_id: Id
    credited_wallet_id: Id
    debited_funds: PositiveMoney
    fees: MoneyBody
    return_url: Annotated[Url, Field(alias="ReturnURL")]
    card_type: Literal["CB_VISA_MASTERCARD", "AMEX", "MAESTRO", "BCMC"]
    culture: Culture
    secure_mode: Literal["DEFAULT", "FORCE", "NO_CHOICE"] = "DEFAULT"
    statement_descriptor: Annotated[str, Field(pattern="^[A-Za-z0-9 ]{0,10}$")] | None = None
    billing: Addressee | None = None
    shipping: Addressee | None = None
    flow_descriptor: FlowDescriptor | None = None
    tag: Tag | None = None


def create_web(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/card/web"""
    body = call.json(NewWebPayIn)
    check(session, body)
    wallet = wallets.require_wallet(session, "CreditedWalletId", body.credited_wallet_id, body.debited_funds.currency)
    id, token = session.mint("payin_m_"), session.secret()
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYIN",
            nature="REGULAR",
            author_id=body.author_id,
            credited_user_id=wallet["owner_id"],
            credited_wallet_id=wallet["id"],
            currency=body.debited_funds.currency,
            debited=body.debited_funds.amount,
            fees=body.fees.amount,
            tag=body.tag,
            body={**web_part(body), "RedirectURL": f"{session.settings.root}/pay/{token}"},
        ),
    )
    checkout.open_page(session, id, token)
    if code := call.fail_with or refusal(session, body, wallet["owner_id"]):
        checkout.end(session, id, code)
    return movements.present(movements.find(session, id))


def check(session: SandboxSession, body: NewWebPayIn) -> None:
    """Checks across fields: users exist, and currencies and amounts fit each other. Raises ParamError."""
    users.require_user_name(session, "AuthorId", body.author_id)
    for place, beneficiary in enumerate(body.flow_descriptor.beneficiaries if body.flow_descriptor else ()):
        users.require_user_name(session, f"FlowDescriptor.Beneficiaries.{place}.UserId", beneficiary.user_id)
    if body.fees.currency != body.debited_funds.currency:
        raise ParamError({"Fees.Currency": "Fees and DebitedFunds must be of the same currency."})
    if body.fees.amount > body.debited_funds.amount:
        raise ParamError({"Fees.Amount": "Fees can't be above DebitedFunds."})


def refusal(session: SandboxSession, body: NewWebPayIn, owner_id: str) -> str | None:
    """The code with which the pay-in fails immediately; None if it does not.

    Unless the KYC policy is `payout_only`, money is accepted for REGULAR owners only. A payer's own wallet is exempt.
    Every named beneficiary must be REGULAR.
    """
    if switches.read(session).kyc_policy == "payout_only":
        return None
    owner = users.present(session, owner_id)
    named = [
        beneficiary.user_id for beneficiary in (body.flow_descriptor.beneficiaries if body.flow_descriptor else ())
    ]
    meant = [*([owner] if owner["UserCategory"] == "OWNER" else []), *(users.present(session, id) for id in named)]
    return None if all(user["KYCLevel"] == "REGULAR" for user in meant) else results.BENEFICIARY_NOT_IDENTIFIED


def web_part(body: NewWebPayIn) -> dict[str, Any]:
    """The fields of a web card pay-in beyond those of every movement."""
    written = body.to_wire()
    own = (
        "ReturnURL",
        "CardType",
        "Culture",
        "SecureMode",
        "StatementDescriptor",
        "Billing",
        "Shipping",
        "FlowDescriptor",
    )
    return {"PaymentType": "CARD", "ExecutionType": "WEB", "TemplateURL": None} | {name: written[name] for name in own}


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payins/{id}"""
    return movements.present(movements.find(session, call.path["id"], type="PAYIN"))


def read_extended(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payins/card/web/{id}/extended: adds the card that was used; its fields are null before"""
    row = movements.find(session, call.path["id"], type="PAYIN")
    page = checkout.of_payin(session, row["id"])
    card = BY_NUMBER.get(page.card or "") if page else None
    body = json.loads(row["body"])
    return {
        "Id": row["id"],
        "PaymentType": body["PaymentType"],
        "ExecutionType": body["ExecutionType"],
        "Alias": card and card.alias,
        "CardType": card and (card.brands[0] if CardBrand(body["CardType"]) not in card.brands else body["CardType"]),
        "Country": card and "FRA",
        "Fingerprint": card and hashlib.sha256(card.number.encode()).hexdigest()[:32],
    }


ENDPOINTS = (
    WireEndpoint("POST", "/payins/card/web", create_web),
    WireEndpoint("GET", "/payins/card/web/{id}/extended", read_extended),
    WireEndpoint("GET", "/payins/{id}", read),
)
