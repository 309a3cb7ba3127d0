"""The redirect to the provider: the page that explains it, and the button that opens a session."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.onboarding.request import OnboardingRequest
from funnel.onboarding.texts import FAILURES, INTERRUPTED, PROVIDER_UNAVAILABLE, REQUIREMENTS
from resolvers.onboarding import page as operations
from schema.activation import ActivationFailureReason as Reason
from schema.core.errors import Conflict, OnlyInSandbox, ProviderFailed, ProviderTimedOut
from schema.kyc.capability import RequirementCode
from schema.onboarding import Onboarding, OnboardingStep

BUTTON, LEAVING = "button", "leaving"
UNAVAILABLE, ONLY_IN_SANDBOX = "AWAY", "BARRED"
FAILURE_MESSAGES = {UNAVAILABLE: PROVIDER_UNAVAILABLE, ONLY_IN_SANDBOX: REQUIREMENTS[RequirementCode.ACTIVATION_FAILED]}
"""The message after the button failed."""


async def show(request: OnboardingRequest, onboarding: Onboarding, *, back: bool = False) -> Response:
    """Explain the step at the provider and show the button. `back`: the representative returned without finishing."""
    notes = [INTERRUPTED] if back else []
    failure = (
        onboarding.failure if onboarding.failure and onboarding.failure.reason is not Reason.DATA_REFUSED else None
    )
    if failure:  # refused data have been corrected, or the page would show the form
        notes = [FAILURES[failure.reason]]
    if problems := (await request.take_flash(BUTTON)).problems:
        notes = [FAILURE_MESSAGES[code] for _, code in problems]
    return request.render("onboarding/provider.html", found=onboarding, failed=failure is not None, notes=notes)


async def open_session(request: OnboardingRequest) -> Response:
    """Open a session at the provider and redirect to the page that leads there. Only the button's POST opens one."""
    if request.onboarding.step is not OnboardingStep.AUTHENTICATION:
        return request.redirect_to_start()
    try:
        opened = await operations.open_authentication(request.context)
    except OnlyInSandbox:
        return await request.redirect_with_error(BUTTON, ONLY_IN_SANDBOX)
    except Conflict:  # the state has changed meanwhile: the page shows it
        return request.redirect_to_start()
    except (ProviderFailed, ProviderTimedOut):
        return await request.redirect_with_error(BUTTON, UNAVAILABLE)
    await request.put_flash(LEAVING, Flash(fields={"url": opened.url}))
    return request.redirect(request.path(LEAVING))


async def redirect_to_provider(request: OnboardingRequest) -> Response:
    """Redirect to the provider, once. A reload shows the button again."""
    url = (await request.take_flash(LEAVING)).fields.get("url", "")
    if not url.startswith(("https://", "http://")):
        return request.redirect_to_start()
    response = request.render("onboarding/leaving.html", provider_url=url, found=request.onboarding)
    response.headers["Refresh"] = f"0; url={url}"
    return response
