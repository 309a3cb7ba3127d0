"""The front desk of the onboarding pages: whose link it is, and where that partner stands."""

from starlette.requests import Request

from funnel.core.public_pages import PublicDesk
from funnel.onboarding.request import Representative
from resolvers.core.context import Services
from resolvers.onboarding import page as operations
from store.partner.brand import branded


class OnboardingDesk(PublicDesk[Representative]):
    """Makes endpoints of the functions that answer a partner's representative."""

    async def guest(self, request: Request) -> Representative:
        """Whoever holds a good link. Raises NotFound for one that is damaged or dead."""
        services: Services = request.app.state.house.services
        caller = await operations.representative_of(services, request.path_params["token"])
        context = self.context(request, caller)
        found = await operations.onboarding(context)
        return Representative(
            request,
            self.pages,
            self.tokens,
            self.cookies,
            self.cookies.session_id(request),
            self.language(request, found.language),
            branded(found.partner_name, found.accent, logo_url=found.logo_url),
            start=found.path,
            context=context,
            onboarding=found,
        )
