"""What people do in the provider's dashboard instead of through the interface."""

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, refunds
from coffret.sandbox.wire.endpoints import HttpCall, Json
from coffret.sandbox.wire.errors import OutOfTurn, ParamError


class DashboardRefund(BaseModel):
    """A refund: the amount debited from the wallet, and the fees given back beside it; by default everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    amount: Annotated[int, Field(ge=1)] | None = None
    fees_back: Annotated[int, Field(ge=0)] = 0


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
