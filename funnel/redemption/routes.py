"""The addresses of the venue page, all on one page."""

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel.core.messages import Ending
from funnel.core.page_handler import Endpoint
from funnel.core.pages import Pages
from funnel.redemption import actions, code, log_in
from funnel.redemption.handler import RedeemDesk
from funnel.redemption.request import ROOT, Staff
from store.core.settings import Settings


def routes(settings: Settings, pages: Pages) -> list[BaseRoute]:
    """The routes of the venue page."""
    desk = RedeemDesk(settings, pages)
    table: list[tuple[str, str, Endpoint]] = [
        ("GET", "", desk.for_staff(code.show)),
        ("GET", "log-in", desk.page(log_in.show)),
        ("POST", "log-in", desk.form(log_in.log_in)),
        ("POST", "log-out", desk.form(log_in.log_out)),
        ("POST", "language", desk.form(log_in.change_language)),
        ("POST", "voucher", desk.form_of_staff(actions.move_voucher)),
        ("POST", "gift-card", desk.form_of_staff(actions.take)),
        ("POST", "gift-card/back", desk.form_of_staff(actions.put_back)),
    ]
    return [
        *(
            Route(path, endpoint, methods=[method])
            for method, name, endpoint in table
            for path in ((f"{ROOT}{name}", f"{ROOT}{name}/") if name else (ROOT, ROOT.rstrip("/")))
        ),
        Route(f"{ROOT}{{rest:path}}", desk.page(_nothing_here)),
    ]


async def _nothing_here(staff: Staff) -> Response:
    """An address that no page has."""
    return staff.ending(Ending.NOT_FOUND, 404)
