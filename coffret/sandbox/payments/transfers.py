"""Transfers between wallets. An owner must authenticate for a larger one to another owner."""

import sqlite3
from collections.abc import Mapping
from typing import Literal

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, payins, results, wallets
from coffret.sandbox.users import enrolment, sca, users
from coffret.sandbox.users.sca import ScaOutcome, ScaSession
from coffret.sandbox.wire.bodies import Body, Id, MoneyBody, PositiveMoney, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError

EXEMPT_UP_TO = 3000
"""The largest amount, in the currency's smallest unit, that needs no authentication. The provider decides by risk."""
ENDS: Mapping[ScaOutcome | None, str] = {
    ScaOutcome.FAILED: results.TRANSFER_NOT_AUTHENTICATED,
    ScaOutcome.EXPIRED: results.TRANSFER_AUTHENTICATION_EXPIRED,
}


class NewTransfer(Body):
    """The body of POST /transfers."""

    author_id: Id
    credited_user_id: Id | None = None
    debited_wallet_id: Id
    credited_wallet_id: Id
    debited_funds: PositiveMoney
    fees: MoneyBody
    sca_context: Literal["USER_PRESENT", "USER_NOT_PRESENT"] = "USER_PRESENT"
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /transfers"""
    body = call.json(NewTransfer)
    debited, credited = wallets_of(session, body)
    asked = asks_author(session, body, debited, credited)
    id = session.mint("xfer_m_")
    action = {"RedirectUrl": sca.open_session(session, body.author_id, "transfer", id)} if asked else None
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="TRANSFER",
            nature="REGULAR",
            author_id=body.author_id,
            credited_user_id=credited["owner_id"],
            debited_wallet_id=debited["id"],
            credited_wallet_id=credited["id"],
            currency=body.debited_funds.currency,
            debited=body.debited_funds.amount,
            fees=body.fees.amount,
            tag=body.tag,
            body={"PendingUserAction": action},
        ),
    )
    if call.fail_with or not asked:
        movements.finish(session, id, call.fail_with or result(session, id))
    return movements.read(session, id)


def wallets_of(session: SandboxSession, body: NewTransfer) -> tuple[sqlite3.Row, sqlite3.Row]:
    """The debited and the credited wallet. Raises ParamError and UserClosed."""
    currency = body.debited_funds.currency
    users.require_user_name(session, "AuthorId", body.author_id)
    debited = wallets.require_wallet(session, "DebitedWalletId", body.debited_wallet_id, currency)
    credited = wallets.require_wallet(session, "CreditedWalletId", body.credited_wallet_id, currency)
    if debited["id"] == credited["id"]:
        raise ParamError({"CreditedWalletId": "The CreditedWalletId must be another wallet than the DebitedWalletId."})
    if body.credited_user_id not in {None, credited["owner_id"]}:
        raise ParamError({"CreditedUserId": "The CreditedUserId must be the owner of the CreditedWalletId."})
    payins.check_fees(body.debited_funds, body.fees)
    return debited, credited


def asks_author(session: SandboxSession, body: NewTransfer, debited: sqlite3.Row, credited: sqlite3.Row) -> bool:
    """True if the author must authenticate. Raises ForbiddenResource if it is absent and has not consented."""
    author, payee = (users.present(session, wallet["owner_id"]) for wallet in (debited, credited))
    if not users.authenticates(session, author) or author["Id"] == payee["Id"] or payee["UserCategory"] != "OWNER":
        return False
    if body.author_id != author["Id"]:
        return False
    if body.sca_context == "USER_PRESENT":
        return body.debited_funds.amount > EXEMPT_UP_TO
    if not enrolment.of_user(session, author["Id"]).consented:
        raise ForbiddenResource("The user has not consented to be acted for: USER_NOT_PRESENT is not possible.")
    return False


def result(session: SandboxSession, id: str) -> str:
    """The result code of an open transfer now."""
    row = movements.find(session, id)
    if row["author_id"] != wallets.find(session, row["debited_wallet_id"])["owner_id"]:
        return results.AUTHOR_NOT_OWNER
    if row["debited"] > movements.available(session, row["debited_wallet_id"], row["currency"]):
        return results.INSUFFICIENT_WALLET
    return payins.unidentified(session, row["credited_user_id"]) or results.SUCCESS


@sca.concludes("transfer")
def conclude(session: SandboxSession, done: ScaSession, at: float) -> None:
    """The result of the author's authentication."""
    session.change(
        "UPDATE movement SET body = json_set(body, '$.PendingUserAction', NULL) WHERE id = ?", done.subject_id
    )
    movements.finish(session, done.subject_id, ENDS.get(done.outcome) or result(session, done.subject_id), at)


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /transfers/{id}"""
    return movements.read(session, call.path["id"], type="TRANSFER", nature="REGULAR")


ENDPOINTS = (
    WireEndpoint("POST", "/transfers", create),
    WireEndpoint("GET", "/transfers/{id}", read),
)
