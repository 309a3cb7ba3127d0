"""Tasks of the legal representative after activation: verify the identity, enter a bank account, confirm it."""

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from resolvers.bank_account import IBAN_FIELD, ensure_registered
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import calling_provider
from resolvers.core.scoping import find_visible
from resolvers.kyc.capability import OnboardingRows, load_onboarding_rows, requirements_of
from resolvers.kyc.identity import find_or_open_check
from resolvers.kyc.view import OPEN_VERIFICATION
from schema.core.errors import Conflict, InvalidInput, NotFound, Problem
from schema.core.messages import REQUIRED, problems_of
from schema.core.permission import AccessRule
from schema.kyc.capability import Requirement, RequirementCode
from schema.onboarding import BankDetailsForm, BeginTask, OnboardingTask
from schema.validation.contact import Bic, Iban
from store.partner.checks import check_partner
from store.partner.partners import PartnerRow


class BankAccountForm(BaseModel):
    """Validation of the bank account form."""

    iban: Iban = ""
    bic: Bic = ""


def task_of(needed: Requirement) -> OnboardingTask | None:
    """The task on the onboarding page that meets a requirement; None if there is none."""
    match needed.code:
        case RequirementCode.BANK_ACCOUNT_AUTHENTICATION:
            return OnboardingTask.CONFIRM_BANK_ACCOUNT
        case RequirementCode.BANK_ACCOUNT_MISSING:
            named = needed.field != IBAN_FIELD
            return OnboardingTask.CONFIRM_BANK_ACCOUNT if named else OnboardingTask.NAME_BANK_ACCOUNT
        case _:
            return OnboardingTask.PROVE_IDENTITY if needed.action == OPEN_VERIFICATION else None


@operation(AccessRule.REPRESENTATIVE, transaction=False)
async def begin_task(call: Call, input: BeginTask) -> str:
    """The URL at the provider where the representative verifies the identity or confirms the bank account: the open
    session, else a new one.

    Raises Conflict if the task is not requested (any more); its subclasses `BankAccountRefused` and `OnlyInSandbox` are
    raised too.
    """
    async with call.services.db.sessions() as db:
        partner = _require_task(await load_onboarding_rows(db, [call.caller.partner_id or 0]), input.task)
    call.add_audit_subject(partner)
    async with calling_provider(f"starting the task {input.task}", partner_id=partner.id):
        if input.task is OnboardingTask.PROVE_IDENTITY:
            action = (await find_or_open_check(call.services, partner))[0].action
            url = action.url if action else None
        elif input.task is OnboardingTask.CONFIRM_BANK_ACCOUNT:
            url = (await ensure_registered(call.services, partner)).redirect_url
        else:
            url = None
    if not url:
        raise Conflict
    return url


@operation(AccessRule.REPRESENTATIVE)
async def name_bank_account(call: Call, input: BankDetailsForm) -> None:
    """Save the partner's bank account if it has none. A known bank account cannot be changed here.

    Raises InvalidInput with a problem at `iban` or `bic`, and Conflict if no bank account is requested any more.
    """
    await find_visible(call.db, call.caller, PartnerRow, "page", lock=True, id=call.caller.partner_id)
    partner = _require_task(
        await load_onboarding_rows(call.db, [call.caller.partner_id or 0]), OnboardingTask.NAME_BANK_ACCOUNT
    )
    try:
        typed = BankAccountForm(iban=input.iban.strip(), bic=input.bic.strip())
    except ValidationError as error:
        raise InvalidInput(*(Problem(p.path[-1:], p.code, p.message) for p in problems_of(error))) from error
    if not typed.iban:
        raise InvalidInput(Problem(("iban",), "REQUIRED", REQUIRED))
    partner.iban, partner.bic = typed.iban, typed.bic
    try:
        check_partner(partner, call.services.clock.now().date())
    except InvalidInput as wrong:
        raise InvalidInput(*(Problem(p.path[-1:], p.code, p.message) for p in wrong.problems)) from wrong


def _require_task(onboarding: Mapping[int, OnboardingRows], task: OnboardingTask) -> PartnerRow:
    for stands in onboarding.values():
        if task not in map(task_of, requirements_of(stands, "")):
            raise Conflict
        return stands.partner
    raise NotFound(thing="page")
