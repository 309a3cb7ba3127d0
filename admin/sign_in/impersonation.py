"""The end of a look as a partner."""

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from resolvers.account.impersonation import end_impersonation
from schema.account.impersonation import EndImpersonation
from schema.core.errors import NotFound


async def end(request: AdminRequest) -> Response:
    """End the look, if it goes on still, and lead to the first page."""
    await end_view(request)
    return request.redirect(ROOT)


async def end_view(request: AdminRequest) -> None:
    """End the look of the log-in. One that has ended meanwhile stays ended."""
    try:
        await end_impersonation(request.own_context, EndImpersonation())
    except NotFound:
        return
