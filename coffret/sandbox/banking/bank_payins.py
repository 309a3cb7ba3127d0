"""Pay-ins by bank: bank wires that a buyer sends, and direct debits of a mandate. Both take time.

A bank wire waits until its money arrives, which the control plane tells (`/_sb/payins/{id}/pay`).
"""

from typing import Annotated

from pydantic import Field

from coffret.sandbox.banking import accounts, mandates
from coffret.sandbox.banking.mandates import MANDATES, USABLE
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, movements, payins, platform, results
from coffret.sandbox.payments.checkout import HostedPaymentStage
from coffret.sandbox.payments.payins import Culture, NewPayIn
from coffret.sandbox.wire.bodies import Body, Id, MoneyBody, PositiveMoney, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

AWAITED_FOR = 30 * 24 * 3600
"""Seconds that the money of a bank wire is waited for."""
DEBITED_AFTER = 60
"""Seconds until a direct debit succeeds: long enough to be seen open, short enough to wait for."""


class DeclaredPayIn(Body):
    """What is declared of a bank wire. The amounts are those that arrive."""

    declared_debited_funds: PositiveMoney
    declared_fees: MoneyBody | None = None
    tag: Tag | None = None

    @property
    def fees(self) -> MoneyBody:
        return self.declared_fees or MoneyBody.read({"Currency": self.declared_debited_funds.currency, "Amount": 0})


class NewBankWire(DeclaredPayIn):
    """The body of POST /payins/bankwire/direct."""

    author_id: Id
    credited_wallet_id: Id
    culture: Culture | None = None


class NewClientBankWire(DeclaredPayIn):
    """The body of POST /clients/payins/bankwire/direct."""

    credited_wallet_id: Annotated[str, Field(pattern="^(CREDIT|FEES)_[A-Z]{3}$")]


class NewDirectDebit(NewPayIn):
    """The body of POST /payins/directdebit/direct."""

    mandate_id: Id
    culture: Culture | None = None


def create_wire(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/bankwire/direct"""
    body = call.json(NewBankWire)
    new = NewPayIn.read(
        {
            "AuthorId": body.author_id,
            "CreditedWalletId": body.credited_wallet_id,
            "DebitedFunds": body.declared_debited_funds.to_wire(),
            "Fees": body.fees.to_wire(),
            "Tag": body.tag,
        }
    )
    id = payins.create(session, new, wire_part(session, body))
    await_money(session, id)
    payins.refuse(session, id, new, call.fail_with)
    return movements.read(session, id)


def create_client_wire(session: SandboxSession, call: HttpCall) -> Json:
    """POST /clients/payins/bankwire/direct: the platform fills a wallet of its own"""
    body, id = call.json(NewClientBankWire), session.mint("payin_m_")
    payins.check_fees(body.declared_debited_funds, body.fees)
    if not body.credited_wallet_id.endswith(body.declared_debited_funds.currency):
        raise ParamError({"CreditedWalletId": "The wallet is in another currency than the funds."})
    user_id = platform.user_id(session)
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYIN",
            nature="REGULAR",
            author_id=user_id,
            credited_user_id=user_id,
            currency=body.declared_debited_funds.currency,
            debited=body.declared_debited_funds.amount,
            fees=body.fees.amount,
            tag=body.tag,
            body={**wire_part(session, body), "CreditedWalletId": body.credited_wallet_id},
        ),
    )
    await_money(session, id)
    return movements.read(session, id)


def wire_part(session: SandboxSession, body: DeclaredPayIn) -> Json:
    """The fields of a bank wire beyond those of every movement."""
    return {
        "PaymentType": "BANK_WIRE",
        "ExecutionType": "DIRECT",
        "DeclaredDebitedFunds": body.declared_debited_funds.to_wire(),
        "DeclaredFees": body.fees.to_wire(),
        "WireReference": session.mint("")[-10:],
        "BankAccount": accounts.of_provider(session),
    }


def await_money(session: SandboxSession, id: str) -> None:
    """Wait for the money of a bank wire."""
    checkout.open_page(session, id, session.secret(), HostedPaymentStage.CHALLENGE, AWAITED_FOR)


def create_debit(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/directdebit/direct: fails unless the mandate was confirmed"""
    body = call.json(NewDirectDebit)
    mandate = MANDATES.require(session, "MandateId", body.mandate_id)
    part = {
        "PaymentType": "DIRECT_DEBIT",
        "ExecutionType": "DIRECT",
        "ChargeDate": int(session.now) + DEBITED_AFTER,
        "MandateId": mandate["Id"],
        **body.own_fields("Culture"),
    }
    id = payins.create(session, body, part)
    checkout.open_page(session, id, session.secret(), HostedPaymentStage.SETTLING, DEBITED_AFTER)
    if not payins.refuse(session, id, body, call.fail_with or unusable(mandate, body)):
        mandates.activate(session, mandate["Id"])
    return movements.read(session, id)


def unusable(mandate: Json, body: NewDirectDebit) -> str | None:
    """The code with which a direct debit of a mandate fails; None if it does not."""
    if mandate["UserId"] != body.author_id:
        return results.MANDATE_NOT_OWNED
    return None if mandate["Status"] in USABLE else results.MANDATE_NOT_CONFIRMED


ENDPOINTS = (
    WireEndpoint("POST", "/payins/bankwire/direct", create_wire),
    WireEndpoint("POST", "/clients/payins/bankwire/direct", create_client_wire),
    WireEndpoint("POST", "/payins/directdebit/direct", create_debit),
)
