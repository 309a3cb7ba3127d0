"""The provider's return page after an identity verification or a bank account confirmation."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel.core.messages import N_, PageMessage, Tone
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.public_pages import PublicRequest, PublicSite
from funnel.onboarding.texts import MAIN, error_text
from funnel.onboarding.way_back import remembered_start_path
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.onboarding import provider_return
from schema.core.errors import Conflict
from schema.onboarding import ProviderReturn, ProviderReturnPurpose, ProviderReturnRetry, ProviderReturnStatus
from store.core.brand_colours import build_brand
from store.core.return_paths import PREFIX
from store.core.settings import Settings

IDENTITY, BANK = ProviderReturnPurpose.IDENTITY, ProviderReturnPurpose.BANK_ACCOUNT
GO_ON, TRY_AGAIN = N_("Continue"), N_("Try again")
CLOSE = N_("There is nothing left to do: you can close this page.")
EXAMINED = N_("The payment provider is examining it, and decides soon. You can close this page.")
MESSAGES: Mapping[tuple[ProviderReturnPurpose, ProviderReturnStatus], PageMessage] = {
    (IDENTITY, ProviderReturnStatus.OPEN): PageMessage(
        N_("Your identity is not verified yet"),
        N_("You have not finished at the payment provider. Go on where you stopped."),
        Tone.INFO,
    ),
    (IDENTITY, ProviderReturnStatus.WAITING): PageMessage(N_("Your identity is being verified"), EXAMINED, Tone.INFO),
    (IDENTITY, ProviderReturnStatus.DONE): PageMessage(N_("Your identity is verified"), CLOSE, Tone.GOOD, "check"),
    (IDENTITY, ProviderReturnStatus.FAILED): PageMessage(
        N_("Your identity could not be verified"),
        N_(
            "What was shown was not accepted, or not in time. Have a valid document at hand, in good light, and try again."
        ),
    ),
    (BANK, ProviderReturnStatus.OPEN): PageMessage(
        N_("The bank account is not confirmed yet"),
        N_("You have not finished at the payment provider. Go on where you stopped."),
        Tone.INFO,
    ),
    (BANK, ProviderReturnStatus.WAITING): PageMessage(N_("The bank account is being examined"), EXAMINED, Tone.INFO),
    (BANK, ProviderReturnStatus.DONE): PageMessage(N_("The bank account is confirmed"), CLOSE, Tone.GOOD, "check"),
    (BANK, ProviderReturnStatus.FAILED): PageMessage(
        N_("The bank account was not confirmed"),
        N_("The time was up, or the confirmation failed. Nothing is paid to this account before it is confirmed."),
    ),
}


@dataclass
class ProviderReturnRequest(PublicRequest):
    """The request of a representative who returns from the provider."""

    context: Context = field(kw_only=True)
    result: ProviderReturn = field(kw_only=True)


class ProviderReturnSite(PublicSite[ProviderReturnRequest]):
    """Creates endpoints from handlers of returning representatives' requests."""

    async def build_request(self, request: Request) -> ProviderReturnRequest:
        """The request for a return path. Raises NotFound, TooManyRequests.

        Every request counts as a form: paths could be guessed, and each request calls the provider.
        """
        await self.anonymous_request(request).check_form_limit()
        services: Services = request.app.state.container.services
        path = request.path_params["path"]
        caller = await provider_return.representative_at(services, path)
        context = self.context(request, caller)
        result = await provider_return.get_provider_return(context, path)
        return self.new_request(
            ProviderReturnRequest,
            request,
            self.language(request, result.language),
            build_brand(result.partner_name, result.accent, logo_url=result.logo_url, theme=result.theme),
            start=f"{PREFIX}{path}/",
            context=context,
            result=result,
        )


async def show(request: ProviderReturnRequest) -> Response:
    """Show the current result and the next step."""
    result = request.result
    message = MESSAGES[result.purpose, result.status]
    again = result.status is ProviderReturnStatus.FAILED or (
        result.status is ProviderReturnStatus.OPEN and result.action_url is None
    )
    overview = await remembered_start_path(request, request.context)
    return request.render(
        "returning.html", told=message, found=result, again=again, go_on=GO_ON, try_again=TRY_AGAIN, overview=overview
    )


async def restart(request: ProviderReturnRequest) -> Response:
    """Start a new session and redirect to its return page, which leads to the provider."""
    try:
        path = await provider_return.try_again(request.context, ProviderReturnRetry(request.result.path))
    except Conflict as error:  # the representative cannot fix it
        return request.render_message(
            PageMessage(MESSAGES[request.result.purpose, ProviderReturnStatus.FAILED].title, error_text(MAIN, "")),
            status=error.status,
        )
    return request.redirect(f"{PREFIX}{path}/")


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    """The routes with and without a final slash. The provider gets the shorter URL."""
    site = ProviderReturnSite(settings, pages)
    table: list[tuple[str, PageEndpoint]] = [("GET", site.page(show)), ("POST", site.form(restart))]
    return [
        Route(f"{PREFIX}{{path:str}}{end}", endpoint, methods=[method])
        for method, endpoint in table
        for end in ("", "/")
    ]
