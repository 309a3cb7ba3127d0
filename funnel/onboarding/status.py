"""Where it stands: what is missing, the way to the provider, waiting, done, come to nothing."""

import datetime as dt
from dataclasses import dataclass

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.core.messages import Told
from funnel.core.polling_page import look_again, looks_again
from funnel.onboarding import details, provider, tasks
from funnel.onboarding.request import Representative
from funnel.onboarding.texts import ACTIVE, ACTIVE_WITH_NEEDS, FAILURES, HAND_IN, HANDED_IN, REQUIREMENTS
from resolvers.onboarding import page as operations
from resolvers.onboarding.page_tasks import task_of
from schema.onboarding import Onboarding, OnboardingStep, OnboardingTask, Requirement, RequirementCode


@dataclass(frozen=True, slots=True)
class Need:
    """Something that is left to do, and where: a task of this page, an address, or else a hint."""

    told: Told
    task: OnboardingTask | None
    url: str
    hint: str
    deadline: dt.datetime | None


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
        return await _done(visit, found)
    assert found.failure is not None, "an activation that failed says why"
    return visit.page("onboarding/failed.html", found=found, why=FAILURES[found.failure.reason])


async def _done(visit: Representative, found: Onboarding) -> Response:
    """What has become of it, and what is left to do. Where the provider lets nothing in, that comes first."""
    blocked = [left for left in found.requirements if left.code is RequirementCode.INFLOWS_BLOCKED]
    needs = [_need(visit, left) for left in found.requirements if left not in blocked]
    told = REQUIREMENTS[RequirementCode.INFLOWS_BLOCKED] if blocked else ACTIVE_WITH_NEEDS if needs else ACTIVE
    flash, notes = await visit.found(tasks.FORM), await tasks.notes(visit)
    if not any(need.task is OnboardingTask.NAME_BANK_ACCOUNT for need in needs):
        flash = Flash()
    return visit.page("onboarding/done.html", told=told, found=found, needs=needs, notes=notes, flash=flash)


def _need(visit: Representative, left: Requirement) -> Need:
    """The way out that a requirement names, where it is an address and not this page."""
    elsewhere = left.action.startswith(("https://", "http://")) and not left.action.endswith(visit.start)
    task = task_of(left)
    hint = HAND_IN if left.code in HANDED_IN else ""
    code = RequirementCode.BANK_ACCOUNT_AUTHENTICATION if task is OnboardingTask.CONFIRM_BANK_ACCOUNT else left.code
    return Need(REQUIREMENTS[code], task, left.action if elsewhere else "", hint, left.deadline)


def _waiting(visit: Representative, found: Onboarding) -> Response:
    again = visit.path("return")
    automatic = looks_again(visit.request)
    response = visit.page("onboarding/waiting.html", again=again, automatic=automatic, found=found)
    return look_again(response, visit.request, again)
