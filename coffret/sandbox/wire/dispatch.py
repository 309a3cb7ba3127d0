"""Dispatches a wire call: token, fault, idempotency key, handler, headers."""

import json
from dataclasses import dataclass, field, replace

from starlette.requests import Request
from starlette.responses import Response

from coffret.sandbox import stats, tokens
from coffret.sandbox.core import Sandbox
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire import faults, idempotency, limits
from coffret.sandbox.wire.endpoints import Empty, HttpCall, Interface, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ForbiddenResource, InjectedFailure, RateLimitReached, WireError
from coffret.sandbox.wire.faults import Fault, FaultKind
from coffret.sandbox.wire.paging import page_headers


@dataclass(frozen=True, slots=True)
class WireResponse:
    """A response: status, JSON text (may be empty) and headers."""

    status: int
    body: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that passed all checks."""

    call: HttpCall
    endpoint: WireEndpoint
    fault: Fault | None
    reservation: str | None


class Wire:
    """Serves one version of the interface, for example `/v2.01/…`."""

    def __init__(self, sandbox: Sandbox, version: str, interface: Interface) -> None:
        self._sandbox = sandbox
        self._version = version
        self._interface = interface

    async def answer(self, request: Request) -> Response:
        call = await self._read_call(request)
        admitted = await self._sandbox.run(self._admit, call)
        if isinstance(admitted, WireResponse):
            return respond(admitted)
        try:
            return await self._carry_out(admitted)
        except BaseException:
            await self._sandbox.run(idempotency.release, admitted.reservation)
            raise

    async def _carry_out(self, admitted: Admitted) -> Response:
        """Run the handler, and apply the fault before or after it."""
        fault = admitted.fault
        if fault and fault.when == "before" and (spoilt := await self._apply_fault(fault, None)):
            return spoilt
        performed = respond(await self._sandbox.run(perform, admitted))
        if fault and fault.when == "after":
            return await self._apply_fault(fault, performed) or performed
        return performed

    async def _read_call(self, request: Request) -> HttpCall:
        address = "/" + request.path_params["path"]
        url = f"{self._sandbox.settings.root}/{self._version}{address}"
        return HttpCall(
            method=request.method,
            address=address,
            url=f"{url}?{request.url.query}" if request.url.query else url,
            authorization=request.headers.get("authorization", ""),
            key=request.headers.get("idempotency-key"),
            content_type=request.headers.get("content-type", "").lower(),
            content=await request.body(),
            errors_name="Errors" if self._version.startswith("V3") else "errors",
            query={name: request.query_params.getlist(name) for name in request.query_params},
        )

    def _admit(self, session: SandboxSession, call: HttpCall) -> Admitted | WireResponse:
        limits.count(session)
        try:
            return self._authorise(session, call)
        except WireError as error:
            return error_response(session, error, call)

    def _authorise(self, session: SandboxSession, call: HttpCall) -> Admitted:
        client, _, rest = call.address.lstrip("/").partition("/")
        public = client.lower() in {"oauth", "countries"}
        address = call.address if public else f"/{rest}"
        if not public:
            tokens.check(session, call.authorization)
            if client != session.settings.client_id:
                raise ForbiddenResource("The token does not belong to the client in the address.")
        endpoint, path = self._interface.find(call.method, address, public=public)
        call = replace(call, path=path, address=address)
        stats.count(session, endpoint.kind)
        fault = faults.take(session, call.method, address)
        if fault and fault.when == "before" and not fault.executes:
            return Admitted(call, endpoint, fault, None)
        if fault and fault.kind is FaultKind.FAILED:
            call = replace(call, fail_with=fault.code)
        return Admitted(call, endpoint, fault, idempotency.reserve(session, call) if endpoint.is_modelled else None)

    async def _apply_fault(self, fault: Fault, answer: Response | None) -> Response | None:
        if fault.kind is FaultKind.STATUS:
            return respond(await self._sandbox.run(error_response, InjectedFailure(fault.status)))
        if fault.kind is FaultKind.RATE_LIMIT:
            error = RateLimitReached("Rate limit exceeded, as asked for at /_sb/faults")
            return respond(await self._sandbox.run(error_response, error, exhausted=True))
        return await faults.spoil(fault, answer)


def perform(session: SandboxSession, admitted: Admitted) -> WireResponse:
    """Run the handler and store its response for the idempotency key, errors included."""
    call = admitted.call
    headers = limits.headers(session)
    try:
        with session.savepoint():
            result = admitted.endpoint.handle(session, call)
    except WireError as error:
        answer = error_response(session, error, call)
    else:
        answer = (
            error_response(session, result, call)
            if isinstance(result, WireError)
            else success_response(call, result, headers)
        )
    idempotency.keep(session, admitted.reservation, answer.status, answer.body)
    return answer


def success_response(call: HttpCall, result: Json | WirePage | Empty, headers: dict[str, str]) -> WireResponse:
    """The response for a handler's result."""
    if isinstance(result, Empty):
        return WireResponse(result.status, "", headers)
    if isinstance(result, WirePage):
        return WireResponse(
            200, json.dumps(result.items, ensure_ascii=False), headers | page_headers(result, call.url, call.query)
        )
    return WireResponse(200, json.dumps(result, ensure_ascii=False), headers)


def error_response(
    session: SandboxSession, error: WireError, call: HttpCall | None = None, *, exhausted: bool = False
) -> WireResponse:
    """The response for an error of a call, or of one that a fault took."""
    told = error.body(session.mint(""), session.now)
    if call is not None and "errors" in told:
        told[call.errors_name] = told.pop("errors")
    body = json.dumps(told, ensure_ascii=False)
    return WireResponse(error.status, body, {**limits.headers(session, exhausted=exhausted), **error.headers})


def respond(answer: WireResponse) -> Response:
    """The HTTP response. The headers of the rate limit are sent once per window, as the provider's SDK for PHP wants."""
    kind = {"Content-Type": "application/json; charset=utf-8"} if answer.body else {}
    once = {name: value for name, value in answer.headers.items() if name not in limits.NAMES}
    response = Response(answer.body or None, answer.status, {**once, **kind})
    for name in limits.NAMES:
        for value in answer.headers.get(name, "").split(", "):
            response.headers.append(name, value)
    return response
