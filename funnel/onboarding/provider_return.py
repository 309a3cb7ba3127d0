"""The page that a representative comes back to from the provider, after proving an identity or confirming a bank account."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel.core.messages import N_, Told, Tone
from funnel.core.page_handler import Endpoint
from funnel.core.pages import Pages
from funnel.core.public_pages import Holder, PublicDesk
from funnel.onboarding.texts import MAIN, error_text
from funnel.onboarding.way_back import way_back
from resolvers.core.context import Context, Services
from resolvers.onboarding import provider_return
from schema.core.errors import Conflict
from schema.kyc.kyc import Returned, ReturnedFrom, Stage, TryAgain
from store.core.settings import Settings
from store.onboarding.return_paths import PREFIX
from store.partner.brand import branded

IDENTITY, BANK = ReturnedFrom.IDENTITY, ReturnedFrom.BANK_ACCOUNT
GO_ON, TRY_AGAIN = N_("Continue"), N_("Try again")
CLOSE = N_("There is nothing left to do: you can close this page.")
EXAMINED = N_("The payment provider is examining it, and decides soon. You can close this page.")
TOLD: Mapping[tuple[ReturnedFrom, Stage], Told] = {
    (IDENTITY, Stage.OPEN): Told(
        N_("Your identity is not verified yet"),
        N_("You have not finished at the payment provider. Go on where you stopped."),
        Tone.INFO,
    ),
    (IDENTITY, Stage.WAITING): Told(N_("Your identity is being verified"), EXAMINED, Tone.INFO),
    (IDENTITY, Stage.DONE): Told(N_("Your identity is verified"), CLOSE, Tone.GOOD, "check"),
    (IDENTITY, Stage.FAILED): Told(
        N_("Your identity could not be verified"),
        N_(
            "What was shown was not accepted, or not in time. Have a valid document at hand, in good light, and try again."
        ),
    ),
    (BANK, Stage.OPEN): Told(
        N_("The bank account is not confirmed yet"),
        N_("You have not finished at the payment provider. Go on where you stopped."),
        Tone.INFO,
    ),
    (BANK, Stage.WAITING): Told(N_("The bank account is being examined"), EXAMINED, Tone.INFO),
    (BANK, Stage.DONE): Told(N_("The bank account is confirmed"), CLOSE, Tone.GOOD, "check"),
    (BANK, Stage.FAILED): Told(
        N_("The bank account was not confirmed"),
        N_("The time was up, or the confirmation failed. Nothing is paid to this account before it is confirmed."),
    ),
}


@dataclass
class Back(Holder):
    """A request of somebody who comes back."""

    context: Context = field(kw_only=True)
    """What operations are called with."""
    found: Returned = field(kw_only=True)


class ReturnDesk(PublicDesk[Back]):
    """Makes endpoints of the functions that answer somebody who comes back."""

    async def guest(self, request: Request) -> Back:
        """Whoever holds a short address that leads somewhere. Raises NotFound, TooManyRequests.

        Guesses count, and so does each look, as the provider is asked.
        """
        await self.nobody(request).count()
        services: Services = request.app.state.house.services
        path = request.path_params["path"]
        caller = await provider_return.representative_at(services, path)
        context = self.context(request, caller)
        found = await provider_return.returned(context, path)
        return Back(
            request,
            self.pages,
            self.tokens,
            self.cookies,
            self.cookies.session_id(request),
            self.language(request, found.language),
            branded(found.partner_name, found.accent, logo_url=found.logo_url),
            start=f"{PREFIX}{path}/",
            context=context,
            found=found,
        )


async def show(back: Back) -> Response:
    """How it stands, and where to go on."""
    found = back.found
    told = TOLD[found.of, found.stage]
    again = found.stage is Stage.FAILED or (found.stage is Stage.OPEN and found.action_url is None)
    overview = await way_back(back, back.context)
    return back.page(
        "returning.html", told=told, found=found, again=again, go_on=GO_ON, try_again=TRY_AGAIN, overview=overview
    )


async def begin_anew(back: Back) -> Response:
    """The button: begin anew, and show the page of what was begun. It leads on to the provider."""
    try:
        path = await provider_return.try_again(back.context, TryAgain(back.found.path))
    except Conflict as error:  # nothing that the representative can put right
        return back.message(Told(TOLD[back.found.of, Stage.FAILED].title, error_text(MAIN, "")), status=error.status)
    return back.redirect(f"{PREFIX}{path}/")


def routes(settings: Settings, pages: Pages) -> list[BaseRoute]:
    """The routes of the page, with and without the slash at the end: the provider is given the shorter one."""
    desk = ReturnDesk(settings, pages)
    table: list[tuple[str, Endpoint]] = [("GET", desk.page(show)), ("POST", desk.form(begin_anew))]
    return [
        Route(f"{PREFIX}{{path:str}}{end}", endpoint, methods=[method])
        for method, endpoint in table
        for end in ("", "/")
    ]
