"""Serves settlement statements as files to holders of their signed URL, which works for a few minutes."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coffret.http.documents import HEADERS
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.network.settlement import find_settlement_file
from store.network.settlement.export import PREFIX


async def settlement_file(request: Request) -> Response:
    """Serve one file. Raises NotFound for a forged URL, and for one that has ended."""
    services: Services = request.app.state.container.services
    name, content = await find_settlement_file(Context(services), request.path_params["token"])
    headers = HEADERS | {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


ROUTES = [Route(f"{PREFIX}{{token}}.csv", settlement_file)]
