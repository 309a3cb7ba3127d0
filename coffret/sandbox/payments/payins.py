"""Web card pay-ins: created by the shop's server, paid by the buyer on the hosted page within 15 minutes."""

import json
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from coffret.sandbox import switches
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, results, wallets
from coffret.sandbox.payments.cards import BY_NUMBER, CardBrand
from coffret.sandbox.payments.checkout import HostedPaymentStage
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import AddressBody, Body, Id, MoneyBody, PositiveMoney, Tag, Text, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

Language = Literal["CS", "DA", "DE", "EL", "EN", "ES", "ET", "FI", "FR", "HU", "IT", "NL", "NO", "PL", "PT", "SK", "SV"]
Culture = Annotated[Language, BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value)]
"""The provider's languages, in upper or lower case. Catalan is not among them."""


WebCardType = Literal["CB_VISA_MASTERCARD", "AMEX", "MAESTRO", "BCMC", "DINERS", "MASTERPASS", "P24", "IDEAL", "PAYLIB"]
IDEAL_BANKS = {
    "RABONL2U": "Rabobank",
    "ABNANL2A": "ABN AMRO",
    "FVLBNL22": "Van Lanschot",
    "TRIONL2U": "Triodos Bank",
    "INGBNL2A": "ING Bank",
    "SNSBNL2A": "SNS Bank",
    "ASNBNL21": "ASN",
    "RBRBNL21": "RegioBank",
    "KNABNL2H": "Knab",
    "BUNQNL2A": "Bunq",
    "REVOLT21": "Revolut",
    "BITSNL2A": "Yoursafe",
}
"""The banks of IDEAL payments, by BIC."""
SHARED = ("SecureMode", "StatementDescriptor", "Billing", "Shipping", "FlowDescriptor")
"""Fields of every card pay-in."""


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


class NewPayIn(Body):
    """The fields that the bodies of all card pay-ins share."""

    author_id: Id
    credited_wallet_id: Id
    debited_funds: PositiveMoney
    fees: MoneyBody
    secure_mode: Literal["DEFAULT", "FORCE", "NO_CHOICE"] = "DEFAULT"
    statement_descriptor: Annotated[str, Field(pattern="^[A-Za-z0-9 ]{0,10}$")] | None = None
    billing: Addressee | None = None
    shipping: Addressee | None = None
    flow_descriptor: FlowDescriptor | None = None
    tag: Tag | None = None

    def own_fields(self, *names: str) -> Json:
        """Fields of the stored pay-in beyond those of every movement: these and the shared ones."""
        written = self.to_wire()
        return {name: written[name] for name in (*names, *SHARED)}


class NewWebPayIn(NewPayIn):
    """The body of POST /payins/card/web. Types that are no cards ask for a confirmation alone."""

    any_case = frozenset({"Bic"})

    bic: Annotated[Text | None, Field(alias="Bic")] = None
    """The bank of an IDEAL payment."""
    return_url: Annotated[Url, Field(alias="ReturnURL")]
    card_type: WebCardType
    culture: Culture


def create_web(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/card/web"""
    body, token = call.json(NewWebPayIn), session.secret()
    by_card = body.card_type in list(CardBrand)
    page = f"{session.settings.root}/pay/{token}"
    part = {
        "PaymentType": "CARD",
        "ExecutionType": "WEB",
        "TemplateURL": None,
        **body.own_fields("ReturnURL", "CardType", "Culture"),
        **({"Bic": body.bic, "BankName": IDEAL_BANKS.get(body.bic)} if body.bic else {}),
        "RedirectURL": page if by_card else f"{page}/challenge",
    }
    id = create(session, body, part)
    checkout.open_page(session, id, token, HostedPaymentStage.CARD if by_card else HostedPaymentStage.CHALLENGE)
    refuse(session, id, body, call.fail_with)
    return movements.read(session, id)


def create(session: SandboxSession, body: NewPayIn, part: Json) -> str:
    """Create a pay-in with the fields of its kind. Returns its id. Raises ParamError and UserClosed."""
    check(session, body)
    wallet = wallets.require_wallet(session, "CreditedWalletId", body.credited_wallet_id, body.debited_funds.currency)
    id = session.mint("payin_m_")
    if "Billing" in part and part["Billing"] is None:
        part = {**part, "Billing": part["Shipping"] or addressee(session, body.author_id)}
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
            body=part,
        ),
    )
    return id


def addressee(session: SandboxSession, user_id: str) -> Json:
    """A user as the recipient of a bill that names none."""
    user = users.present(session, user_id)
    person = user["LegalRepresentative"] if user["PersonType"] == users.LEGAL else user
    address = user.get("Address") or user.get("LegalRepresentativeAddress") or user.get("HeadquartersAddress")
    return {"FirstName": person["FirstName"], "LastName": person["LastName"], "Address": address}


def refuse(session: SandboxSession, id: str, body: NewPayIn, demanded: str | None) -> bool:
    """Fail a new pay-in immediately if a code is demanded or a rule refuses it. Returns whether it did."""
    code = demanded or refusal(session, body, movements.find(session, id)["credited_user_id"])
    if code:
        checkout.end(session, id, code)
    return code is not None


def settle(
    session: SandboxSession, id: str, body: NewPayIn, demanded: str | None, result: str = results.SUCCESS
) -> None:
    """End a new pay-in at once: refused by a rule, or as its bank decides."""
    if not refuse(session, id, body, demanded):
        movements.finish(session, id, result)


def check(session: SandboxSession, body: NewPayIn) -> None:
    """Checks across fields: users exist, and currencies and amounts fit each other. Raises ParamError."""
    users.require_user_name(session, "AuthorId", body.author_id)
    for place, beneficiary in enumerate(body.flow_descriptor.beneficiaries if body.flow_descriptor else ()):
        users.require_user_name(session, f"FlowDescriptor.Beneficiaries.{place}.UserId", beneficiary.user_id)
    check_fees(body.debited_funds, body.fees)


def check_fees(debited: MoneyBody, fees: MoneyBody) -> None:
    """Raise ParamError unless the fees are of the currency of the debited funds and not above them."""
    if fees.currency != debited.currency:
        raise ParamError({"Fees.Currency": "Fees and DebitedFunds must be of the same currency."})
    if fees.amount > debited.amount:
        raise ParamError({"Fees.Amount": "Fees can't be above DebitedFunds."})


def refusal(session: SandboxSession, body: NewPayIn, owner_id: str) -> str | None:
    """The code with which the pay-in fails immediately; None if it does not. Every named beneficiary is examined."""
    named = [each.user_id for each in (body.flow_descriptor.beneficiaries if body.flow_descriptor else ())]
    return unidentified(session, owner_id, *named)


def unidentified(session: SandboxSession, owner_id: str, *beneficiaries: str) -> str | None:
    """The code with which money to a wallet of this owner is refused; None if it is accepted.

    Unless the KYC policy is `payout_only`, money is accepted for REGULAR owners and beneficiaries only. A payer's own
    wallet is exempt.
    """
    if switches.read(session).kyc_policy == "payout_only":
        return None
    owner = users.present(session, owner_id)
    meant = [
        *([owner] if owner["UserCategory"] == "OWNER" else []),
        *(users.present(session, id) for id in beneficiaries),
    ]
    return None if all(user["KYCLevel"] == "REGULAR" for user in meant) else results.BENEFICIARY_NOT_IDENTIFIED


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payins/{id}"""
    return movements.read(session, call.path["id"], type="PAYIN")


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
        "Fingerprint": card and card.fingerprint,
    }


ENDPOINTS = (
    WireEndpoint("POST", "/payins/card/web", create_web),
    WireEndpoint("GET", "/payins/card/web/{id}/extended", read_extended),
    WireEndpoint("GET", "/payins/{id}", read),
)
