"""Tasks after payments are active: the buttons that lead to the provider, and the form of the bank account."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.core.messages import PageMessage
from funnel.onboarding.provider import LEAVING
from funnel.onboarding.request import OnboardingRequest
from funnel.onboarding.texts import BANK_REFUSED, PROVIDER_UNAVAILABLE, REQUIREMENTS
from funnel.onboarding.way_back import remember_start_path
from resolvers.onboarding import page_tasks as operations
from schema.core.errors import (
    BankAccountRefused,
    Conflict,
    InvalidInput,
    OnlyInSandbox,
    ProviderFailed,
    ProviderTimedOut,
)
from schema.kyc.capability import RequirementCode
from schema.onboarding import BankDetailsForm, BeginTask, OnboardingTask

FORM = "bank-account"
BUTTON = "task"
UNAVAILABLE, ONLY_IN_SANDBOX, REFUSED = "AWAY", "BARRED", "REFUSED"
FAILURE_MESSAGES = {
    UNAVAILABLE: PROVIDER_UNAVAILABLE,
    ONLY_IN_SANDBOX: REQUIREMENTS[RequirementCode.ACTIVATION_FAILED],
    REFUSED: BANK_REFUSED,
}
"""The message after a button failed."""
FIELDS = ("iban", "bic")
LONGEST_TYPED = 100


async def prove_identity(request: OnboardingRequest) -> Response:
    """Start an identity verification at the provider."""
    return await _begin_task(request, OnboardingTask.PROVE_IDENTITY)


async def confirm_bank_account(request: OnboardingRequest) -> Response:
    """Start the confirmation of the bank account at the provider."""
    return await _begin_task(request, OnboardingTask.CONFIRM_BANK_ACCOUNT)


async def name_bank_account(request: OnboardingRequest) -> Response:
    """Store the typed bank account."""
    typed = {name: request.form.get(name, "").strip()[:LONGEST_TYPED] for name in FIELDS}
    try:
        await operations.name_bank_account(request.context, BankDetailsForm(**typed))
    except InvalidInput as error:
        await request.put_flash(FORM, Flash.of(error.problems, typed))
    except Conflict:  # another tab was faster
        pass
    return request.redirect_to_start()


async def failure_messages(request: OnboardingRequest) -> list[PageMessage]:
    """The messages of the last failed button."""
    return [FAILURE_MESSAGES[code] for _, code in (await request.take_flash(BUTTON)).problems]


async def _begin_task(request: OnboardingRequest, task: OnboardingTask) -> Response:
    try:
        url = await operations.begin_task(request.context, BeginTask(task))
    except OnlyInSandbox:
        return await request.redirect_with_error(BUTTON, ONLY_IN_SANDBOX)
    except BankAccountRefused:
        return await request.redirect_with_error(BUTTON, REFUSED)
    except Conflict:  # the task is already done: the page shows the state
        return request.redirect_to_start()
    except (ProviderFailed, ProviderTimedOut):
        return await request.redirect_with_error(BUTTON, UNAVAILABLE)
    await remember_start_path(request, request.context, request.start)
    await request.put_flash(LEAVING, Flash(fields={"url": url}))
    return request.redirect(request.path(LEAVING))
