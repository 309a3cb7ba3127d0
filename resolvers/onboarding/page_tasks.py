"""What is left to a representative once payments are active: proving an identity, naming a bank account, confirming it."""

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from resolvers.bank_account import IBAN_FIELD, registered
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import asking
from resolvers.core.scoping import find
from resolvers.kyc.identity import found_or_opened
from resolvers.onboarding.capability import Standing, requirements_of, standings
from schema.core.errors import Conflict, InvalidInput, NotFound, Problem
from schema.core.messages import REQUIRED, problems
from schema.core.permission import Rule
from schema.onboarding import BankDetails, BeginTask, OnboardingTask, Requirement, RequirementCode
from schema.validation.contact import Bic, Iban
from store.partner.checks import check
from store.partner.partners import PartnerRow

BY_IDENTITY = "openIdentityVerification"


class Typed(BaseModel):
    """What may be typed of a bank account."""

    iban: Iban = ""
    bic: Bic = ""


def task_of(needed: Requirement) -> OnboardingTask | None:
    """What of it the representative can do on the onboarding page; None: nothing."""
    match needed.code:
        case RequirementCode.BANK_ACCOUNT_AUTHENTICATION:
            return OnboardingTask.CONFIRM_BANK_ACCOUNT
        case RequirementCode.BANK_ACCOUNT_MISSING:
            named = needed.field != IBAN_FIELD
            return OnboardingTask.CONFIRM_BANK_ACCOUNT if named else OnboardingTask.NAME_BANK_ACCOUNT
        case _:
            return OnboardingTask.PROVE_IDENTITY if needed.action == BY_IDENTITY else None


@operation(Rule.REPRESENTATIVE, transaction=False)
async def begin_task(call: Call, input: BeginTask) -> str:
    """Where at the provider the representative proves an identity, or confirms the bank account: what is open, else opened
    now.

    Raises Conflict when that is not asked for, or no longer; `BankAccountRefused` and `OnlyInSandbox` are such too.
    """
    async with call.services.db.sessions() as db:
        partner = _asked(await standings(db, [call.caller.partner_id or 0]), input.task)
    call.concerns(partner)
    async with asking(f"to {input.task}", partner_id=partner.id):
        if input.task is OnboardingTask.PROVE_IDENTITY:
            action = (await found_or_opened(call.services, partner))[0].action
            url = action.url if action else None
        elif input.task is OnboardingTask.CONFIRM_BANK_ACCOUNT:
            url = (await registered(call.services, partner)).redirect_url
        else:
            url = None
    if not url:
        raise Conflict
    return url


@operation(Rule.REPRESENTATIVE)
async def name_bank_account(call: Call, input: BankDetails) -> None:
    """Save where the partner's money goes to, where nobody has said so yet. What is known cannot be changed here.

    Raises InvalidInput with a problem at `iban` or `bic`, and Conflict when it is not asked for any more.
    """
    await find(call.db, call.caller, PartnerRow, "page", lock=True, id=call.caller.partner_id)
    partner = _asked(await standings(call.db, [call.caller.partner_id or 0]), OnboardingTask.NAME_BANK_ACCOUNT)
    try:
        typed = Typed(iban=input.iban.strip(), bic=input.bic.strip())
    except ValidationError as error:
        raise InvalidInput(*(Problem(p.path[-1:], p.code, p.message) for p in problems(error))) from error
    if not typed.iban:
        raise InvalidInput(Problem(("iban",), "REQUIRED", REQUIRED))
    partner.iban, partner.bic = typed.iban, typed.bic
    try:
        check(partner, call.services.clock.now().date())
    except InvalidInput as wrong:
        raise InvalidInput(*(Problem(p.path[-1:], p.code, p.message) for p in wrong.problems)) from wrong


def _asked(found: Mapping[int, Standing], task: OnboardingTask) -> PartnerRow:
    for stands in found.values():
        if task not in map(task_of, requirements_of(stands, "")):
            raise Conflict
        return stands.partner
    raise NotFound(thing="page")
