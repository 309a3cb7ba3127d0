"""What is left to do once payments are active: the buttons that lead to the provider, and the form for the bank account."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.core.messages import Told
from funnel.onboarding.provider import LEAVING
from funnel.onboarding.request import Representative
from funnel.onboarding.texts import BANK_REFUSED, PROVIDER_AWAY, REQUIREMENTS
from funnel.onboarding.way_back import remember
from resolvers.onboarding import page_tasks as operations
from schema.core.errors import (
    BankAccountRefused,
    Conflict,
    InvalidInput,
    OnlyInSandbox,
    ProviderFailed,
    ProviderTimedOut,
)
from schema.onboarding import BankDetails, BeginTask, OnboardingTask, RequirementCode

FORM = "bank-account"
BUTTON = "task"
AWAY, BARRED, REFUSED = "AWAY", "BARRED", "REFUSED"
NOTES = {AWAY: PROVIDER_AWAY, BARRED: REQUIREMENTS[RequirementCode.ACTIVATION_FAILED], REFUSED: BANK_REFUSED}
"""What to say after a button led nowhere."""
FIELDS = ("iban", "bic")
LONGEST_TYPED = 100


async def prove_identity(visit: Representative) -> Response:
    """The button: on to where the provider looks at a document."""
    return await _begin(visit, OnboardingTask.PROVE_IDENTITY)


async def confirm_bank_account(visit: Representative) -> Response:
    """The button: on to where the provider has the bank account confirmed."""
    return await _begin(visit, OnboardingTask.CONFIRM_BANK_ACCOUNT)


async def name_bank_account(visit: Representative) -> Response:
    """Save the bank account that was typed."""
    typed = {name: visit.form.get(name, "").strip()[:LONGEST_TYPED] for name in FIELDS}
    try:
        await operations.name_bank_account(visit.context, BankDetails(**typed))
    except InvalidInput as error:
        await visit.leave(FORM, Flash.of(error.problems, typed))
    except Conflict:  # another tab was quicker
        pass
    return visit.to_start()


async def notes(visit: Representative) -> list[Told]:
    """What became of the button that was pressed last, where it led nowhere."""
    return [NOTES[code] for _, code in (await visit.found(BUTTON)).problems]


async def _begin(visit: Representative, task: OnboardingTask) -> Response:
    try:
        url = await operations.begin_task(visit.context, BeginTask(task))
    except OnlyInSandbox:
        return await visit.led_nowhere(BUTTON, BARRED)
    except BankAccountRefused:
        return await visit.led_nowhere(BUTTON, REFUSED)
    except Conflict:  # nothing to do any more: the page says how it stands
        return visit.to_start()
    except (ProviderFailed, ProviderTimedOut):
        return await visit.led_nowhere(BUTTON, AWAY)
    await remember(visit, visit.context, visit.start)
    await visit.leave(LEAVING, Flash(fields={"url": url}))
    return visit.redirect(visit.path(LEAVING))
