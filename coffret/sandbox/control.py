"""The control plane, `/_sb/…`: what tests and demonstrations tell the sandbox, and what it tells them."""

import datetime as dt
import random
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from coffret.sandbox import (
    checkout,
    deliveries,
    documents,
    identity,
    ledger,
    movements,
    people,
    seeds,
    stats,
    switches,
    tokens,
)
from coffret.sandbox.cards import CHALLENGE_CODE, CardRefused, tokenise_number
from coffret.sandbox.checkout import Choice, Stage
from coffret.sandbox.core import Sandbox
from coffret.sandbox.database import Session
from coffret.sandbox.wire import faults
from coffret.sandbox.wire.errors import ResourceNotFound, WireError

Asked = TypeVar("Asked", bound=BaseModel)
Json = dict[str, Any]


class Advance(BaseModel):
    """How many seconds to move the clock by."""

    model_config = ConfigDict(extra="forbid")

    advance: Annotated[float, Field(ge=0, le=10 * 366 * 86400)]


class Payment(BaseModel):
    """What a buyer does with a pay-in: which card, and then at the bank. Without a card the buyer cancels."""

    model_config = ConfigDict(extra="forbid")

    card: str | None = None
    challenge: Literal["confirm", "refuse", "leave"] = "confirm"


class Control:
    """Answers the control plane's addresses."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def routes(self) -> list[Route]:
        """What is served."""
        table: tuple[tuple[str, str, Callable[[Request], Awaitable[Any]]], ...] = (
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
            ("GET", "/stats", self.stats),
            ("GET", "/sca", self.open_sessions),
            ("GET", "/sca/{token}", self.authentication),
            ("POST", "/sca/{token}", self.decide_authentication),
            ("GET", "/users/{id}", self.user),
            ("POST", "/users/{id}", self.change_user),
            ("GET", "/identity-verifications/{id}", self.identity_verification),
            ("POST", "/identity-verifications/{id}", self.decide_identity_verification),
            ("GET", "/kyc/{id}", self.document),
            ("POST", "/kyc/{id}", self.decide_document),
            ("GET", "/switches", self.switches),
            ("POST", "/switches", self.turn_switches),
            ("POST", "/seed", self.seed),
            ("POST", "/reset", self.reset),
        )
        self._paths = [f"{method} /_sb{path}" for method, path, _ in table]
        return [Route(path, answering(answer), methods=[method]) for method, path, answer in table]

    async def index(self, _request: Request) -> Json:
        """What there is."""
        return {"control_plane": self._paths}

    async def clock(self, _request: Request) -> Json:
        """The moment it is for the sandbox, and how many seconds the clock was moved in all."""
        clock = self._sandbox.settings.clock
        await self._sandbox.tick()
        return {
            "now": clock.now().isoformat(),
            "timestamp": int(clock.timestamp()),
            "ahead": clock.ahead.total_seconds(),
        }

    async def advance(self, request: Request) -> Json:
        """Move the clock forward, end what runs out of time and send what falls due."""
        await self._sandbox.advance(dt.timedelta(seconds=(await asked(request, Advance)).advance))
        return await self.clock(request)

    async def list_faults(self, _request: Request) -> Json:
        """Failures still to come."""
        return {"faults": [fault.model_dump() for fault in await self._sandbox.run(faults.listed)]}

    async def add_fault(self, request: Request) -> Json:
        """Let coming calls fail."""
        await self._sandbox.run(faults.add, await asked(request, faults.Fault))
        return await self.list_faults(request)

    async def clear_faults(self, request: Request) -> Json:
        """Let nothing fail any more."""
        await self._sandbox.run(faults.clear)
        return await self.list_faults(request)

    async def policy(self, _request: Request) -> Json:
        """How notifications are delivered."""
        return (await self._sandbox.run(deliveries.policy)).model_dump()

    async def set_policy(self, request: Request) -> Json:
        """Deliver notifications in another way."""
        await self._sandbox.run(deliveries.set_policy, await asked(request, deliveries.Policy))
        return await self.policy(request)

    async def flush(self, request: Request) -> Json:
        """Send every notification that waits, now; with `shuffle` in an order drawn from that seed."""
        sent = await self._sandbox.run(flushed, request.query_params.get("shuffle"))
        await self._sandbox.tick()
        return {"sent": sent}

    async def deliveries(self, _request: Request) -> Json:
        """Every notification and what became of it."""
        return {"deliveries": await self._sandbox.run(deliveries.told)}

    async def expire_tokens(self, _request: Request) -> Json:
        """End every access token."""
        return {"expired": await self._sandbox.run(tokens.expire_all)}

    async def check_ledger(self, _request: Request) -> Json:
        """Whether all money is accounted for."""
        return await self._sandbox.run(ledger.check)

    async def pay(self, request: Request) -> Json:
        """Do what a buyer would do on the hosted page; answers the pay-in."""
        payment = await asked(request, Payment)
        try:
            return await self._sandbox.run(paid, request.path_params["id"], payment)
        except CardRefused as refused:
            raise HTTPException(400, f"The card is refused: {refused}") from None

    async def open_sessions(self, request: Request) -> Json:
        """Every session of strong authentication that can still be used; with `user` only those of one."""
        return {"sessions": await self._sandbox.run(people.open_sessions, request.query_params.get("user"))}

    async def authentication(self, request: Request) -> Json:
        """A session of strong authentication and where it stands."""
        return await self._sandbox.run(people.session_of, request.path_params["token"])

    async def decide_authentication(self, request: Request) -> Json:
        """End a session as somebody on its page would; answers it."""
        decision = await asked(request, people.Decision)
        return await self._sandbox.run(people.decide, request.path_params["token"], decision)

    async def user(self, request: Request) -> Json:
        """A user, its enrolment, its blocks and its open sessions."""
        return await self._sandbox.run(people.person, request.path_params["id"])

    async def change_user(self, request: Request) -> Json:
        """Block or unblock a user, set its status or how far it is identified; answers the user."""
        return await self._sandbox.run(people.change, request.path_params["id"], await asked(request, people.Change))

    async def identity_verification(self, request: Request) -> Json:
        """A hosted check of an identity."""
        return await self._sandbox.run(identity.told, request.path_params["id"])

    async def decide_identity_verification(self, request: Request) -> Json:
        """Do what somebody would do on the hosted page, or what the provider does later; answers the session."""
        decision = await asked(request, identity.Decision)
        return await self._sandbox.run(identity.decide, request.path_params["id"], decision)

    async def document(self, request: Request) -> Json:
        """A document with the size, the kind and the hash of each of its files."""
        return await self._sandbox.run(documents.told, request.path_params["id"])

    async def decide_document(self, request: Request) -> Json:
        """Validate, refuse or outdate a document; answers it."""
        decision = await asked(request, documents.Decision)
        return await self._sandbox.run(documents.decide, request.path_params["id"], decision)

    async def switches(self, _request: Request) -> Json:
        """Which rules are in force."""
        return (await self._sandbox.run(switches.read)).model_dump()

    async def turn_switches(self, request: Request) -> Json:
        """Put other rules in force; those that are not named stay."""
        return (await self._sandbox.run(switches.turn, await asked(request, switches.Switches))).model_dump()

    async def stats(self, _request: Request) -> Json:
        """How often what was called and charged."""
        return await self._sandbox.run(stats.told)

    async def seed(self, request: Request) -> Json:
        """Make sure that an owner and a wallet with given ids exist."""
        return await self._sandbox.run(seeds.sow, await asked(request, seeds.Seed))

    async def reset(self, _request: Request) -> Json:
        """Forget everything but the time: users, wallets, movements, hooks, tokens, faults, counts."""
        await self._sandbox.run(Session.clear)
        return {"reset": True}


def answering(answer: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    """A route's endpoint. A page of another site must not steer the sandbox through its visitor's browser."""

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


async def asked(request: Request, shape: type[Asked]) -> Asked:
    """The JSON body, checked."""
    try:
        return shape.model_validate_json(await request.body() or b"{}")
    except ValidationError as error:
        found = [{"field": ".".join(map(str, problem["loc"])), "message": problem["msg"]} for problem in error.errors()]
        raise HTTPException(400, str(found)) from None


def flushed(session: Session, shuffle: str | None) -> int:
    """Make everything that waits due, in its order or in a shuffled one."""
    order = deliveries.pending(session)
    if shuffle is not None:
        random.Random(shuffle).shuffle(order)  # noqa: S311 - an order that a seed gives again, no secret
    return deliveries.flush(session, order)


def paid(session: Session, payin_id: str, payment: Payment) -> Json:
    """The hosted page's steps, one after the other."""
    page = checkout.of_payin(session, payin_id)
    if page is None:
        raise ResourceNotFound
    if page.stage in {Stage.SETTLING, Stage.DONE}:
        raise HTTPException(409, "The pay-in's page was used already.")
    if payment.card is None:
        checkout.cancel(session, page)
    else:
        checkout.submit(session, payin_id, tokenise_number(payment.card, page.brand))
        page = checkout.of_payin(session, payin_id)
        if page is not None and payment.challenge != "leave":
            checkout.answer(session, page, Choice(payment.challenge), CHALLENGE_CODE)
    return movements.present(movements.find(session, payin_id))
