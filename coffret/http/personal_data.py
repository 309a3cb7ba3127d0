"""Serves the file with the data of a person to holders of its address, which works for a few minutes."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coffret.http.documents import HEADERS
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.personal_data.operations import find_personal_data_file
from store.personal_data.files import PREFIX


async def personal_data_file(request: Request) -> Response:
    """Serve one file. Raises NotFound for an address that leads nowhere, and for one whose time is over."""
    services: Services = request.app.state.container.services
    name, content = await find_personal_data_file(Context(services), request.path_params["token"])
    headers = HEADERS | {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/json", headers=headers)


ROUTES = [Route(f"{PREFIX}{{token}}.json", personal_data_file)]
