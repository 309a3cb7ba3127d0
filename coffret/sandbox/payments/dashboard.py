"""What people do in the provider's dashboard instead of through the interface."""

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, refunds, results, transfers, wallets
from coffret.sandbox.wire.endpoints import HttpCall, Json
from coffret.sandbox.wire.errors import OutOfTurn, ParamError


class DashboardRefund(BaseModel):
    """A refund: the amount debited from the wallet, and the fees given back beside it; by default everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    amount: Annotated[int, Field(ge=1)] | None = None
    fees_back: Annotated[int, Field(ge=0)] = 0


class DashboardTransfer(BaseModel):
    """A transfer between two wallets of one currency: the amount debited, and the fees taken of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    debited_wallet_id: str
    credited_wallet_id: str
    amount: Annotated[int, Field(ge=1)]
    fees: Annotated[int, Field(ge=0)] = 0


def transfer(session: SandboxSession, asked: DashboardTransfer) -> Json:
    """Move money between two wallets without a Tag; nobody authenticates. Raises ResourceNotFound and OutOfTurn."""
    debited, credited = (wallets.find(session, id) for id in (asked.debited_wallet_id, asked.credited_wallet_id))
    id = session.mint("xfer_m_")
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="TRANSFER",
            nature="REGULAR",
            author_id=debited["owner_id"],
            credited_user_id=credited["owner_id"],
            debited_wallet_id=debited["id"],
            credited_wallet_id=credited["id"],
            currency=debited["currency"],
            debited=asked.amount,
            fees=asked.fees,
            body={"PendingUserAction": None},
        ),
    )
    if debited["currency"] != credited["currency"] or asked.fees > asked.amount:
        raise OutOfTurn("The wallets must have one currency, and the fees be at most the amount.")
    code = transfers.result(session, id)
    if code != results.SUCCESS:
        raise OutOfTurn(f"The transfer would fail with {code}.")
    movements.finish(session, id, code)
    return movements.read(session, id)


def refund(session: SandboxSession, payin_id: str, asked: DashboardRefund) -> Json:
    """Refund a pay-in without a Tag. Raises ResourceNotFound and OutOfTurn."""
    payin = movements.find(session, payin_id, type="PAYIN", nature="REGULAR")
    body: Json = {"AuthorId": payin["author_id"]}
    if asked.amount is not None:
        for name, amount in (("DebitedFunds", asked.amount), ("Fees", -asked.fees_back)):
            body[name] = {"Currency": payin["currency"], "Amount": amount}
    path = f"/payins/{payin_id}/refunds"
    call = HttpCall(method="POST", address=path, url=path, content=json.dumps(body).encode(), path={"id": payin_id})
    try:
        return refunds.refund_payin(session, call)
    except ParamError as error:
        raise OutOfTurn(" ".join((error.errors or {}).values())) from None
