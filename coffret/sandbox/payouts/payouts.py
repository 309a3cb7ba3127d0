"""Payouts to bank accounts. Every payout is open for a minute, also one that is bound to fail. It holds its money
meanwhile, if there is enough of it, and posts money and fees when it succeeds: one that fails has moved nothing.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, payins, platform, results, wallets
from coffret.sandbox.payouts import recipients, returns
from coffret.sandbox.payouts.recipients import RecipientStatus
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Id, MoneyBody, PositiveMoney, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import OutOfTurn, ParamError

DECIDED_AFTER = 60
"""Seconds until the bank decides: long enough to be seen open, short enough to wait for."""
EXPIRES_AFTER = 7 * 24 * 3600
"""Seconds until a payout fails that is not processed."""
REFUSED_BY_BANK = "DE09000000000000000001"
"""An account that its bank refuses to credit."""
NOT_PROCESSED = "DE52000000000000000003"
"""An account whose payouts the provider goes on examining until they expire."""
NOT_INSTANT = "FR541558929750ZZZZZZAC01915"
"""An account that takes no instant payments: the provider's own sandbox convention."""

ENDS: Mapping[str | None, tuple[str, int]] = {
    REFUSED_BY_BANK: (results.PAYOUT_REFUSED_BY_BANK, DECIDED_AFTER),
    recipients.STRANGER: (results.PAYEE_NOT_VERIFIED, DECIDED_AFTER),
    NOT_PROCESSED: (results.PAYOUT_EXPIRED, EXPIRES_AFTER),
}
"""How payouts to some accounts end: the result code, and after how many seconds."""

Mode = Literal["STANDARD", "INSTANT_PAYMENT", "INSTANT_PAYMENT_ONLY", "RTGS_PAYMENT"]


class PlannedPayout(Body):
    """The body of POST /payouts/reachability. The account is a recipient or a bank account."""

    author_id: Id
    debited_wallet_id: Id
    debited_funds: PositiveMoney
    bank_account_id: Id | None = None
    recipient_id: Id | None = None
    bank_wire_ref: Annotated[str, Field(max_length=255)] | None = None
    payout_mode_requested: Mode = "STANDARD"
    tag: Tag | None = None


class NewPayout(PlannedPayout):
    """The body of POST /payouts/bankwire."""

    fees: MoneyBody


class NewClientPayout(Body):
    """The body of POST /clients/payouts."""

    debited_wallet_id: Annotated[str, Field(pattern="^(CREDIT|FEES)_[A-Z]{3}$")]
    debited_funds: PositiveMoney
    bank_account_id: Id
    bank_wire_ref: Annotated[str, Field(max_length=255)] | None = None
    payout_mode_requested: Mode = "STANDARD"
    tag: Tag | None = None


class PayoutDecision(BaseModel):
    """How an open payout ends: `fail` with the result code; `hang` until it expires, seven days after its creation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: Literal["succeed", "fail", "hang"]
    code: Annotated[str, Field(pattern=r"^\d*[1-9]\d*$", min_length=6, max_length=6)] = results.PAYOUT_REFUSED_BY_BANK


@dataclass(frozen=True, slots=True)
class DebitedWallet:
    """The wallet that pays."""

    id: str
    owner_id: str
    of_platform: bool = False


@dataclass(frozen=True, slots=True)
class PayoutBankAccount:
    """The account that is paid; `iban` is None if it has none."""

    user_id: str
    iban: str | None
    active: bool


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payouts/bankwire"""
    body = call.json(NewPayout)
    row = wallet_of(session, body)
    return pay_out(session, call, body, DebitedWallet(row["id"], row["owner_id"]))


def create_of_platform(session: SandboxSession, call: HttpCall) -> Json:
    """POST /clients/payouts: from a wallet of the platform to its own account"""
    asked = call.json(NewClientPayout)
    wallet = DebitedWallet(asked.debited_wallet_id, platform.user_id(session), of_platform=True)
    fees = {"Currency": asked.debited_funds.currency, "Amount": 0}
    body = NewPayout.read({**asked.to_wire(), "AuthorId": wallet.owner_id, "Fees": fees})
    return pay_out(session, call, body, wallet)


def pay_out(session: SandboxSession, call: HttpCall, body: NewPayout, wallet: DebitedWallet) -> Json:
    """Create a payout, whose end is decided now and comes later."""
    account = account_of(session, body)
    payins.check_fees(body.debited_funds, body.fees)
    id = session.mint("po_m_")
    funds = movements.available(session, wallet.id, body.debited_funds.currency)
    refused = refusal(session, body, wallet, account, funds)
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYOUT",
            nature="REGULAR",
            author_id=body.author_id,
            credited_user_id=wallet.owner_id,
            debited_wallet_id=None if wallet.of_platform else wallet.id,
            currency=body.debited_funds.currency,
            debited=body.debited_funds.amount,
            fees=body.fees.amount,
            tag=body.tag,
            body={**part(session, body, account.iban), "DebitedWalletId": wallet.id},
        ),
    )
    if call.fail_with:
        movements.finish(session, id, call.fail_with)
    else:
        holds = body.author_id == wallet.owner_id and body.debited_funds.amount <= funds
        plan_end(session, id, account.iban, refused, holds=holds)
    return present(movements.find(session, id))


def plan_end(session: SandboxSession, id: str, iban: str | None, refused: str | None, *, holds: bool) -> None:
    """Decide how an open payout will end, and whether it comes back. It may hold its money until then."""
    code, after = (refused, DECIDED_AFTER) if refused else ENDS.get(iban, (results.SUCCESS, DECIDED_AFTER))
    due_at = session.now + after
    session.change("INSERT INTO payout_end VALUES (?, ?, ?, ?)", id, due_at, code, holds)
    if iban == returns.CLOSED_ACCOUNT:
        returns.plan(session, id, due_at)


def part(session: SandboxSession, body: NewPayout, iban: str | None) -> Json:
    """The fields of a payout beyond those of every movement."""
    return {
        "PaymentType": "BANK_WIRE",
        "BankAccountId": body.bank_account_id or body.recipient_id,
        "RecipientId": body.recipient_id,
        "BankWireRef": body.bank_wire_ref,
        "ModeRequested": body.payout_mode_requested,
        "EndToEndId": session.secret()[:32],
        "FallbackReason": None,
        "ChargeBearer": None,
        "CreditedUserId": None,
        "RecipientVerificationOfPayee": recipients.payee_check(session, iban) if iban else None,
    }


def wallet_of(session: SandboxSession, body: PlannedPayout) -> sqlite3.Row:
    """The debited wallet. Raises ParamError and UserClosed."""
    users.require_user_name(session, "AuthorId", body.author_id)
    return wallets.require_wallet(session, "DebitedWalletId", body.debited_wallet_id, body.debited_funds.currency)


def account_of(session: SandboxSession, body: PlannedPayout) -> PayoutBankAccount:
    """The account, a recipient or a bank account. Raises ParamError."""
    id = body.bank_account_id or body.recipient_id
    if id is None:
        raise ParamError({name: f"The {name} field is required." for name in ("RecipientId", "BankAccountId")})
    if row := session.row("SELECT * FROM recipient WHERE id = ?", id):
        kept = json.loads(row["body"])
        local = (kept["LocalBankTransfer"] or {}).get("EUR") or {}
        number = local.get("IBAN") or (kept["InternationalBankTransfer"] or {}).get("AccountNumber")
        active = row["status"] == RecipientStatus.ACTIVE and row["scope"] == "PAYOUT"
        return PayoutBankAccount(row["user_id"], number, active)
    if row := session.row("SELECT * FROM bank_account WHERE id = ?", id):
        return PayoutBankAccount(row["user_id"], json.loads(row["body"]).get("IBAN"), bool(row["active"]))
    field = "RecipientId" if body.bank_account_id is None else "BankAccountId"
    raise ParamError({field: f"The value {id} is invalid: there is no such account."})


def refusal(
    session: SandboxSession, body: NewPayout, wallet: DebitedWallet, account: PayoutBankAccount, funds: int
) -> str | None:
    """The code with which the payout is bound to fail; None if the bank decides. Only REGULAR users are paid out.

    `funds` is what is in the wallet.
    """
    level = users.present(session, wallet.owner_id)["KYCLevel"]
    reasons = (
        (results.PAYOUT_AUTHOR_NOT_OWNER, body.author_id != wallet.owner_id),
        (results.PAYOUT_ACCOUNT_NOT_OWNED, body.author_id != account.user_id),
        (results.PAYOUT_ACCOUNT_INACTIVE, not account.active),
        (results.PAYOUT_INSUFFICIENT_WALLET, body.debited_funds.amount > funds),
        (results.OWNER_NOT_IDENTIFIED, level != "REGULAR"),
    )
    return next((code for code, applies in reasons if applies), None)


def settle_due(session: SandboxSession) -> None:
    """End payouts that the bank has decided."""
    for row in session.rows("SELECT * FROM payout_end WHERE due_at <= ? ORDER BY due_at", session.now):
        finish(session, row["payout_id"], row["result_code"], row["due_at"])


def finish(session: SandboxSession, id: str, code: str, at: float | None = None) -> None:
    """End an open payout, which no longer holds its money."""
    session.change("DELETE FROM payout_end WHERE payout_id = ?", id)
    movements.finish(session, id, code, at)


def decide(session: SandboxSession, id: str, decision: PayoutDecision) -> Json:
    """Decide an open payout as the provider would. Returns the payout. Raises ResourceNotFound and OutOfTurn."""
    payout = movements.find(session, id, type="PAYOUT", nature="REGULAR")
    end = session.row("SELECT * FROM payout_end WHERE payout_id = ?", id)
    if end is None:
        raise OutOfTurn(f"The payout is {payout['status']}: it has ended.")
    match decision.outcome:
        case "succeed":
            if not end["holds"]:
                raise OutOfTurn("The payout cannot succeed: it holds no money.")
            finish(session, id, results.SUCCESS)
        case "fail":
            finish(session, id, decision.code)
        case "hang":
            session.change(
                "UPDATE payout_end SET due_at = ?, result_code = ? WHERE payout_id = ?",
                payout["created_at"] + EXPIRES_AFTER,
                results.PAYOUT_EXPIRED,
                id,
            )
    return present(movements.find(session, id))


def reachability(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payouts/reachability: whether the account takes instant payments"""
    body = call.json(PlannedPayout)
    wallet_of(session, body)
    reachable = account_of(session, body).iban not in {None, NOT_INSTANT}
    reason = None if reachable else {"Code": "121017", "Message": "The bank takes no instant payments"}
    return {"InstantPayout": {"IsReachable": reachable, "UnreachableReason": reason}}


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payouts/{id} and GET /payouts/bankwire/{id}"""
    return present(movements.find(session, call.path["id"], type="PAYOUT", nature="REGULAR"))


def present(row: sqlite3.Row) -> Json:
    """A payout in the provider's format. No payment is applied in another mode than STANDARD."""
    applied = {"CREATED": "PENDING_RESPONSE", "SUCCEEDED": "STANDARD"}.get(row["status"])
    return {**movements.present(row), "ModeApplied": applied}


ENDPOINTS = (
    WireEndpoint("POST", "/payouts/bankwire", create),
    WireEndpoint("POST", "/clients/payouts", create_of_platform),
    WireEndpoint("POST", "/payouts/reachability", reachability),
    WireEndpoint("GET", "/payouts/bankwire/{id}", read),
    WireEndpoint("GET", "/payouts/{id}", read),
)
