"""The page handler of onboarding: resolves the link and loads the partner's onboarding state."""

from starlette.requests import Request

from funnel.core.public_pages import PublicSite
from funnel.onboarding.request import OnboardingRequest
from resolvers.core.services import Services
from resolvers.onboarding import page as operations
from store.core.brand_colours import build_brand


class OnboardingSite(PublicSite[OnboardingRequest]):
    """Creates endpoints from handlers of a representative's requests."""

    async def build_request(self, request: Request) -> OnboardingRequest:
        """The request of a link holder. Raises NotFound for an invalid or expired link."""
        services: Services = request.app.state.container.services
        caller = await operations.representative_of(services, request.path_params["token"])
        context = self.context(request, caller)
        onboarding = await operations.onboarding(context)
        return self.new_request(
            OnboardingRequest,
            request,
            self.language(request, onboarding.language),
            build_brand(
                onboarding.partner_name, onboarding.accent, logo_url=onboarding.logo_url, theme=onboarding.theme
            ),
            start=onboarding.path,
            context=context,
            onboarding=onboarding,
        )
