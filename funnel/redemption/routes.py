"""The routes of the venue page."""

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel.core.messages import ErrorPage
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.redemption import actions, code, log_in, network
from funnel.redemption.handler import RedemptionSite
from funnel.redemption.request import ROOT, RedemptionRequest
from store.core.settings import Settings


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    site = RedemptionSite(settings, pages)
    table: list[tuple[str, str, PageEndpoint]] = [
        ("GET", "", site.staff_page(code.show)),
        ("GET", "log-in", site.page(log_in.show)),
        ("POST", "log-in", site.form(log_in.log_in)),
        ("GET", "log-in/code", site.page(log_in.show_code)),
        ("POST", "log-in/code", site.form(log_in.enter_code)),
        ("POST", "log-out", site.form(log_in.log_out)),
        ("POST", "language", site.form(log_in.change_language)),
        ("POST", "voucher", site.staff_form(actions.change_voucher_state)),
        ("POST", "gift-card", site.staff_form(actions.spend)),
        ("POST", "gift-card/back", site.staff_form(actions.reverse_spending)),
        ("POST", "network-gift-card", site.staff_form(network.use_card)),
        ("POST", "network-gift-card/back", site.staff_form(network.cancel_card_usage)),
        ("POST", "network-voucher", site.staff_form(network.use_voucher)),
        ("POST", "network-voucher/back", site.staff_form(network.cancel_voucher_usage)),
    ]
    return [
        *(
            Route(path, endpoint, methods=[method])
            for method, name, endpoint in table
            for path in ((f"{ROOT}{name}", f"{ROOT}{name}/") if name else (ROOT, ROOT.rstrip("/")))
        ),
        Route(f"{ROOT}{{rest:path}}", site.page(_not_found)),
    ]


async def _not_found(request: RedemptionRequest) -> Response:
    """Any other path below `/redeem/`."""
    return request.render_error(ErrorPage.NOT_FOUND, 404)
