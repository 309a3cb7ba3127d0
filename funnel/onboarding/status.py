"""Where it stands: what is missing, the way to the provider, waiting, done, come to nothing."""

from starlette.responses import Response

from funnel.onboarding import details, provider
from funnel.onboarding.texts import FAILURES, HAND_IN, REQUIREMENTS
from funnel.onboarding.visit import Representative
from funnel.waiting import look_again, looks_again
from resolvers import onboarding as operations
from schema.onboarding import Onboarding, OnboardingStep


async def show(visit: Representative) -> Response:
    """The page that the link leads to. It asks nobody and changes nothing, so that whatever looks at links may look."""
    return await _page(visit, visit.onboarding)


async def come_back(visit: Representative) -> Response:
    """Where the provider sends the representative to, whatever happened: ask it what did."""
    await visit.count()
    return await _page(visit, await operations.onboarding_return(visit.context), back=True)


async def _page(visit: Representative, found: Onboarding, *, back: bool = False) -> Response:
    if found.step is OnboardingStep.DETAILS:
        return await details.show(visit, found)
    if found.step is OnboardingStep.AUTHENTICATION:
        return await provider.show(visit, found, back=back)
    if found.step is OnboardingStep.PROCESSING:
        return _waiting(visit, found)
    if found.step is OnboardingStep.COMPLETED:
        return visit.page("onboarding/done.html", found=found, hand_in=HAND_IN, needed=REQUIREMENTS)
    assert found.failure is not None, "an activation that failed says why"
    return visit.page("onboarding/failed.html", found=found, told=FAILURES[found.failure.reason])


def _waiting(visit: Representative, found: Onboarding) -> Response:
    again = visit.path("return")
    automatic = looks_again(visit.request)
    response = visit.page("onboarding/waiting.html", again=again, automatic=automatic, found=found)
    return look_again(response, visit.request, again)
