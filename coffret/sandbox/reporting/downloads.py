"""The files of reports, at their signed addresses. Whoever has the address needs no token."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from coffret.sandbox.core import Sandbox
from coffret.sandbox.reporting import reports
from coffret.sandbox.wire import faults
from coffret.sandbox.wire.errors import ResourceNotFound
from coffret.sandbox.wire.faults import FaultKind


def routes(sandbox: Sandbox) -> list[Route]:
    """The route of the files. Faults of the path `/reporting/downloads/{id}.csv` apply to it."""

    async def download(request: Request) -> Response:
        id = request.path_params["id"]
        fault = await sandbox.run(faults.take, "GET", f"/reporting/downloads/{id}.csv")
        try:
            content = await sandbox.run(reports.content, id, request.query_params.get("Signature", ""))
        except ResourceNotFound:
            return PlainTextResponse("Forbidden", 403)
        answer: Response = PlainTextResponse(content, media_type="text/csv; charset=utf-8")
        if fault is None:
            return answer
        if fault.kind in {FaultKind.STATUS, FaultKind.RATE_LIMIT}:
            return PlainTextResponse("Unavailable", fault.status)
        return await faults.spoil(fault, answer) or answer

    return [Route("/reporting/downloads/{id}.csv", download, methods=["GET"])]
