"""The way to the provider: what happens there, and the button that opens a session."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.onboarding.request import Representative
from funnel.onboarding.texts import FAILURES, INTERRUPTED, PROVIDER_AWAY, REQUIREMENTS
from resolvers.onboarding import page as operations
from schema.core.errors import Conflict, OnlyInSandbox, ProviderFailed, ProviderTimedOut
from schema.onboarding import ActivationFailureReason as Reason
from schema.onboarding import Onboarding, OnboardingStep, RequirementCode

BUTTON, LEAVING = "button", "leaving"
AWAY, BARRED = "AWAY", "BARRED"
NOTES = {AWAY: PROVIDER_AWAY, BARRED: REQUIREMENTS[RequirementCode.ACTIVATION_FAILED]}
"""What to say after the button led nowhere."""


async def show(visit: Representative, found: Onboarding, *, back: bool = False) -> Response:
    """What happens at the provider, and the button. `back`: the representative comes from there, and is not done."""
    notes = [INTERRUPTED] if back else []
    failure = found.failure if found.failure and found.failure.reason is not Reason.DATA_REFUSED else None
    if failure:  # refused data are corrected by now, or the page would show the form
        notes = [FAILURES[failure.reason]]
    if problems := (await visit.found(BUTTON)).problems:
        notes = [NOTES[code] for _, code in problems]
    return visit.page("onboarding/provider.html", found=found, failed=failure is not None, notes=notes)


async def open_session(visit: Representative) -> Response:
    """Open a session at the provider: only the button does. The page that follows leads on to it."""
    if visit.onboarding.step is not OnboardingStep.AUTHENTICATION:
        return visit.to_start()
    try:
        opened = await operations.open_authentication(visit.context)
    except OnlyInSandbox:
        return await visit.led_nowhere(BUTTON, BARRED)
    except Conflict:  # meanwhile something else is to be done first, or nothing any more: the page says what
        return visit.to_start()
    except (ProviderFailed, ProviderTimedOut):
        return await visit.led_nowhere(BUTTON, AWAY)
    await visit.leave(LEAVING, Flash(fields={"url": opened.url}))
    return visit.redirect(visit.path(LEAVING))


async def leave(visit: Representative) -> Response:
    """Lead on to the provider, once; a reload shows the button again."""
    url = (await visit.found(LEAVING)).fields.get("url", "")
    if not url.startswith(("https://", "http://")):
        return visit.to_start()
    response = visit.page("onboarding/leaving.html", provider_url=url, found=visit.onboarding)
    response.headers["Refresh"] = f"0; url={url}"
    return response
