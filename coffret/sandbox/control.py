"""The control plane, `/_sb/…`: tests and demonstrations control and inspect the sandbox through it."""

import datetime as dt
import random
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from coffret.sandbox import deliveries, seeds, stats, switches, tokens
from coffret.sandbox.core import Sandbox
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.disputes import disputes
from coffret.sandbox.kyc import documents, identity, owners
from coffret.sandbox.payments import checkout, dashboard, ledger, movements
from coffret.sandbox.payments.cards import CHALLENGE_CODE, CardRefused, tokenise_number
from coffret.sandbox.payments.checkout import ChallengeChoice, HostedPaymentStage
from coffret.sandbox.payouts import payouts, returns
from coffret.sandbox.users import people
from coffret.sandbox.wire import faults
from coffret.sandbox.wire.errors import ResourceNotFound, WireError

Asked = TypeVar("Asked", bound=BaseModel)
Json = dict[str, Any]
ControlRoute = tuple[str, str, Callable[[Request], Awaitable[Any]]]
"""A method, a path and a handler."""


class Advance(BaseModel):
    """The number of seconds to advance the clock."""

    model_config = ConfigDict(extra="forbid")

    advance: Annotated[float, Field(ge=0, le=10 * 366 * 86400)]


class CardPayment(BaseModel):
    """A simulated buyer: the card, then the answer at the bank. Without either the buyer cancels; with the answer alone
    a payment goes on that waits for it.
    """

    model_config = ConfigDict(extra="forbid")

    card: str | None = None
    challenge: Literal["confirm", "refuse", "leave"] = "confirm"


class Control:
    """Serves the control plane."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def routes(self) -> list[Route]:
        table: tuple[ControlRoute, ...] = (
            ("GET", "/", self.index),
            ("GET", "/clock", self.clock),
            ("POST", "/clock", self.advance),
            ("GET", "/faults", self.list_faults),
            ("POST", "/faults", self.add_fault),
            ("DELETE", "/faults", self.clear_faults),
            ("GET", "/hooks/policy", self.policy),
            ("POST", "/hooks/policy", self.set_policy),
            ("POST", "/hooks/flush", self.flush),
            ("GET", "/hooks/deliveries", self.deliveries),
            ("POST", "/tokens/expire", self.expire_tokens),
            ("GET", "/ledger/check", self.check_ledger),
            ("POST", "/payins/{id}/pay", self.pay),
            *self._made_elsewhere(),
            ("GET", "/disputes/{id}", self.read_dispute),
            ("POST", "/disputes/{id}", self.decide_dispute),
            ("POST", "/payouts/{id}", self.decide_payout),
            ("POST", "/payouts/{id}/return", self.return_payout),
            ("GET", "/stats", self.stats),
            ("GET", "/sca", self.open_sessions),
            ("GET", "/sca/{token}", self.authentication),
            ("POST", "/sca/{token}", self.decide_authentication),
            ("GET", "/users/{id}", self.user),
            ("POST", "/users/{id}", self.change_user),
            ("GET", "/identity-verifications/{id}", self.identity_verification),
            ("POST", "/identity-verifications/{id}", self.decide_identity_verification),
            ("GET", "/pscs/{id}", self.owner),
            ("POST", "/pscs/{id}", self.decide_owner),
            ("GET", "/kyc/{id}", self.document),
            ("POST", "/kyc/{id}", self.decide_document),
            ("GET", "/switches", self.switches),
            ("POST", "/switches", self.turn_switches),
            ("POST", "/seed", self.seed),
            ("POST", "/reset", self.reset),
        )
        self._paths = [f"{method} /_sb{path}" for method, path, _ in table]
        return [Route(path, answering(answer), methods=[method]) for method, path, answer in table]

    def _made_elsewhere(self) -> tuple[ControlRoute, ...]:
        """What is done to money in the provider's dashboard, or by a bank."""
        return (
            ("POST", "/payins/{id}/refund", self.refund),
            ("POST", "/transfers", self.transfer),
            ("POST", "/payins/{id}/dispute", self.dispute),
        )

    async def index(self, _request: Request) -> Json:
        """List the paths."""
        return {"control_plane": self._paths}

    async def clock(self, _request: Request) -> Json:
        """The sandbox's time, and its offset in seconds."""
        clock = self._sandbox.settings.clock
        await self._sandbox.tick()
        return {
            "now": clock.now().isoformat(),
            "timestamp": int(clock.timestamp()),
            "ahead": clock.ahead.total_seconds(),
        }

    async def advance(self, request: Request) -> Json:
        """Advance the clock, end what expires and send due notifications."""
        await self._sandbox.advance(dt.timedelta(seconds=(await parse_body(request, Advance)).advance))
        return await self.clock(request)

    async def list_faults(self, _request: Request) -> Json:
        """List the remaining faults."""
        return {"faults": [fault.model_dump() for fault in await self._sandbox.run(faults.list_faults)]}

    async def add_fault(self, request: Request) -> Json:
        """Make coming calls fail."""
        await self._sandbox.run(faults.add, await parse_body(request, faults.Fault))
        return await self.list_faults(request)

    async def clear_faults(self, request: Request) -> Json:
        """Remove all faults."""
        await self._sandbox.run(faults.clear)
        return await self.list_faults(request)

    async def policy(self, _request: Request) -> Json:
        """The delivery policy of notifications."""
        return (await self._sandbox.run(deliveries.policy)).model_dump()

    async def set_policy(self, request: Request) -> Json:
        """Change the delivery policy of notifications."""
        await self._sandbox.run(deliveries.set_policy, await parse_body(request, deliveries.Policy))
        return await self.policy(request)

    async def flush(self, request: Request) -> Json:
        """Send all pending notifications now. `shuffle` is a seed for a random order."""
        sent = await self._sandbox.run(flush_deliveries, request.query_params.get("shuffle"))
        await self._sandbox.tick()
        return {"sent": sent}

    async def deliveries(self, _request: Request) -> Json:
        """List all notifications with their results."""
        return {"deliveries": await self._sandbox.run(deliveries.list_deliveries)}

    async def expire_tokens(self, _request: Request) -> Json:
        """Expire all access tokens."""
        return {"expired": await self._sandbox.run(tokens.expire_all)}

    async def check_ledger(self, _request: Request) -> Json:
        """Check that the ledger balances."""
        return await self._sandbox.run(ledger.check)

    async def pay(self, request: Request) -> Json:
        """Pay as a buyer would on the hosted page. Returns the pay-in."""
        payment = await parse_body(request, CardPayment)
        try:
            return await self._sandbox.run(pay_as_buyer, request.path_params["id"], payment)
        except CardRefused as refused:
            raise HTTPException(400, f"The card is refused: {refused}") from None

    async def refund(self, request: Request) -> Json:
        """Refund a pay-in as in the provider's dashboard: without a Tag. Returns the refund."""
        asked = await parse_body(request, dashboard.DashboardRefund)
        return await self._sandbox.run(dashboard.refund, request.path_params["id"], asked)

    async def transfer(self, request: Request) -> Json:
        """Move money between two wallets as in the provider's dashboard: without a Tag. Returns the transfer."""
        return await self._sandbox.run(dashboard.transfer, await parse_body(request, dashboard.DashboardTransfer))

    async def dispute(self, request: Request) -> Json:
        """Dispute a pay-in as the buyer's bank would. Returns the dispute."""
        new = await parse_body(request, disputes.NewDispute)
        return await self._sandbox.run(disputes.open_dispute, request.path_params["id"], new)

    async def read_dispute(self, request: Request) -> Json:
        """A dispute with its documents."""
        return await self._sandbox.run(disputes.describe, request.path_params["id"])

    async def decide_dispute(self, request: Request) -> Json:
        """Decide a dispute as the provider or the buyer's bank would. Returns the dispute."""
        decision = await parse_body(request, disputes.DisputeDecision)
        return await self._sandbox.run(disputes.decide, request.path_params["id"], decision)

    async def decide_payout(self, request: Request) -> Json:
        """Decide an open payout as the provider would. Returns the payout."""
        decision = await parse_body(request, payouts.PayoutDecision)
        return await self._sandbox.run(payouts.decide, request.path_params["id"], decision)

    async def return_payout(self, request: Request) -> Json:
        """Send the money of a payout back as its bank would. Returns the refund."""
        asked = await parse_body(request, returns.PayoutReturn)
        return await self._sandbox.run(returns.return_payout, request.path_params["id"], asked)

    async def open_sessions(self, request: Request) -> Json:
        """List all open sessions of strong authentication; with `user`, only those of one user."""
        return {"sessions": await self._sandbox.run(people.open_sessions, request.query_params.get("user"))}

    async def authentication(self, request: Request) -> Json:
        """A session of strong authentication."""
        return await self._sandbox.run(people.session_of, request.path_params["token"])

    async def decide_authentication(self, request: Request) -> Json:
        """End a session as the user would on its page. Returns the session."""
        decision = await parse_body(request, people.ScaDecision)
        return await self._sandbox.run(people.decide, request.path_params["token"], decision)

    async def user(self, request: Request) -> Json:
        """A user with its enrolment, blocks and open sessions."""
        return await self._sandbox.run(people.person, request.path_params["id"])

    async def change_user(self, request: Request) -> Json:
        """Block or unblock a user, or set its status or KYC level. Returns the user."""
        return await self._sandbox.run(
            people.change, request.path_params["id"], await parse_body(request, people.UserChange)
        )

    async def identity_verification(self, request: Request) -> Json:
        """A session of identity verification."""
        return await self._sandbox.run(identity.describe, request.path_params["id"])

    async def decide_identity_verification(self, request: Request) -> Json:
        """Decide a session as the user or the provider would. Returns the session."""
        decision = await parse_body(request, identity.VerificationDecision)
        return await self._sandbox.run(identity.decide, request.path_params["id"], decision)

    async def owner(self, request: Request) -> Json:
        """The session of one owner of a business."""
        return await self._sandbox.run(owners.describe, request.path_params["id"])

    async def decide_owner(self, request: Request) -> Json:
        """End the session of an owner as the person or the provider would. Returns the session."""
        decision = await parse_body(request, owners.OwnerDecision)
        return await self._sandbox.run(owners.decide, request.path_params["id"], decision)

    async def document(self, request: Request) -> Json:
        """A document with the size, media type and hash of each file."""
        return await self._sandbox.run(documents.describe, request.path_params["id"])

    async def decide_document(self, request: Request) -> Json:
        """Validate, refuse or outdate a document. Returns the document."""
        decision = await parse_body(request, documents.DocumentDecision)
        return await self._sandbox.run(documents.decide, request.path_params["id"], decision)

    async def switches(self, _request: Request) -> Json:
        """The switches."""
        return (await self._sandbox.run(switches.read)).model_dump()

    async def turn_switches(self, request: Request) -> Json:
        """Change switches. Those that are not named are unchanged."""
        return (await self._sandbox.run(switches.turn, await parse_body(request, switches.Switches))).model_dump()

    async def stats(self, _request: Request) -> Json:
        """The number of calls per endpoint, and of charged ones."""
        return await self._sandbox.run(stats.all_counts)

    async def seed(self, request: Request) -> Json:
        """Create an owner and a wallet with given ids, unless they exist."""
        return await self._sandbox.run(seeds.create_seed, await parse_body(request, seeds.Seed))

    async def reset(self, _request: Request) -> Json:
        """Delete all state but the clock: users, wallets, movements, hooks, tokens, faults and counts."""
        await self._sandbox.run(SandboxSession.clear)
        return {"reset": True}


def answering(answer: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    """Wrap a handler as an endpoint.

    Requests from pages of other sites are refused, because a visitor's browser could send them.
    """

    async def endpoint(request: Request) -> Response:
        if request.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return JSONResponse({"detail": "Other sites may not use the control plane."}, 403)
        try:
            return JSONResponse(await answer(request))
        except HTTPException as error:
            return JSONResponse({"detail": error.detail}, error.status_code)
        except WireError as error:
            return JSONResponse({"detail": error.message}, error.status)

    return endpoint


async def parse_body(request: Request, shape: type[Asked]) -> Asked:
    """The validated JSON body. Raises HTTPException 400."""
    try:
        return shape.model_validate_json(await request.body() or b"{}")
    except ValidationError as error:
        found = [{"field": ".".join(map(str, problem["loc"])), "message": problem["msg"]} for problem in error.errors()]
        raise HTTPException(400, str(found)) from None


def flush_deliveries(session: SandboxSession, shuffle: str | None) -> int:
    """Make all pending notifications due, in order or shuffled. Returns their number."""
    order = deliveries.pending(session)
    if shuffle is not None:
        random.Random(shuffle).shuffle(order)  # noqa: S311 - a reproducible order, not a secret
    return deliveries.flush(session, order)


def pay_as_buyer(session: SandboxSession, payin_id: str, payment: CardPayment) -> Json:
    """Take the steps of the hosted page.

    Raises ResourceNotFound, CardRefused, and HTTPException 409 for a used page.
    """
    page = checkout.of_payin(session, payin_id)
    if page is None:
        raise ResourceNotFound
    if page.stage in {HostedPaymentStage.SETTLING, HostedPaymentStage.DONE}:
        raise HTTPException(409, "The pay-in's page was used already.")
    if page.stage is HostedPaymentStage.CHALLENGE and payment.model_fields_set == {"challenge"}:
        answer_as_buyer(session, payin_id, payment)
    elif payment.card is None:
        checkout.cancel(session, page)
    else:
        checkout.submit(session, payin_id, tokenise_number(payment.card, page.brand))
        answer_as_buyer(session, payin_id, payment)
    return movements.read(session, payin_id)


def answer_as_buyer(session: SandboxSession, payin_id: str, payment: CardPayment) -> None:
    """Answer a challenge, if there is one."""
    page = checkout.of_payin(session, payin_id)
    if page is not None and payment.challenge != "leave":
        checkout.answer(session, page, ChallengeChoice(payment.challenge), CHALLENGE_CODE)
